"""CartPole with its own equations (interpretation `real-dynamics`): what the grid of cells does to Figure 2.

The other interpretations replace CartPole by a Markov model of its cells. Here the cart and the pole move by
Gymnasium's equations in training and in the test, and only the learners see cells, so that what they see is not
Markov. A jump ends at a point drawn in a cell drawn uniformly. The test is by Monte Carlo, thirty starts for every
run, the same for all learners; rewards are measured from the best constant action or the uniform policy up to never
falling.
"""

import numpy as np

from benchmarks.experiments import control, evaluation
from benchmarks.experiments.curves import checkpoints, plateau
from benchmarks.experiments.interpretations import Interpretation
from benchmarks.experiments.panel_environments import LIMITS, START, PanelEnvironments, control_environments
from benchmarks.experiments.paper import Panel
from benchmarks.experiments.records import LEARNERS, PanelRun, panel_run
from robust_core import streams
from robust_core.trajectory import Recording
from robust_core.validate import Floats, Ints


class PoleWalk:
    """The training walk: CartPole itself under the uniform policy, seen through its cells, with jumps."""

    def __init__(self, environments: PanelEnvironments, replicate: int) -> None:
        from benchmarks.experiments.pole_kernels import reset

        self.counts, self.p = np.array(environments.interpretation.bins), environments.panel.p
        self.rng = streams.numpy_generator(
            streams.key("real pole", self.p, environments.interpretation.bins, replicate)
        )
        self.state = np.zeros(4)
        reset(self.state, self.rng)

    def record(self, n: int) -> Recording:
        """The next n transitions; Q-learning does not look at the next action, so none is recorded."""
        from benchmarks.experiments.pole_kernels import walk

        s, a, s_next = (np.zeros(n, dtype=np.int64) for _ in range(3))
        cost, terminal = np.zeros(n), np.zeros(n, dtype=np.bool_)
        walk(self.state, LIMITS, self.counts, self.p, self.rng, s, a, cost, s_next, terminal)
        return Recording(s, a, cost, s_next, np.zeros(n, dtype=np.int64), terminal)


def starts(replicate: int) -> Floats:
    """The thirty starts of a run."""
    rng = streams.numpy_generator(streams.key("real pole", "starts", replicate))
    return START * (2.0 * rng.random((evaluation.TRAJECTORIES, 4)) - 1.0)


def rewards(environments: PanelEnvironments, policies: Ints, replicate: int) -> Floats:
    """The mean reward of policies (…, S) from the thirty starts of a run, shaped like the policies."""
    from benchmarks.experiments.pole_kernels import returns

    flat = np.ascontiguousarray(policies.reshape(-1, policies.shape[-1]))
    counts, gamma = np.array(environments.interpretation.bins), environments.panel.gamma
    found = returns(flat, starts(replicate), LIMITS, counts, gamma, evaluation.HORIZON)
    return found.mean(axis=1).reshape(policies.shape[:-1])


def anchors(environments: PanelEnvironments, runs: int) -> dict[str, float]:
    """Rewards that need no learning: never falling (exact), the best constant action and the uniform policy."""
    S, gamma = environments.test.mdp.n_states, environments.panel.gamma
    constant = np.repeat(np.arange(2)[:, None], S, axis=1)
    by_action = np.mean([rewards(environments, constant, run) for run in range(runs)], axis=0)
    return {
        "never falling": (1.0 - gamma**evaluation.HORIZON) / (1.0 - gamma),
        "best constant action": float(by_action.max()),
        "uniform policy": uniform_reward(environments, runs),
    }


def uniform_reward(environments: PanelEnvironments, runs: int) -> float:
    """The mean reward of the uniform policy, in as many episodes as there are runs and starts."""
    walk = PoleWalk(environments, 0)
    walk.p = 0.0
    gains: list[float] = []
    while len(gains) < runs * evaluation.TRAJECTORIES:
        recording = walk.record(evaluation.HORIZON * 100)
        ends = np.flatnonzero(recording.terminal)
        lengths = np.diff(np.concatenate(([-1], ends))) - 1  # the step that falls earns nothing
        gains += [float(1.0 - environments.panel.gamma ** min(n, evaluation.HORIZON)) for n in lengths]
    return float(np.mean(gains)) / (1.0 - environments.panel.gamma)


def experiment(panel: Panel, interpretation: Interpretation, runs: int) -> PanelRun:
    """A CartPole panel under its own equations."""
    environments = control_environments(panel, interpretation)
    times = checkpoints(interpretation.visits * environments.training.mdp.cost.size)
    chosen = np.stack(
        [
            evaluation.greedy(
                control.learn_tables(environments, run, times, walk=PoleWalk(environments, run)), interpretation.ties
            )
            for run in range(runs)
        ],
        axis=1,
    )
    gains = np.stack([rewards(environments, chosen[:, run], run) for run in range(runs)], axis=1)
    curves = dict(zip(LEARNERS, gains, strict=True))
    controls = anchors(environments, runs)
    scale = controls["never falling"] - max(controls["uniform policy"], controls["best constant action"])
    claims, scores = control.judge_claims(curves, scale)
    ends = environments.test.terminal
    same = (chosen[0] == chosen[2])[..., ~ends].all(axis=(1, 2))
    return panel_run(
        panel,
        interpretation,
        claims,
        steps=times[-1],
        values={learner: float(plateau(curve).mean()) for learner, curve in curves.items()} | controls,
        equal_to_shorter_horizon=int(same.sum()),
        scores=tuple(scores.tolist()),
    )
