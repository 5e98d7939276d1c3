"""Robust against vanilla Q-learning (Figures 1, 2 and 5): learn on the perturbed MDP, test on the unperturbed one."""

from dataclasses import replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from benchmarks.experiments import evaluation
from benchmarks.experiments.curves import checkpoints, envelope, plateau
from benchmarks.experiments.interpretations import DEFAULT, Interpretation
from benchmarks.experiments.outcome import MUCH_REWARD, MUCH_SPREAD, Claim, judge, spread_scores
from benchmarks.experiments.panel_environments import PanelEnvironments, control_environments
from benchmarks.experiments.paper import Panel
from benchmarks.experiments.records import LEARNERS, PanelRun, Sampled, panel_run
from robust_core import streams
from robust_core.learners import tabular
from robust_core.learners.schedules import constant
from robust_core.problem import Problem
from robust_core.sets import Contamination
from robust_core.trajectory import Recording
from robust_core.validate import Floats, Ints

PLOTTED = 30


def discounts(panel: Panel, learner: str) -> tuple[float, float]:
    """(gamma, radius) of a learner; the control has no radius but the discount gamma(1−R).

    >>> from benchmarks.experiments.paper import PANELS
    >>> [discounts(PANELS["taxi-c"], learner) for learner in LEARNERS]
    [(0.8, 0.2), (0.8, 0.0), (0.6400000000000001, 0.0)]
    """
    if learner == "robust":
        return panel.gamma, panel.radius
    return (panel.gamma, 0.0) if learner == "vanilla" else (panel.gamma * (1.0 - panel.radius), 0.0)


def initial_table(environments: PanelEnvironments, replicate: int, gamma: float) -> Floats:
    """Q₀ under the interpretation; decreed ends hold 0, or a value below all others if they are not to be the worst."""
    mdp = environments.training.mdp
    Q = np.zeros(mdp.cost.shape)
    if environments.interpretation.initial == "random":
        rng = streams.numpy_generator(streams.key("initial", environments.training.name, replicate))
        Q = -rng.random(Q.shape)
    if environments.ends is not None:
        box = (float(np.abs(mdp.cost).max()) + 1.0) / (1.0 - gamma)
        Q[environments.ends] = -2.0 * box if environments.interpretation.worst == "inner" else 0.0
    return Q


def fresh(environments: PanelEnvironments, learner: str, replicate: int) -> tabular.TabularLearner:
    """A learner at its initial table."""
    panel, mdp = environments.panel, environments.training.mdp
    gamma, radius = discounts(panel, learner)
    problem = Problem.of(
        mdp,
        Contamination(radius),
        gamma=gamma,
        step_size=constant(panel.alpha),
        initial=initial_table(environments, replicate, panel.gamma),
    )
    return tabular.TabularLearner(tabular.Q_LEARNING, problem)


class Recorded(Protocol):
    """A walk that can be recorded."""

    def record(self, n: int) -> Recording:
        """The next n transitions."""


def learn_tables(
    environments: PanelEnvironments, replicate: int, times: list[int], *, walk: Recorded | None = None
) -> Floats:
    """The tables (learners, times, S, A) of all learners on one walk, which is walked once."""
    made = [fresh(environments, learner, replicate) for learner in LEARNERS]
    walk = environments.walk(replicate) if walk is None else walk
    result = np.empty((len(made), len(times), *environments.training.mdp.cost.shape))
    for place, (start, end) in enumerate(pairwise([0, *times])):
        recording = walk.record(end - start)
        if environments.interpretation.reward == "landing":
            recording = paid_on_landing(environments, recording)
        elif environments.pays_as_it_moves:
            recording = replace(recording, a=recording.a // 2, a_next=recording.a_next // 2)
        for table, learner in zip(result, made, strict=True):
            learner.update_many(recording)
            table[place] = learner.table
    return result


def paid_on_landing(environments: PanelEnvironments, recording: Recording) -> Recording:
    """The recording with costs by the next state: FrozenLake pays at the goal, CartPole wherever the pole stands."""
    ends, last = environments.training.terminal, environments.training.mdp.n_states - 1
    lake = environments.panel.figure == "frozenlake"
    paid = recording.s_next == last if lake else ~ends[recording.s_next]
    cost = np.where(paid & ~ends[recording.s], -1.0, 0.0)
    return replace(recording, cost=cost)


def policies(environments: PanelEnvironments, runs: int, times: list[int]) -> dict[str, Ints]:
    """The greedy policies (runs, times, S) of every learner."""
    ties = environments.interpretation.ties
    chosen = np.stack([evaluation.greedy(learn_tables(environments, run, times), ties) for run in range(runs)], axis=1)
    return dict(zip(LEARNERS, chosen, strict=True))


def experiment(panel: Panel, interpretation: Interpretation, runs: int) -> PanelRun:
    """A Q-learning panel under an interpretation."""
    environments = control_environments(panel, interpretation)
    mdp, test = environments.training.mdp, environments.test
    times = checkpoints(interpretation.visits * mdp.n_states * mdp.n_actions)
    chosen = policies(environments, runs, times)
    curves = dict(zip(LEARNERS, evaluation.rewards(test, np.stack(list(chosen.values()))), strict=True))
    controls = anchors(environments)
    scale = controls["optimum"] - max(controls["uniform policy"], controls["best constant action"])
    claims, scores = judge_claims(curves, scale)
    same = (chosen["robust"] == chosen["shorter horizon"])[..., ~test.terminal].all(axis=(1, 2))
    plotted: dict[str, Any] = {}
    if interpretation == DEFAULT:
        plotted = {
            "monte_carlo": monte_carlo(environments, chosen, curves),
            "times": tuple(times),
            "curves": {learner: envelope(curves[learner][:PLOTTED]) for learner in LEARNERS},
        }
    return panel_run(
        panel,
        interpretation,
        claims,
        steps=times[-1],
        values={learner: float(plateau(curves[learner]).mean()) for learner in LEARNERS} | controls,
        limits=limits(environments),
        equal_to_shorter_horizon=int(same.sum()),
        scores=tuple(scores.tolist()),
        **plotted,
    )


def judge_claims(curves: dict[str, Floats], scale: float) -> tuple[tuple[Claim, ...], Floats]:
    """The claims of a Q-learning panel from the rewards (runs, times) of every learner, and the first one's scores."""
    robust, vanilla, shorter = (plateau(curves[learner]) for learner in LEARNERS)
    scores = (robust - vanilla) / scale
    whole = (curves["robust"] - curves["vanilla"]).mean(axis=1) / scale
    claims = (
        judge("robust earns much more than vanilla", scores, MUCH_REWARD),
        judge("over the whole curve, not its second half", whole, MUCH_REWARD),
        judge("robust runs vary much less", spread_scores(robust, vanilla), MUCH_SPREAD),
        judge("robust earns more than vanilla at discount gamma(1−R)", (robust - shorter) / scale, 0.0),
    )
    return claims, scores


def anchors(environments: PanelEnvironments) -> dict[str, float]:
    """Exact rewards on the test MDP that need no learning."""
    test = environments.test
    best, _ = evaluation.limit_table(test.mdp, 0.0, None)
    action, constant_reward = evaluation.best_constant(test)
    return {
        "optimum": float(evaluation.rewards(test, evaluation.greedy(best, "first"))),
        "best constant action": constant_reward,
        "that action": float(action),
        "uniform policy": evaluation.uniform_reward(test),
    }


def limits(environments: PanelEnvironments) -> dict[str, tuple[float, float]]:
    """Exact rewards of the policies to which the learners converge as alpha → 0, by planning on the training MDP.

    Two numbers: the first and the last of actions that the enclosures cannot tell apart.
    """
    result = {}
    for learner in LEARNERS[:2]:
        _gamma, radius = discounts(environments.panel, learner)
        mdp = environments.training.mdp
        inner = environments.interpretation.worst == "inner"
        Q, error = evaluation.limit_table(mdp, radius, environments.ends, inner=inner)
        tied = np.where(Q.min(axis=1, keepdims=True) + 2.0 * error >= Q, 0.0, 1.0)
        first, last = (
            float(evaluation.rewards(environments.test, evaluation.greedy(tied, ties))) for ties in ("first", "last")
        )
        result[learner] = first, last
    return result


def monte_carlo(
    environments: PanelEnvironments, chosen: dict[str, Ints], curves: dict[str, Floats]
) -> dict[str, Sampled]:
    """The paper's thirty trajectories of the last policy of every plotted run, against the exact value.

    The error of the mean over runs, divided by its standard error, should look like one standard normal number.
    """
    result = {}
    for learner in LEARNERS[:2]:
        last = chosen[learner][:PLOTTED, -1]
        sampled = evaluation.monte_carlo(environments.test, last, streams.key("monte carlo", environments.panel.id))
        error = sampled.mean(axis=1) - curves[learner][:PLOTTED, -1]
        noise = float(np.sqrt((sampled.var(axis=1, ddof=1) / sampled.shape[1]).sum()))
        result[learner] = Sampled(
            mean=float(sampled.mean()),
            exact=float(curves[learner][:PLOTTED, -1].mean()),
            standardised_error=float(error.sum()) / noise if noise > 0.0 else 0.0,
        )
    return result
