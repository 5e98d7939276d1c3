"""What the suite needs of a kind of variant: the type of its cases and their generator.

The fields of the type are what a file holds, what the schema asks for and what the reductions make smaller; a learner
is told those that a `Problem` has.
"""

from dataclasses import dataclass

from properties.cases import generator
from properties.cases.case import (
    EvaluationRun,
    LawCase,
    LinearRun,
    OperatorCase,
    PlannerCase,
    Run,
    SamplerCase,
    SupportCase,
)
from properties.cases.choices import First, Reader
from robust_core.problem import Kind, Variant


@dataclass(frozen=True)
class CaseKind:
    """The cases of one kind of variant."""

    case: type[LawCase]
    generate: Reader

    def example(self, variant: Variant) -> LawCase:
        """The trivial case."""
        return self.generate(First(), variant)


CASES: dict[Kind, CaseKind] = {
    "control": CaseKind(Run, generator.run),
    "evaluation": CaseKind(EvaluationRun, generator.run),
    "linear evaluation": CaseKind(LinearRun, generator.run),
    "operator": CaseKind(OperatorCase, generator.operator_case),
    "planner": CaseKind(PlannerCase, generator.planner_case),
    "support": CaseKind(SupportCase, generator.support_case),
    "sampler": CaseKind(SamplerCase, generator.sampler_case),
}
