"""Robust Q-learning against RARL on Taxi (Figure 4), tested where each step may end in the worst state."""

from typing import Any

import numpy as np

from benchmarks.experiments import control, evaluation
from benchmarks.experiments.curves import CHECKPOINTS, checkpoints, envelope, plateau
from benchmarks.experiments.interpretations import DEFAULT, Interpretation
from benchmarks.experiments.learners.rarl import BestResponse, Rarl, Schedule, snapshots
from benchmarks.experiments.outcome import judge, spread_scores
from benchmarks.experiments.panel_environments import PanelEnvironments, environment
from benchmarks.experiments.paper import Panel
from benchmarks.experiments.records import RARL_LEARNERS, PanelRun, panel_run
from robust_core import streams
from robust_core.environments import perturb
from robust_core.validate import Floats, Ints


def environments_of(panel: Panel, interpretation: Interpretation) -> PanelEnvironments:
    """Robust Q-learning's training MDP (unperturbed by default) and the test MDP before the worst case."""
    raw = environment(panel, interpretation, "episodic")
    training = perturb(raw, panel.p) if interpretation.training == "perturbed" else raw
    return PanelEnvironments(
        panel, interpretation, training, environment(panel, interpretation, "continuing"), raw.terminal
    )


def best_response(environments: PanelEnvironments) -> BestResponse:
    """The adversary's exact answer to a policy of the agent: the state that is worst for it over the horizon."""

    def answer(agent: Ints) -> int:
        (V,) = evaluation.state_values(environments.test, agent[None], p=environments.panel.radius)
        return int(V.argmax())

    return answer


def schedule_of(environments: PanelEnvironments) -> Schedule:
    """25 iterations; the agent's steps as in the other panels, the adversary's a multiple of them."""
    S, A = environments.test.mdp.cost.shape
    steps = environments.interpretation.visits * S * A // CHECKPOINTS
    return Schedule(CHECKPOINTS, steps, steps * environments.interpretation.adversary_steps)


def tables(environments: PanelEnvironments, replicate: int) -> Floats:
    """The tables (learners, iterations, S, A) of all learners."""
    schedule = schedule_of(environments)
    panel = environments.panel
    raw = environment(panel, environments.interpretation, "episodic")
    exact = best_response(environments) if environments.interpretation.adversary == "exact" else None
    seed = streams.key("panels", "rarl", replicate)
    rarl = snapshots(Rarl(raw, panel.radius, panel.alpha, seed, exact), schedule)
    per_iteration = schedule.agent_steps
    if environments.interpretation.samples == "total":
        per_iteration += schedule.adversary_steps
    times = checkpoints(per_iteration * CHECKPOINTS)
    robust, vanilla, shorter = control.learn_tables(environments, replicate, times)
    return np.stack([robust, rarl, vanilla, shorter])


def worst_case_rewards(environments: PanelEnvironments, learned: Floats) -> Floats:
    """The exact reward (learners, iterations) in the worst-case test of the greedy policies."""
    policies = evaluation.greedy(learned, environments.interpretation.ties)
    worst = None
    if environments.interpretation.test_state == "own":
        V = learned.min(axis=-1)
        V[..., environments.test.terminal] = 0.0
        worst = V.argmax(axis=-1)
    return evaluation.rewards(environments.test, policies, p=environments.panel.p, worst=worst)


def experiment(panel: Panel, interpretation: Interpretation, runs: int) -> PanelRun:
    """A RARL panel under an interpretation."""
    environments = environments_of(panel, interpretation)
    stacked = np.stack([worst_case_rewards(environments, tables(environments, run)) for run in range(runs)], axis=1)
    curves = dict(zip(RARL_LEARNERS, stacked, strict=True))
    controls = anchors(environments)
    scale = controls["optimum"] - controls["best constant action"]
    ends = {learner: plateau(curve) for learner, curve in curves.items()}
    whole = (curves["robust"] - curves["rarl"]).mean(axis=1) / scale
    shorter = (ends["robust"] - ends["shorter horizon"]) / scale
    scores = (ends["robust"] - ends["rarl"]) / scale
    claims = (
        judge("robust earns more than RARL in the worst-case test", scores, 0.0),
        judge("over all iterations, not their second half", whole, 0.0),
        judge("robust runs vary less", spread_scores(ends["robust"], ends["rarl"]), 0.0),
        judge("robust earns more than vanilla", (ends["robust"] - ends["vanilla"]) / scale, 0.0),
        judge("robust earns more than vanilla at discount gamma(1−R)", shorter, 0.0),
    )
    plotted: dict[str, Any] = {}
    if interpretation == DEFAULT:
        shown = {learner: envelope(curve[: control.PLOTTED]) for learner, curve in curves.items()}
        plotted = {"times": tuple(range(1, CHECKPOINTS + 1)), "curves": shown}
    return panel_run(
        panel,
        interpretation,
        claims,
        steps=schedule_of(environments).agent_steps * CHECKPOINTS,
        values={learner: float(end.mean()) for learner, end in ends.items()} | controls,
        scores=tuple(scores.tolist()),
        **plotted,
    )


def anchors(environments: PanelEnvironments) -> dict[str, float]:
    """Exact worst-case rewards that need no learning: the robust optimum at radius p, the best constant action."""
    test, p = environments.test, environments.panel.p
    raw = environment(environments.panel, environments.interpretation, "episodic")
    best, _ = evaluation.limit_table(raw.mdp, p, raw.terminal)
    A, S = test.mdp.n_actions, test.mdp.n_states
    everywhere = np.repeat(np.arange(A)[:, None], S, axis=1)
    return {
        "optimum": float(evaluation.rewards(test, evaluation.greedy(best, "first")[None], p=p)[0]),
        "best constant action": float(evaluation.rewards(test, everywhere, p=p).max()),
    }
