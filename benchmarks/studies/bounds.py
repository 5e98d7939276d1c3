"""Certificates that robust TDC stays bounded in mean square for draws of the features of Figure 3.

They are sought for the draws whose mean square shrinks with the maximum held at its most frequent state, and checked in
interval arithmetic for all regions of the maximum (`oracles/linear/switching.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.experiments.gradient import environments_of, features, radius_and_discount
from benchmarks.experiments.interpretations import DEFAULT
from benchmarks.experiments.paper import PANELS
from benchmarks.studies import growth
from oracles.arithmetic.ball import Ball
from oracles.chains.chain import state_chain
from oracles.linear import second_moments, switching
from robust_core.json import from_data, load
from robust_core.policy import uniform
from robust_core.validate import Floats

FILE = Path(__file__).parents[1] / "baselines" / "bounds.json"
RATE = -0.1
"""½T log of the factor per step of E‖x‖² that is asked for: any number below 0 shows that it stays bounded."""
DIGITS = 6
"""Decimals of M that are kept; the largest entries are about 1, and what is kept is what is checked."""


@dataclass(frozen=True)
class Bound:
    """M(s) of a draw, the upper triangle of each matrix by rows."""

    panel: str
    draw: int
    weights: tuple[tuple[float, ...], ...]


def measure() -> list[Bound]:
    """Every draw for which a certificate is found and holds. A draw takes about a minute of processor time."""
    tried = [one for one in growth.load_committed() if one.learner == "robust" and one.sign < 0]
    found = [(one.panel, one.draw, propose(one.panel, one.draw)) for one in tried]
    bounds = [Bound(panel, draw, pack(M)) for panel, draw, M in found if M is not None]
    return [bound for bound in bounds if is_certified(bound)]


def propose(panel: str, draw: int) -> Floats | None:
    """M of a draw, or None if the program finds none."""
    kernel, steps = recursion(panel, draw)
    return switching.propose_bound(kernel.mid, [A.mid for A in steps], factor=_factor())


def is_certified(bound: Bound) -> bool:
    """Whether a bound holds for the recursion of its draw, checked in interval arithmetic."""
    kernel, steps = recursion(bound.panel, bound.draw)
    return switching.is_bounded(kernel, steps, unpack(bound.weights), _factor())


def _factor() -> float:
    return float(np.exp(2.0 * RATE / growth.horizon()))


def recursion(panel_id: str, draw: int) -> tuple[Ball, list[Ball]]:
    """The kernel of the states, and A_k of every state k."""
    panel = PANELS[panel_id]
    environments = environments_of(panel, replace(DEFAULT, features=draw))
    phi, mdp = features(environments, 0), environments.training.mdp
    assert panel.beta is not None
    radius, gamma = radius_and_discount(panel, "robust")
    chain = state_chain(mdp, uniform(mdp.n_states, mdp.n_actions))
    steps = [
        second_moments.steps(phi, gamma=gamma, radius=radius, alpha=panel.alpha, beta=panel.beta, held=k)
        for k in range(mdp.n_states)
    ]
    return Ball.relative(chain.kernel, chain.log_error), steps


def pack(M: Floats) -> tuple[tuple[float, ...], ...]:
    """The upper triangles, rounded."""
    upper = np.triu_indices(M.shape[-1])
    return tuple(tuple(np.round(m[upper], DIGITS).tolist()) for m in M)


def unpack(weights: Sequence[Sequence[float]]) -> Floats:
    """The symmetric matrices of upper triangles."""
    n = int(np.sqrt(2 * len(weights[0])))
    M, (rows, columns) = np.zeros((len(weights), n, n)), np.triu_indices(n)
    M[:, rows, columns] = M[:, columns, rows] = np.array(weights)
    return M


@cache
def load_committed() -> tuple[Bound, ...]:
    """The committed certificates."""
    return tuple(from_data(list[Bound], load(FILE), FILE.name))
