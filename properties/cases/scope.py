"""The problems that the options of a variant leave: its radii, discounts, sizes and costs.

Cases are drawn inside (`choices`), and no call of a variant leads outside: a law that would make one, with a shifted
cost or a further state, sets the case aside (`properties/judging/observation.py`).

A command reads the scope of a variant in a process that need not load numpy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robust_core.mdp import MDP
    from robust_core.problem import Problem, Variant
    from robust_core.sets import UncertaintySet
    from robust_core.validate import Floats

PARTS = (0.0, 1.0, 0.5, 0.25, 0.75, 0.125, 0.1, 1 / 3)
"""Costs, as parts of their range."""


class OutOfScope(Exception):
    """A law was about to ask for a problem that the options of the variant leave out."""


@dataclass(frozen=True)
class Scope:
    """Discounts, numbers of states and of actions, the range of costs, and radii; None where anything is meant."""

    gammas: tuple[float, ...] | None = None
    states: tuple[int, ...] | None = None
    actions: tuple[int, ...] | None = None
    costs: tuple[float, float] | None = None
    radii: tuple[float, ...] | None = None

    @classmethod
    def of(cls, variant: "Variant") -> "Scope":
        """What the options of a variant leave."""
        return cls.of_options(variant.options)

    @classmethod
    def of_options(cls, options: Mapping[str, Any]) -> "Scope":
        """What the options leave."""
        return cls(*(options.get(each.name) for each in fields(cls))) if options else ANY

    @property
    def options(self) -> dict[str, Any]:
        """The options that leave this."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}

    def sizes(self, of: str) -> tuple[int, ...] | None:
        """The sizes of that name, if they are limited."""
        return {"states": self.states, "outcomes": self.states, "actions": self.actions}.get(of)

    def cost_levels(self) -> tuple[float, ...]:
        """Costs in the range, 0 first if it is one of them."""
        assert self.costs is not None
        low, high = self.costs
        levels = [min(max(low + part * (high - low), low), high) for part in PARTS]
        return tuple(dict.fromkeys([*([0.0] if low <= 0.0 <= high else []), *levels]))

    def box(self, gamma: float) -> tuple[float, float]:
        """The interval of 0 and of all values of states: that of the starts of a learner of tables."""
        assert self.costs is not None
        low, high = self.costs
        return min(0.0, low / (1.0 - gamma)), max(0.0, high / (1.0 - gamma))

    def radius(self, usual: float) -> float:
        """The usual radius, or the first that is inside."""
        return usual if self.radii is None or usual in self.radii else self.radii[0]

    def gamma(self, usual: float) -> float:
        """The usual discount, or the first that is inside."""
        return usual if self.gammas is None or usual in self.gammas else self.gammas[0]

    def fit(self, mdp: "MDP") -> "MDP":
        """The model with a discount that is inside and costs that are moved and stretched into their range.

        The model itself if it is inside; its sizes cannot be changed.
        """
        from robust_core.mdp import MDP

        _require_among("states", mdp.n_states, self.states)
        _require_among("actions", mdp.n_actions, self.actions)
        if self.has(mdp):
            return mdp
        cost, gamma = mdp.cost, self.gamma(mdp.gamma)
        if self.costs is not None and not self.has(MDP(mdp.kernel, cost, gamma)):
            (low, high), least = self.costs, cost.min()
            parts = (cost - least) / ((cost.max() - least) or 1.0)
            cost = (low + parts * (high - low)).clip(low, high)
        return MDP(mdp.kernel, cost, gamma)

    def common(self, other: "Scope") -> "Scope":
        """What is inside both; `OutOfScope` names the option of which nothing is."""
        found: dict[str, Any] = {}
        for name in ("radii", "gammas", "states", "actions"):
            listed = [set(side.options[name]) for side in (self, other) if name in side.options]
            if listed:
                found[name] = tuple(sorted(set.intersection(*listed)))
        ranges = [side.costs for side in (self, other) if side.costs is not None]
        if ranges:
            low, high = max(low for low, _ in ranges), min(high for _, high in ranges)
            found["costs"] = (low, high) if low < high else ()
        for name, value in found.items():
            if not value:
                raise OutOfScope(f"no problem is for both: options[{name!r}] have nothing in common")
        return Scope(**found)

    def has_sizes(self, states: int, actions: int) -> bool:
        """Whether models of these sizes are inside."""
        return (self.states is None or states in self.states) and (self.actions is None or actions in self.actions)

    def has(self, mdp: "MDP") -> bool:
        """Whether the model is inside."""
        try:
            self.require_model(mdp)
        except OutOfScope:
            return False
        return True

    def require_model(self, mdp: "MDP") -> None:
        """Raise `OutOfScope` unless the model is inside."""
        self._require_numbers(mdp.gamma, mdp.n_states, mdp.n_actions)
        self.require_costs(mdp.cost)

    def require_problem(self, problem: "Problem") -> None:
        """Raise `OutOfScope` unless the problem of a learner is inside, a start with tables in the box of values."""
        self._require_numbers(problem.gamma, problem.n_states, problem.n_actions)
        self.require_set(problem.uncertainty_set)
        if self.costs is None or problem.features is not None:
            return
        low, high = self.box(problem.gamma)
        _require_between("start", problem.initial, low, high)

    def require_costs(self, costs: Any) -> None:
        """Raise `OutOfScope` unless the costs are in their range."""
        if self.costs is not None:
            _require_between("costs", costs, *self.costs)

    def allows(self, uncertainty_set: "UncertaintySet | None") -> bool:
        """Whether all radii of a set are inside."""
        import numpy as np

        radii = np.ravel(getattr(uncertainty_set, "radius", ())).tolist()
        return self.radii is None or set(radii) <= set(self.radii)

    def require_set(self, uncertainty_set: "UncertaintySet") -> None:
        """Raise `OutOfScope` unless all radii of a set are inside."""
        if not self.allows(uncertainty_set):
            raise OutOfScope("another radius")

    def require_outcomes(self, number: int) -> None:
        """Raise `OutOfScope` unless a row may have so many outcomes."""
        _require_among("states", number, self.states)

    def _require_numbers(self, gamma: float, states: int, actions: int) -> None:
        _require_among("gamma", gamma, self.gammas)
        _require_among("states", states, self.states)
        _require_among("actions", actions, self.actions)

    def in_words(self) -> tuple[str, ...]:
        """What is tried only.

        >>> Scope(gammas=(0.9,), states=(2, 3), costs=(0.0, 1.0)).in_words()
        ('tried for gamma = 0.9 only', 'tried with 2 or 3 states only', 'tried with costs from 0 to 1 only')
        """
        words = []
        if self.radii is not None:
            words.append(f"tried for {'radius' if len(self.radii) == 1 else 'radii'} {_listed(self.radii)} only")
        if self.gammas is not None:
            words.append(f"tried for gamma = {_listed(self.gammas)} only")
        for sizes, one, many in ((self.states, "state", "states"), (self.actions, "action", "actions")):
            if sizes is not None:
                words.append(f"tried with {_listed(sizes)} {one if sizes == (1,) else many} only")
        if self.costs is not None:
            words.append(f"tried with costs from {self.costs[0]:g} to {self.costs[1]:g} only")
        return tuple(words)


ANY = Scope()
"""All problems."""


def _listed(values: Sequence[float]) -> str:
    named = [f"{value:g}" for value in values]
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} or {named[-1]}"


def _require_among(name: str, value: float, allowed: Sequence[float] | None) -> None:
    if allowed is not None and value not in allowed:
        raise OutOfScope(f"{name} = {value:g}")


def _require_between(name: str, values: Any, low: float, high: float) -> None:
    """The ends may be passed by the rounding of a sum."""
    import numpy as np

    from robust_core.validate import EPS

    found: Floats = np.asarray(values, dtype=np.float64)
    slack = 4.0 * EPS * max(abs(low), abs(high))
    if not ((found >= low - slack) & (found <= high + slack)).all():
        raise OutOfScope(f"{name} outside [{low:g}, {high:g}]")
