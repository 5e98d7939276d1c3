"""The laws of tabular learners and of every learner's conduct on problems of size (`sized`)."""

from properties.laws import conduct, tabular_step
from properties.laws.sized import LONG, WIDE, read_path, sized

LAWS = (
    sized(tabular_step.ASYNCHRONOUS, read_path, WIDE + LONG),
    sized(tabular_step.SAMPLE_FORM, read_path, WIDE + LONG),
    sized(tabular_step.SAMPLE_FORM_NEXT_ACTION, read_path, WIDE + LONG),
    sized(tabular_step.UNBIASED, tabular_step.read_step, WIDE + LONG),
    sized(conduct.BATCH, read_path, WIDE + LONG),
)
