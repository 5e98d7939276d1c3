"""Faults of samplers, policy gradients and smoothed operators."""

from collections.abc import Callable
from typing import Any

import numpy as np

from properties.variants.faults import Fault, Faults
from robust_core import MDP, Contamination, Transition, Variant
from robust_core.smoothing import Smoothing
from robust_core.validate import Floats

Draw = Callable[[Floats, np.random.Generator], Any]


def _path(draw: Draw) -> Callable[..., list[Transition]]:
    """A sampler that draws from every row by `draw`."""

    def sample(mdp: MDP, policy: Floats, start: int, steps: int, rng: np.random.Generator) -> list[Transition]:
        path, s, a = [], start, draw(policy[start], rng)
        for _ in range(steps):
            s_next = draw(np.asarray(mdp.P[s, a]), rng)
            a_next = draw(policy[s_next], rng)
            path.append(Transition(s, a, float(mdp.cost[s, a]), s_next, a_next, False))
            s, a = s_next, a_next
        return path

    return sample


def _alias(p: Floats) -> tuple[Floats, list[int]]:
    """Vose's tables: the chance to stay with an outcome, and its alias."""
    n = len(p)
    chance, alias = p * n, list(range(n))
    small = [i for i in range(n) if chance[i] < 1.0]
    large = [i for i in range(n) if chance[i] >= 1.0]
    while small and large:
        low, high = small.pop(), large.pop()
        alias[low] = high
        chance[high] -= 1.0 - chance[low]
        (small if chance[high] < 1.0 else large).append(high)
    for i in small + large:
        chance[i] = 1.0
    return chance, alias


FAULTS = Faults()


def _sampler(name: str, draw: Draw) -> Variant:
    return Variant(name, "sampler", _path(draw), (), ("trajectory",))


def _gradient(name: str, make: Any) -> Variant:
    return Variant(name, "policy gradient", make, (Contamination,), ("policy gradient",), {"radii": (0.0,)})


@FAULTS.of("HypothesisWorks/hypothesis#1049", "2017-12-28", _sampler, "alias sampler with its outcomes exchanged")
def base_for_alternate(p: Floats, rng: np.random.Generator) -> int:
    """The alias method returns the outcome where its alias belongs."""
    chance, alias = _alias(p)
    i = int(rng.integers(len(p)))
    return i if rng.random() >= chance[i] else alias[i]


@FAULTS.of("pytorch/pytorch#21257", "2019-06-01", _sampler, "alias sampler off by one")
def index_off_by_one(p: Floats, rng: np.random.Generator) -> int:
    """An index of the alias method is off by one."""
    chance, alias = _alias(p)
    i = int(rng.integers(len(p)))
    return (i - 1) % len(p) if rng.random() < chance[i] else alias[i]


@FAULTS.of("wesselb/lab#10", "2023-04-29", _sampler, "sampler that counts from the end")
def counted_from_the_end(p: Floats, rng: np.random.Generator) -> int:
    """Of the row (1, 0, 0, 0) the last outcome is drawn."""
    return int((rng.random() < np.cumsum(p)).sum()) - 1


@FAULTS.of("probcomp/Gen.jl#256", "2020-05-07", _sampler, "sampler of sure rows")
def sure_row(p: Floats, rng: np.random.Generator) -> int:
    """A row with one sure outcome is drawn from as if it were uniform."""
    return int(rng.integers(len(p))) if (p == 1.0).any() else int(rng.choice(len(p), p=p))


@FAULTS.of("arviz-devs/preliz#684", "2025-08-28", _sampler, "sampler of probabilities")
def draws_probabilities(p: Floats, rng: np.random.Generator) -> Any:
    """Probabilities are drawn, not their indices."""
    return int(rng.choice(p))


def _chain(mdp: MDP, policy: Floats) -> Floats:
    return np.einsum("sa,sat->st", policy, mdp.P)


def _action_values(mdp: MDP, policy: Floats) -> Floats:
    cost = (policy * mdp.cost).sum(axis=1)
    V: Floats = np.linalg.solve(np.eye(mdp.n_states) - mdp.gamma * _chain(mdp, policy), cost)
    return mdp.cost + mdp.gamma * mdp.expectation(V)


def _visits(mdp: MDP, policy: Floats, rho: Floats) -> Floats:
    kernel = mdp.gamma * _chain(mdp, policy)
    return rho @ np.linalg.inv(np.eye(mdp.n_states) - kernel)


@FAULTS.of("ufal/npfl122#117", "2023-07-03", _gradient, "policy gradient without the discount of visits")
def undiscounted_visits(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    """Gamma^t is missing in the policy gradient."""
    chain = (np.eye(mdp.n_states) + _chain(mdp, policy)) / 2.0
    share = rho @ np.linalg.matrix_power(chain, 2**20)
    return (share / (1.0 - mdp.gamma))[:, None] * _action_values(mdp, policy)


@FAULTS.of("hunkim/ReinforcementZeroToAll#1", "2017-03-04", _gradient, "policy gradient without the future")
def no_future(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    """Future rewards are not summed up."""
    return _visits(mdp, policy, rho)[:, None] * mdp.cost


@FAULTS.of("Farama-Foundation/Gymnasium#1336", "2025-03-20", _gradient, "policy gradient of the mean score")
def mean_score(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    """The mean of the scores is multiplied by the returns."""
    visits, Q = _visits(mdp, policy, rho), _action_values(mdp, policy)
    mean = visits @ (policy * Q).sum(axis=1) / visits.sum()
    return np.repeat((visits * mean)[:, None], mdp.n_actions, axis=1)


@FAULTS.of("jvmncs/safe-grid-agents#28", "2018-10-12", _gradient, "policy gradient of the other sign")
def opposite_sign(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    """A minus sign is taken through a minimum."""
    return -_visits(mdp, policy, rho)[:, None] * _action_values(mdp, policy)


def overflowing_exponentials(mdp: MDP, uncertainty_set: Any, policy: Floats, smoothing: Smoothing, V: Floats) -> Floats:
    """Log-sum-exp without the maximum taken out."""
    R, varrho = uncertainty_set.radius, smoothing.varrho
    worst = np.log(np.exp(varrho * V).sum()) / varrho
    Q = mdp.cost + mdp.gamma * ((1.0 - R) * mdp.expectation(V) + R * worst)
    return (policy * Q).sum(axis=1)


def _right_alias(p: Floats, rng: np.random.Generator) -> int:
    chance, alias = _alias(p)
    i = int(rng.integers(len(p)))
    return i if rng.random() < chance[i] else alias[i]


def _right_gradient(mdp: MDP, uncertainty_set: Any, policy: Floats, rho: Floats) -> Floats:
    return _visits(mdp, policy, rho)[:, None] * _action_values(mdp, policy)


RIGHT = (
    _sampler("sampler without a fault", lambda p, rng: int(rng.choice(len(p), p=p))),
    _sampler("alias sampler without a fault", _right_alias),
    _gradient("policy gradient without a fault", _right_gradient),
)
"""What the faults are made of, without them."""
FAULTS += [
    Fault(
        "uTensor/uTensor#175",
        "2019-09-02",
        "exponentials of large values overflow",
        Variant(
            "smoothed T that overflows",
            "smoothed operator",
            overflowing_exponentials,
            (Contamination,),
            ("smoothed bellman",),
            {"smoothing": "lse"},
        ),
    ),
]
