"""The laws of tabular learners, and those of every learner, on large instances.

Beside the forms of all kinds there are some for tables alone, where a step is cheap. What each is for:

* rows of four, twelve and twenty actions, up to 130 states, the worst of them first or last: blocks of a maximum or
  minimum;
* pairs that are visited again and again where there are many of them: counters that are shared;
* eight hundred steps among twelve states: candidates for the maximum that are kept too long;
* a flat start, and steps that hardly move: thresholds, and what is right only from a start of its own;
* a flat start of a single state, whose value falls at the ends of episodes: maxima that are taken to rise only;
* step sizes that fall to 2^-34: floors of them;
* values of 2^200 and a discount of 1 − 2^-20: cuts;
* ten thousand steps: buffers, tables of step sizes, refreshes.
"""

from properties.cases.large import form_of
from properties.laws import every_learner, tabular_step
from properties.laws.large import FALLING, LONG, RUNS, WIDE, in_turn, large
from robust_core import constant, per_visit, polynomial

_PLAIN = constant(0.125)
LARGEST = form_of(
    130,
    20,
    2,
    numbers=(1.0 - 2.0**-20, 2.0**200, 0.5),
    steps=100,
    times=3,
    step_size=per_visit(0.75, rate=0.25, power=2.0),
    plain=_PLAIN,
    order=-1,
)
TABLES = (
    form_of(
        12,
        4,
        2,
        numbers=(0.875, 1.0, 0.125),
        steps=200,
        times=4,
        step_size=per_visit(1.0, rate=0.5, power=0.75),
        plain=_PLAIN,
        order=-1,
    ),
    form_of(
        32,
        12,
        2,
        numbers=(0.9, 1.0, 0.5),
        steps=100,
        times=2,
        step_size=polynomial(0.5, rate=0.5, power=0.0),
        plain=_PLAIN,
        order=0,
    ),
    form_of(
        24,
        8,
        2,
        numbers=(0.9, 1.0, 0.5),
        steps=60,
        times=8,
        step_size=per_visit(0.5, rate=0.0, power=1.0),
        plain=_PLAIN,
        flat=True,
    ),
    form_of(
        100,
        3,
        2,
        numbers=(0.875, 1.0, 0.5),
        steps=100,
        times=2,
        step_size=constant(2.0**-10),
        plain=constant(2.0**-10),
        order=1,
    ),
    form_of(1, 1, 2, steps=20, times=1, step_size=constant(0.5), plain=_PLAIN, flat=True),
    FALLING,
)
# More steps than the slow laws can afford; and the largest table has too many outcomes to enumerate.
LONGEST = form_of(
    3,
    2,
    2,
    steps=50,
    times=200,
    step_size=per_visit(1.0, rate=0.01, power=0.75),
    plain=_PLAIN,
    order=0,
)
# More than five hundred pairs that are visited: tables that forget the oldest.
MANY_PAIRS = form_of(130, 20, 2, steps=600, times=1, step_size=constant(0.5), plain=_PLAIN)

LAWS = in_turn(
    (
        large(tabular_step.ASYNCHRONOUS, RUNS, (*WIDE, *LONG, *TABLES, LARGEST, MANY_PAIRS)),
        large(tabular_step.SAMPLE_FORM, RUNS, (*WIDE, *LONG, *TABLES, LARGEST, LONGEST)),
        large(tabular_step.SAMPLE_FORM_NEXT_ACTION, RUNS, (*WIDE, *LONG, *TABLES, LARGEST, LONGEST)),
        large(tabular_step.UNBIASED, tabular_step.read_step, WIDE + LONG + TABLES),
        large(every_learner.PURITY, RUNS, LONG),
        large(every_learner.BATCH, RUNS, (*WIDE, *LONG, LONGEST)),
    )
)
