"""The fifteen panels of Section 6 and Appendix E: the printed numbers, and how many runs each gets."""

from dataclasses import dataclass

from benchmarks.experiments.interpretations import DEFAULT, Figure, Interpretation

MANY, SOME, FEW = 400, 100, 30
"""How many seeds (see `outcome`); the plotted envelope uses the first thirty."""
BESIDE_DEFAULT = ("real-dynamics", "gym-reward", "drawn-start", "fresh-features")
"""The interpretations whose number stands beside that of the default: they get as many runs."""


@dataclass(frozen=True)
class Panel:
    """One plot of the paper with its printed numbers (beta belongs to TDC)."""

    id: str
    figure: Figure
    source: str
    p: float
    radius: float
    gamma: float
    alpha: float
    beta: float | None = None


_PRINTED: tuple[tuple[Figure, str, float, float, float | None], ...] = (
    ("frozenlake", "Fig. 1", 0.96, 0.8, None),
    ("cartpole", "Fig. 2", 0.95, 0.2, None),
    ("tdc", "Fig. 3", 0.9, 0.1, 0.5),
    ("rarl", "Fig. 4", 0.9, 0.2, None),
    ("taxi", "Fig. 5", 0.8, 0.3, None),
)
_COLUMNS = (("a", 0.1, 0.1), ("b", 0.05, 0.2), ("c", 0.1, 0.2))

PANELS: dict[str, Panel] = {
    f"{figure}-{letter}": Panel(f"{figure}-{letter}", figure, f"{source}({letter})", p, radius, gamma, alpha, beta)
    for figure, source, gamma, alpha, beta in _PRINTED
    for letter, p, radius in _COLUMNS
}


def run_count(panel: Panel, interpretation: Interpretation) -> int:
    """How many seeds a panel gets under an interpretation.

    >>> [run_count(PANELS[panel], DEFAULT) for panel in ("cartpole-a", "taxi-a")]
    [400, 100]
    """
    large = panel.figure in ("taxi", "rarl")
    if has_many_runs(interpretation):
        return SOME if large else MANY
    return FEW if large or panel.figure == "cartpole" else SOME


def has_many_runs(interpretation: Interpretation) -> bool:
    """Whether an interpretation is the default, or stands beside it."""
    return interpretation == DEFAULT or interpretation.name in BESIDE_DEFAULT
