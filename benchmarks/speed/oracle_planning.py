"""Guaranteed planning against QuantEcon, against itself on the nominal model, and against naive numpy.

Every figure is a ratio of times taken in turn in one run, each the best of several; the guarantee is a width of
1e-6 and its certificate is part of the time. Processor time is measured, so other work on the machine disturbs
the ratios less; keep numerical libraries to one thread.
"""

from collections.abc import Callable
from itertools import product
from time import thread_time

import numpy as np

from benchmarks.speed.timing import Measurement, at_least, at_most
from oracles.planning import bounds
from robust_core.mdp import MDP, SparseRows
from robust_core.sets import Contamination, TotalVariation, UncertaintySet
from robust_core.validate import Floats

WIDTH = 1e-6
ACTIONS = 4
SUCCESSORS = 8
BAND = 20
RADIUS = 0.1
NOMINAL = Contamination(0.0)
ATTACKS: tuple[UncertaintySet, ...] = (Contamination(RADIUS), TotalVariation(RADIUS))
LARGE = (
    *(("dense", n) for n in (100, 500, 2_000)),
    *((kind, n) for kind in ("sparse", "band") for n in (1_000, 10_000, 100_000)),
)
GAMMAS = (0.95, 0.99)
SMALL = (5, 10, 20, 50)
ENOUGH_SECONDS = 0.5  # a method is timed again until it took so long, at most `ROUNDS` times
ROUNDS = 25
TURN_SECONDS = 0.01  # a quick method is repeated about so long in every turn, so that its figure is a warm one
CLOCK_TICK = 1e-6
LEAST_AGAINST_PEER, LEAST_AGAINST_NAIVE, MOST_CONTAMINATION = 1.0, 300.0, 1.1
MOST_TOTAL_VARIATION = {"dense": 2.0, "sparse": 4.0, "band": 4.0}
ALL_PEERS = 1_000  # beyond, value iteration and (random sparse: fill-in) policy iteration take minutes


def plans(*, quick: bool = False) -> list[Measurement]:
    """Small models against naive numpy, large ones against QuantEcon; robust plans against the nominal one."""
    lines = [
        _against_naive(n_states, gamma, uncertainty_set)
        for n_states, gamma, uncertainty_set in product(SMALL, GAMMAS, ATTACKS)
    ]
    for (kind, n_states), gamma in product(LARGE, GAMMAS):
        if not quick or n_states <= ALL_PEERS:
            lines += _against_peers(kind, n_states, gamma)
    return lines


def dense_model(n_states: int, gamma: float) -> MDP:
    """Uniformly random rows and costs."""
    rng = np.random.default_rng(n_states)
    P = rng.random((n_states, ACTIONS, n_states))
    return MDP(P / P.sum(axis=-1, keepdims=True), rng.random((n_states, ACTIONS)), gamma)


def sparse_model(n_states: int, gamma: float, *, band: int | None) -> MDP:
    """`SUCCESSORS` distinct random successors a row, anywhere or (slow mixing) at most `band` states away."""
    rng = np.random.default_rng(n_states)
    n_rows = n_states * ACTIONS
    reach = n_states if band is None else 2 * band + 1
    # Distinct steps: one from each of SUCCESSORS disjoint parts of the reach.
    part = reach // SUCCESSORS
    steps = np.arange(SUCCESSORS) * part + rng.integers(0, part, (n_rows, SUCCESSORS))
    home = np.repeat(np.arange(n_states), ACTIONS)[:, None]
    successors = (home + steps - (0 if band is None else band)) % n_states
    p = rng.random((n_rows, SUCCESSORS))
    offsets = np.arange(n_rows + 1) * SUCCESSORS
    rows = SparseRows(offsets, successors.ravel(), (p / p.sum(axis=1, keepdims=True)).ravel())
    return MDP(rows, rng.random((n_states, ACTIONS)), gamma)


def naive_value_iteration(mdp: MDP, uncertainty_set: UncertaintySet, width: float) -> Floats:
    """Robust value iteration as one writes it down in numpy, stopped by the contraction bound."""
    radius, gamma, P = float(uncertainty_set.radius), mdp.gamma, mdp.P  # type: ignore[attr-defined]
    Q = np.zeros_like(mdp.cost)
    while True:
        V = Q.min(axis=1)
        if isinstance(uncertainty_set, TotalVariation):
            order = np.argsort(V)
            p = P[..., order]
            kept = p - np.clip(radius - (np.cumsum(p, axis=-1) - p), 0.0, p)
            sigma = kept @ V[order] + radius * V.max()
        else:
            sigma = (1.0 - radius) * (P @ V) + radius * V.max()
        image: Floats = mdp.cost + gamma * sigma
        if abs(image - Q).max() <= width * (1.0 - gamma) / (2.0 * gamma):
            return image
        Q = image


def _best_of_turns(methods: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds of each method: the methods in turn, each the best of its rounds, quick ones many times a turn."""
    best, spent = dict.fromkeys(methods, np.inf), dict.fromkeys(methods, 0.0)
    repeats = {name: max(1, round(TURN_SECONDS / _seconds(method, 1))) for name, method in methods.items()}
    for _ in range(ROUNDS):
        for name, method in methods.items():
            if spent[name] < ENOUGH_SECONDS:
                seconds = _seconds(method, repeats[name])
                spent[name] += seconds
                best[name] = min(best[name], seconds / repeats[name])
    return best


def _seconds(method: Callable[[], object], repeats: int) -> float:
    start = thread_time()
    for _ in range(repeats):
        method()
    return max(thread_time() - start, CLOCK_TICK)


def _peers(kind: str, mdp: MDP) -> dict[str, Callable[[], object]]:
    """QuantEcon's three methods on the nominal model; those out of reach for its size are left out."""
    import scipy.sparse
    from quantecon.markov import DiscreteDP

    kernel, pairs = mdp.kernel, np.arange(mdp.cost.size)
    if isinstance(kernel, SparseRows):
        shape = (mdp.cost.size, mdp.n_states)
        matrix = scipy.sparse.csr_matrix((kernel.probabilities, kernel.successors, kernel.offsets), shape)
        problem = DiscreteDP(-mdp.cost.ravel(), matrix, mdp.gamma, pairs // ACTIONS, pairs % ACTIONS)
    else:
        problem = DiscreteDP(-mdp.cost, kernel, mdp.gamma)
    methods = ["modified_policy_iteration"]
    methods += ["policy_iteration"] * (kind != "sparse" or mdp.n_states <= ALL_PEERS)
    methods += ["value_iteration"] * (mdp.n_states <= ALL_PEERS)

    def runner(method: str) -> Callable[[], object]:
        return lambda: problem.solve(method=method, epsilon=WIDTH, max_iter=10**6)

    return {method: runner(method) for method in methods}


def _against_peers(kind: str, n_states: int, gamma: float) -> list[Measurement]:
    band = BAND if kind == "band" else None
    mdp = dense_model(n_states, gamma) if kind == "dense" else sparse_model(n_states, gamma, band=band)

    def ours(uncertainty_set: UncertaintySet) -> Callable[[], object]:
        return lambda: bounds.solve(mdp, uncertainty_set, width=WIDTH)

    own = {"nominal": ours(NOMINAL)} | {uncertainty_set.kind: ours(uncertainty_set) for uncertainty_set in ATTACKS}
    ours(NOMINAL)()
    times = _best_of_turns(own | _peers(kind, mdp))
    nominal, size = times["nominal"], f"{kind} S={n_states} gamma={gamma}"
    peer = min(time for name, time in times.items() if name not in own)
    total_variation = times["total_variation"]
    return [
        at_least("QuantEcon plan / plan", size, nominal, peer, LEAST_AGAINST_PEER),
        at_most("contamination plan / nominal plan", size, times["contamination"], nominal, MOST_CONTAMINATION),
        at_most("TV plan / nominal plan", size, total_variation, nominal, MOST_TOTAL_VARIATION[kind]),
    ]


def _against_naive(n_states: int, gamma: float, uncertainty_set: UncertaintySet) -> Measurement:
    mdp = dense_model(n_states, gamma)
    methods: dict[str, Callable[[], object]] = {
        "ours": lambda: bounds.solve(mdp, uncertainty_set, width=WIDTH),
        "naive": lambda: naive_value_iteration(mdp, uncertainty_set, WIDTH),
    }
    methods["ours"]()
    times = _best_of_turns(methods)
    size = f"{uncertainty_set.kind} S={n_states} gamma={gamma}"
    return at_least("naive plan / plan", size, times["ours"], times["naive"], LEAST_AGAINST_NAIVE)
