"""Panel runs: the record of a panel under an interpretation. A record that contradicts itself cannot be constructed."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.experiments.interpretations import CONTROL, DEFAULT, INTERPRETATIONS, Figure, Interpretation, of_figure
from benchmarks.experiments.outcome import Claim, Count, Outcome, misses, require
from benchmarks.experiments.paper import PANELS, Panel, has_many_runs

LEARNERS = ("robust", "vanilla", "shorter horizon")
"""Robust, vanilla, and vanilla at the discount gamma(1−R)."""
RARL_LEARNERS = ("robust", "rarl", "vanilla", "shorter horizon")


@dataclass(frozen=True)
class Curve:
    """The mean and the 5th and 95th percentile of thirty runs at every time."""

    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Sampled:
    """A reward by Monte Carlo next to the exact one; the error in units of its standard error."""

    mean: float
    exact: float
    standardised_error: float


@dataclass(frozen=True)
class Stability:
    """Why TDC may diverge: beta max‖phi‖², the smallest eigenvalue of C, the largest real part and its state."""

    beta_max_phi_squared: float
    smallest_eigenvalue: float
    largest_real_part: float
    at_state: float


@dataclass(frozen=True)
class PendingRun:
    """A panel run that was not begun within the budget."""

    panel: str
    interpretation: str
    p: float
    radius: float
    outcome: str = "pending"


@dataclass(frozen=True)
class PanelRun:
    """A panel under an interpretation: the outcome is that of the first claim.

    `steps` of training, `claims`, and `values` (the plateau of every learner and of the controls). Q-learning panels
    have `equal_to_shorter_horizon` (how many runs of robust and of vanilla at gamma(1−R) chose the same policies) and
    `limits` (as alpha → 0; the first and the last of tied actions); TDC panels have `diverged` runs and `stability`.
    Where an interpretation has as many runs as the default there is `student_misses` (see `outcome`), and under the
    default also `times` (steps, or iterations for RARL), `curves` and, for Q-learning, `monte_carlo`. `scores` are
    those of the first claim, run by run; they are not part of a results file.
    """

    panel: str
    source: str
    interpretation: str
    p: float
    radius: float
    outcome: Outcome
    steps: Count
    claims: tuple[Claim, ...]
    values: dict[str, float]
    equal_to_shorter_horizon: Count | None = None
    limits: dict[str, tuple[float, float]] | None = None
    diverged: dict[str, Count] | None = None
    stability: Stability | None = None
    student_misses: float | None = None
    times: tuple[Count, ...] | None = None
    curves: dict[str, Curve] | None = None
    monte_carlo: dict[str, Sampled] | None = None
    scores: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.panel not in PANELS:
            raise ValueError(f"panel must be one of {', '.join(PANELS)}, got {self.panel!r:.80}")
        panel = PANELS[self.panel]
        if self.interpretation not in {one.name for one in of_figure(panel.figure)}:
            raise ValueError(f"interpretation must be one of {panel.figure}, got {self.interpretation!r:.80}")
        for name, wanted in (("source", panel.source), ("p", panel.p), ("radius", panel.radius)):
            require(getattr(self, name), wanted, name, "that of the panel")
        if not self.claims:
            raise ValueError("claims must be a list of at least one claim, got []")
        require(self.outcome, self.claims[0].outcome, "outcome", "that of the first claim")
        self._require_fields(panel.figure)

    @property
    def first(self) -> Claim:
        """The claim that decides."""
        return self.claims[0]

    @property
    def runs(self) -> int:
        """How many seeds."""
        return self.first.runs

    def _require_fields(self, figure: Figure) -> None:
        """Refuse fields that the figure or the interpretation does not have, and the lack of those that it has."""
        interpretation = INTERPRETATIONS[self.interpretation]
        default, real = interpretation == DEFAULT, interpretation.dynamics == "real"
        control, learners = figure in CONTROL, RARL_LEARNERS if figure == "rarl" else LEARNERS
        _require_names(self.values, (*learners, *_controls(figure, real=real)), "values")
        _require_presence(self.equal_to_shorter_horizon, control, "equal_to_shorter_horizon")
        _require_names(self.limits, LEARNERS[:2] if control and not real else None, "limits")
        _require_names(self.diverged, LEARNERS if figure == "tdc" else None, "diverged")
        _require_presence(self.stability, figure == "tdc", "stability")
        if default or not has_many_runs(interpretation):
            _require_presence(self.student_misses, default, "student_misses")
        _require_presence(self.times, default, "times")
        _require_names(self.curves, learners if default else None, "curves")
        _require_names(self.monte_carlo, LEARNERS[:2] if default and control else None, "monte_carlo")
        for name, count in (self.diverged or {}).items():
            if count > self.runs:
                raise ValueError(f"diverged, {name} must be at most the number of runs, {self.runs}, got {count}")
        for name, curve in (self.curves or {}).items():
            for line in (curve.mean, curve.low, curve.high):
                require(len(line), len(self.times or ()), f"the length of curves, {name}", "that of times")


def _controls(figure: Figure, *, real: bool) -> tuple[str, ...]:
    """The values of a figure that need no learning."""
    if figure == "tdc":
        return ()
    if figure == "rarl":
        return "optimum", "best constant action"
    top = ("never falling",) if real else ("optimum", "that action")
    return *top, "best constant action", "uniform policy"


def _require_presence(value: object, wanted: bool, name: str) -> None:
    if (value is not None) != wanted:
        raise ValueError(f"lacks the field {name!r}" if wanted else f"has an unknown field {name!r}")


def _require_names(value: Mapping[str, object] | None, names: Collection[str] | None, field: str) -> None:
    _require_presence(value, names is not None, field)
    if value is not None and names is not None and value.keys() != set(names):
        raise ValueError(f"{field} must have exactly {', '.join(names)}, got {', '.join(value)!r:.80}")


def panel_run(panel: Panel, interpretation: Interpretation, claims: tuple[Claim, ...], **fields: Any) -> PanelRun:
    """The record of a panel from the claims and the other fields that its experiment has found."""
    missed = misses(np.array(fields["scores"])) if has_many_runs(interpretation) else None
    return PanelRun(
        panel=panel.id,
        source=panel.source,
        interpretation=interpretation.name,
        p=panel.p,
        radius=panel.radius,
        outcome=claims[0].outcome,
        claims=claims,
        student_misses=missed,
        **fields,
    )


@dataclass(frozen=True)
class Trend(Claim):
    """A claim about the growth of the advantage of a figure with p or R."""

    figure: Figure
    interpretation: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.figure not in CONTROL:
            raise ValueError(f"figure must be one of {', '.join(CONTROL)}, got {self.figure!r}")
        if self.interpretation not in {one.name for one in of_figure(self.figure)}:
            raise ValueError(f"interpretation must be one of {self.figure}, got {self.interpretation!r:.80}")
