"""mle-unbiased, k2 independence and bound, visits: a trajectory is one walk of (kernel, policy).

Per pair one categorical test of the successors at two consecutive visits, whose law is p ⊗ p: it sees a wrong
kernel, a sampler that ignores the action, and successors that depend on each other. Every replicate walks until it
has a fixed number of them: to stop at a fixed time would favour successors that lead back soon. Steps that do not
follow from each other (s_{t+1} ≠ s'_t, a wrong cost) are an outcome of probability 0. Per
state one test of the actions.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from properties.cases.benchmark_problems import BenchmarkProblem, small_problems
from properties.statistics import design, intervals
from properties.statistics.law import Cell, Size, StatisticalLaw, above, bernoulli_plan, once
from properties.statistics.sequential import Plan
from robust_core.mdp import MDP
from robust_core.problem import Variant
from robust_core.sampler import alias_table
from robust_core.streams import numpy_generator
from robust_core.trajectory import Recording, Transition, Walk
from robust_core.validate import Floats

EFFECT = {"quick": 0.05, "full": 0.01}
DRAWS = 64
"""Outcomes per replicate."""
STRETCH = 512
"""Steps asked of the sampler at a time."""
PATIENCE = 1000
"""Stretches without enough visits after which the sampler is taken to avoid the pair."""
DELTA = 0.25
"""The failure probability at which the visit-count lemma is tested: cheap, and as strong as a small one."""

NOISE_STEPS, NOISE_ALPHA = 4096, 0.0625
"""T and alpha of the k_2 cell: alpha log(SAT/delta) < 1, as the lemma asks."""


class _Avoided(Exception):
    """The sampler does not visit what it must."""


def _columns(transitions: Any) -> Recording:
    if isinstance(transitions, Recording):
        return transitions
    s, a, cost, s_next, a_next, terminal = zip(*transitions, strict=True)
    places = [np.array(column, dtype=np.int64) for column in (s, a, s_next, a_next)]
    return Recording(places[0], places[1], np.array(cost), places[2], places[3], np.array(terminal, dtype=np.bool_))


def _stretches(variant: Variant, benchmark: BenchmarkProblem, seed: bytes) -> Iterator[Recording]:
    rng, start = numpy_generator(seed), 0
    for _ in range(PATIENCE):
        recording = _columns(variant.make(benchmark.mdp, benchmark.policy, start, STRETCH, rng))
        yield recording
        start = int(recording.s_next[-1])
    raise _Avoided


def _broken(mdp: MDP, recording: Recording) -> bool:
    """Whether some step does not follow from the one before, or has a wrong cost."""
    follows = np.array_equal(recording.s[1:], recording.s_next[:-1])
    meant = np.array_equal(recording.a[1:], recording.a_next[:-1])
    return not (follows and meant and np.array_equal(recording.cost, mdp.cost[recording.s, recording.a]))


def _outcomes(
    variant: Variant, benchmark: BenchmarkProblem, wanted: int, at: Callable[..., Any], seed: bytes
) -> Floats | None:
    """`wanted` outcomes in a row; None if a stretch is broken or the place is avoided."""
    seen: list[np.ndarray] = []
    count = 0
    try:
        for recording in _stretches(variant, benchmark, seed):
            if _broken(benchmark.mdp, recording):
                return None
            seen.append(at(recording))
            count += len(seen[-1])
            if count >= wanted:
                return np.concatenate(seen)[:wanted]
    except _Avoided:
        pass
    return None


def _pair_sampler(variant: Variant, benchmark: BenchmarkProblem, s: int, a: int) -> Callable[[bytes], Floats]:
    support = np.flatnonzero(benchmark.mdp.P[s, a])
    rank = np.full(benchmark.mdp.n_states, -1)
    rank[support] = np.arange(support.size)

    def at(recording: Recording) -> np.ndarray:
        return recording.s_next[(recording.s == s) & (recording.a == a)]

    def sample(seed: bytes) -> Floats:
        successors = _outcomes(variant, benchmark, 2 * DRAWS, at, seed)
        impossible = float(support.size**2)
        if successors is None:
            return np.full(DRAWS, impossible)
        ranks = rank[successors].reshape(-1, 2)
        codes = ranks[:, 0] * support.size + ranks[:, 1]
        return np.where((ranks < 0).any(axis=1), impossible, codes)

    return sample


def _action_sampler(variant: Variant, benchmark: BenchmarkProblem, s: int) -> Callable[[bytes], Floats]:
    def sample(seed: bytes) -> Floats:
        actions = _outcomes(variant, benchmark, DRAWS, lambda recording: recording.a[recording.s == s], seed)
        return np.full(DRAWS, float(benchmark.mdp.n_actions)) if actions is None else actions.astype(float)

    return sample


def _visit_sampler(variant: Variant, benchmark: BenchmarkProblem, frame: int) -> Callable[[bytes], Floats]:
    size = benchmark.mdp.n_states * benchmark.mdp.n_actions

    def sample(seed: bytes) -> Floats:
        recording = _columns(variant.make(benchmark.mdp, benchmark.policy, 0, frame, numpy_generator(seed)))
        visits = np.bincount(recording.s * benchmark.mdp.n_actions + recording.a, minlength=size)
        return np.array([visits.min() / (benchmark.mu_min * frame)])

    return sample


def _noise_sampler(variant: Variant, benchmark: BenchmarkProblem) -> Callable[[bytes], Floats]:
    """max |k_{2,t}| over pairs and t <= T, against the explicit noise bound and against the printed one with ĉ = 1.

    At the visits of a pair k_2 ← (1−alpha)k_2 + alpha gamma(1−R)(V*(s') − p V*): a filter of the centred values.
    """
    from scipy.signal import lfilter

    from oracles.bounds.q_learning import k2_bound_printed, noise_bound

    mdp, V = benchmark.mdp, benchmark.truth.table.min(axis=1)
    b = mdp.gamma * (1.0 - benchmark.radius)
    size = mdp.n_states * mdp.n_actions
    common: dict[str, Any] = {
        "gamma": mdp.gamma,
        "alpha": NOISE_ALPHA,
        "n_pairs": size,
        "T": NOISE_STEPS,
        "delta": DELTA,
    }
    explicit = noise_bound(radius=benchmark.radius, V_span=float(np.ptp(V)), **common)
    printed = k2_bound_printed(V_norm=float(abs(V).max()), c_hat=1.0, **common)

    def sample(seed: bytes) -> Floats:
        recording = _columns(variant.make(mdp, benchmark.policy, 0, NOISE_STEPS, numpy_generator(seed)))
        centred = b * (V[recording.s_next] - (mdp.P @ V)[recording.s, recording.a])
        pair = recording.s * mdp.n_actions + recording.a
        filtered = (lfilter([NOISE_ALPHA], [1.0, NOISE_ALPHA - 1.0], centred[pair == i]) for i in range(size))
        largest = max(float(abs(k_2).max()) for k_2 in filtered if k_2.size)
        return np.array([largest / explicit, largest / printed])

    return sample


def _frame(benchmark: BenchmarkProblem) -> int:
    """t_frame with T = t_frame: the fixed point of the lemma's own length."""
    from oracles.bounds.q_learning import t_frame
    from oracles.chains.chain import pair_chain
    from oracles.chains.mixing import t_mix

    mixing, frame = t_mix(pair_chain(benchmark.mdp, benchmark.policy)), 1.0
    for _ in range(20):
        frame = t_frame(mixing, benchmark.mu_min, benchmark.truth.table.size, max(frame, 1.0), DELTA)
    return int(np.ceil(frame))


def _law(benchmark: BenchmarkProblem, s: int, a: int) -> tuple[float, ...]:
    """p ⊗ p, and the impossible outcome."""
    p = benchmark.mdp.P[s, a]
    p = p[p > 0.0]
    return (*np.outer(p, p).ravel().tolist(), 0.0)


def _plan(p: tuple[float, ...], effect: float, alpha: float) -> Plan:
    return design.categorical(p, effect, draws=DRAWS, alpha=alpha)


def cells(variant: Variant, size: Size) -> list[Cell]:
    """Successors per pair, actions per state, and (full size) the visit counts."""
    benchmark, effect = small_problems()["garnet"], EFFECT[size]
    shape = benchmark.mdp.n_states, benchmark.mdp.n_actions
    found = [
        Cell(
            f"sampling/successors/garnet/({s},{a})/effect={effect:g}",
            partial(_plan, _law(benchmark, s, a), effect),
            once(partial(_pair_sampler, variant, benchmark, s, a)),
            np.ravel,
            benchmark.content,
            kind="successors",
            variant=variant.name,
            stream=f"sampling/successors/garnet/({s},{a})",
        )
        for s, a in np.ndindex(shape)
    ]
    found += [
        Cell(
            f"sampling/actions/garnet/{s}/effect={effect:g}",
            partial(_plan, (*benchmark.policy[s].tolist(), 0.0), effect),
            once(partial(_action_sampler, variant, benchmark, s)),
            np.ravel,
            benchmark.content,
            kind="actions",
            variant=variant.name,
            stream=f"sampling/actions/garnet/{s}",
        )
        for s in range(shape[0])
    ]
    if size == "quick":
        # One pair and one state keep a run short; the full size has them all.
        return [found[0], found[3], found[-1]]
    frame = _frame(benchmark)
    visits = Cell(
        f"sampling/visits/garnet/t={frame}",
        bernoulli_plan(DELTA, 0.5),
        once(lambda: _visit_sampler(variant, benchmark, frame)),
        lambda rows: (rows[:, 0] < 0.5).astype(float),
        benchmark.content,
        kind="visits",
        variant=variant.name,
        stream=f"sampling/visits/garnet/t={frame}",
    )
    noise = Cell(
        f"sampling/k2/garnet/T={NOISE_STEPS}",
        bernoulli_plan(DELTA, 0.5),
        once(partial(_noise_sampler, variant, benchmark)),
        above(0, 1.0),
        benchmark.content,
        measure=lambda rows: {"needed ĉ": intervals.median(rows[:, 1])},
        kind="k2",
        variant=variant.name,
        stream=f"sampling/k2/garnet/T={NOISE_STEPS}",
    )
    return [*found, visits, noise]


def walk(mdp: MDP, policy: Floats, start: int, steps: int, rng: np.random.Generator) -> Recording:
    """The core's walk as a sampler."""
    return Walk(mdp, policy, seed=rng.bytes(16), start=start).record(steps)


def _mixed_kernel(share: float) -> Callable[..., Recording]:
    """A kernel that jumps uniformly with a small probability."""

    def sample(mdp: MDP, policy: Floats, start: int, steps: int, rng: np.random.Generator) -> Recording:
        other = np.where(mdp.P > 0.0, 1.0, 0.0)
        other /= other.sum(axis=2, keepdims=True)
        return walk(MDP((1.0 - share) * mdp.P + share * other, mdp.cost, mdp.gamma), policy, start, steps, rng)

    return sample


def _deaf(mdp: MDP, policy: Floats, start: int, steps: int, rng: np.random.Generator) -> Recording:
    """The action does not matter for the successor."""
    P = np.broadcast_to(mdp.P.mean(axis=1, keepdims=True), mdp.P.shape)
    return walk(MDP(P, mdp.cost, mdp.gamma), policy, start, steps, rng)


def _twice(mdp: MDP, policy: Floats, start: int, steps: int, rng: np.random.Generator) -> list[Transition]:
    """The successor is drawn once for the report and once for the walk."""
    edges = np.cumsum(mdp.P, axis=2)
    honest = walk(mdp, policy, start, steps, rng)
    again = (rng.random(steps)[:, None] > edges[honest.s, honest.a]).sum(axis=1)
    return [t._replace(s_next=min(int(s), mdp.n_states - 1)) for t, s in zip(honest, again, strict=True)]


def _sticky(mdp: MDP, policy: Floats, start: int, steps: int, rng: np.random.Generator) -> list[Transition]:
    """Every third visit of a pair leads where the one before did: the right law at each visit, but dependent."""
    edges, transitions = np.cumsum(mdp.P, axis=2), []
    last: dict[tuple[int, int], int] = {}
    s, uniforms = start, rng.random((steps + 1, 3))
    a = int(uniforms[0, 0] * mdp.n_actions)
    for t in range(steps):
        _, x, stick = uniforms[t]
        s_next = int((x > edges[s, a]).sum())
        if stick < 1.0 / 3.0:
            s_next = last.get((s, a), s_next)
        last[s, a] = s_next
        a_next = int(uniforms[t + 1, 0] * mdp.n_actions)
        transitions.append(Transition(s, a, float(mdp.cost[s, a]), s_next, a_next, False))
        s, a = s_next, a_next
    return transitions


def _leaning(mdp: MDP, policy: Floats, start: int, steps: int, rng: np.random.Generator) -> Recording:
    """The first action is taken too often."""
    lean = 0.75 * policy
    lean[:, 0] += 0.25
    return walk(mdp, lean, start, steps, rng)


def _one_action(mdp: MDP, policy: Floats, start: int, steps: int, rng: np.random.Generator) -> Recording:
    """After T = NOISE_STEPS steps the first action alone is taken.

    No shorter walk shows it. All pairs with another action then share at most T visits, so the rarest of them has
    T/(S(A−1)) at most, far below the t mu_min/2 of the visit cell.
    """
    only = np.zeros_like(policy)
    only[:, 0] = 1.0
    parts = [walk(mdp, policy, start, min(steps, NOISE_STEPS), rng)]
    if steps > NOISE_STEPS:
        parts.append(walk(mdp, only, int(parts[0].s_next[-1]), steps - NOISE_STEPS, rng))
    return _joined(parts)


def _bursts(mdp: MDP, policy: Floats, start: int, steps: int, rng: np.random.Generator) -> Recording:
    """In every fourth stretch the last possible successor is taken: no single stretch shows it, and no visit is rare.

    On the garnet such a stretch goes to and fro between the states 2 and 3. The noise at the two pairs of state 2 then
    tends to 0.59 and 0.60 of gamma(1−R)span(V*); the bound is at 0.449, and 38 visits lead across it from wherever
    k_2 was. The stretch has more than 100 of each, but for a probability far below every alpha.
    """
    support = mdp.P > 0.0
    last = mdp.n_states - 1 - support[:, :, ::-1].argmax(axis=2)
    stuck = MDP(np.eye(mdp.n_states)[last], mdp.cost, mdp.gamma)
    kernels = [(kernel, alias_table(kernel, policy)) for kernel in (mdp, mdp, mdp, stuck)]
    parts: list[Recording] = []
    for place, first in enumerate(range(0, steps, STRETCH)):
        kernel, table = kernels[place % len(kernels)]
        at = int(parts[-1].s_next[-1]) if parts else start
        parts.append(
            Walk(kernel, policy, seed=rng.bytes(16), start=at, table=table).record(min(STRETCH, steps - first))
        )
    return _joined(parts)


def _joined(parts: Sequence[Recording]) -> Recording:
    """Stretches of one walk in one piece: the action that follows is the one that is taken."""
    s, a, cost, s_next = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("s", "a", "cost", "s_next")
    )
    terminal = np.concatenate([part.terminal for part in parts])
    return Recording(s, a, cost, s_next, np.append(a[1:], parts[-1].a_next[-1]), terminal)


_kind = partial(Variant, kind="sampler", sets=(), promises=("samples the model",))
RIGHT = _kind(name="the core's walk", make=walk)
BIASED = _kind(name="a walk with 40 % of a wrong kernel", make=_mixed_kernel(0.4))
SLIGHTLY_BIASED = _kind(name="a walk with 8 % of a wrong kernel", make=_mixed_kernel(0.08))
BURSTS = _kind(name="a walk with bursts of its last successor", make=_bursts)
ONE_ACTION = _kind(name="a walk that ends up with one action", make=_one_action)
CONTROLS = (
    BIASED,
    _kind(name="a walk that ignores the action", make=_deaf),
    _kind(name="a walk that draws the successor twice", make=_twice),
    _kind(name="a walk with sticky successors", make=_sticky),
    _kind(name="a walk that leans to the first action", make=_leaning),
)

LAW = StatisticalLaw(
    "one trajectory of the model",
    ("sampler",),
    "samples the model",
    "successors at the visits of a pair are independent with distribution p(·|s,a), actions with π(·|s); "
    "K_t(s,a) ≥ t μ_min/2 for t = t_frame; |k_{2,t}| below the explicit noise bound",
    "successors at consecutive visits have distribution p ⊗ p; actions π; P(min K_t < t μ_min/2) ≤ δ; "
    "P(max |k_2| > bound) ≤ δ",
    cells,
    RIGHT,
    CONTROLS,
    ("mle-unbiased", "visits", "k1-bound", "k2-bound"),
    fine_controls=(SLIGHTLY_BIASED, BURSTS, ONE_ACTION),
    purposes={
        "successors": "the kernel, and that visits do not depend on each other; it does not test the policy",
        "actions": "the policy; it does not test the kernel",
        "visits": "the count of visits of Lemma 5, which needs a walk longer than any other cell takes",
        "k2": "the noise that drives the theorems, whose bound few wrong walks cross",
    },
    models=lambda variant: [small_problems()["garnet"].mdp],
)
