"""What the suite needs of a kind of variant: the type of its cases, their generator, and a known wrong algorithm.

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
    """The cases of one kind of variant, and its canary: a mutant and two laws that must catch it."""

    case: type[LawCase]
    generate: Reader
    canary: tuple[str, tuple[str, str]]

    def example(self, variant: Variant) -> LawCase:
        """The trivial case."""
        return self.generate(First(), variant)


CASES: dict[Kind, CaseKind] = {
    "control": CaseKind(Run, generator.run, ("control:LOST_GAMMA", ("sample step", "unbiased step"))),
    "evaluation": CaseKind(EvaluationRun, generator.run, ("evaluation:LOST_GAMMA", ("sample step", "unbiased step"))),
    "linear evaluation": CaseKind(LinearRun, generator.run, ("linear:CORRECTION_SIGN", ("TDC step", "TDC drift"))),
    "operator": CaseKind(
        OperatorCase, generator.operator_case, ("operator:NO_DISCOUNT", ("bellman backup", "contraction"))
    ),
    "planner": CaseKind(
        PlannerCase, generator.planner_case, ("planner:WITHOUT_CONSTANT", ("optimum", "optimum order"))
    ),
    "support": CaseKind(
        SupportCase, generator.support_case, ("support:L1_RADIUS", ("support value", "support axioms"))
    ),
    "sampler": CaseKind(
        SamplerCase, generator.sampler_case, ("sampler:UNIFORM_NEXT", ("possible path", "frequencies"))
    ),
}
