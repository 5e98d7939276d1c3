"""Robust against vanilla TDC on FrozenLake (Figure 3): ‖∇J(theta_t)‖² on the unperturbed MDP along the runs."""

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.experiments.curves import checkpoints, envelope, plateau
from benchmarks.experiments.interpretations import DEFAULT, Interpretation
from benchmarks.experiments.outcome import MUCH_GRADIENT, MUCH_SPREAD, judge, spread_scores
from benchmarks.experiments.panel_environments import PanelEnvironments, environment
from benchmarks.experiments.paper import Panel
from benchmarks.experiments.records import LEARNERS, PanelRun, Stability, panel_run
from oracles.linear.msprbe import MSPRBE
from robust_core import streams
from robust_core.environments import perturb
from robust_core.learners import linear
from robust_core.learners.schedules import constant
from robust_core.mdp import MDP
from robust_core.policy import uniform
from robust_core.problem import Problem
from robust_core.sets import Contamination
from robust_core.smoothing import LogSumExp
from robust_core.validate import Floats

N_FEATURES = 5
PLOTTED = 30


def environments_of(panel: Panel, interpretation: Interpretation) -> PanelEnvironments:
    """Training on the perturbed, test on the unperturbed MDP; a terminal state leads to the start in both.

    J needs a chain with one stationary distribution, which absorbing terminal states do not give.
    """
    raw = environment(panel, interpretation, "episodic")
    if interpretation.sign == "reward as cost":
        raw = replace(raw, mdp=MDP(raw.mdp.kernel, -raw.mdp.cost, raw.mdp.gamma))
    return PanelEnvironments(panel, interpretation, perturb(raw, panel.p), raw, None)


def features(environments: PanelEnvironments, replicate: int) -> Floats:
    """phi_s: five numbers drawn from (0, 1) for every state; 0 in a terminal state whose value is 0 by decree."""
    draw = environments.interpretation.features
    seed = streams.key("features", "run" if draw is None else "draw", replicate if draw is None else draw)
    phi = streams.numpy_generator(seed).random((environments.test.mdp.n_states, N_FEATURES))
    if environments.interpretation.tdc_terminal == "episodic":
        phi[environments.test.terminal] = 0.0
    return phi


def radius_and_discount(panel: Panel, learner: str) -> tuple[float, float]:
    """(R, gamma) of a learner; the control has R = 0 and the discount gamma(1−R)."""
    if learner == "robust":
        return panel.radius, panel.gamma
    return 0.0, panel.gamma if learner == "vanilla" else panel.gamma * (1.0 - panel.radius)


def trajectory(environments: PanelEnvironments, learner: str, replicate: int, times: list[int]) -> Floats:
    """theta at the given times (len(times), 5); infinite after a run has left the range of floats."""
    panel, mdp, interpretation = environments.panel, environments.training.mdp, environments.interpretation
    radius, gamma = radius_and_discount(panel, learner)
    assert panel.beta is not None
    problem = Problem.of(
        mdp,
        Contamination(radius),
        gamma=gamma,
        step_size=constant(panel.alpha * interpretation.step_scale),
        second_step_size=constant(panel.beta * interpretation.step_scale),
        initial=np.ones(N_FEATURES) if interpretation.sign != "reward" else -np.ones(N_FEATURES),
        features=features(environments, replicate),
        smoothing=LogSumExp(interpretation.varrho),
        projection=interpretation.projection,
    )
    made, walk = linear.LinearLearner("TDC", problem), environments.walk(replicate)
    result = np.full((len(times), N_FEATURES), np.inf)
    try:
        for place, time in enumerate(times):
            linear.learn(made, walk, time - made.t)
            result[place] = made.theta
    except OverflowError:
        pass
    return result


class Gradient:
    """‖∇J‖² for many theta at once, on the law mu and the chain of the oracle (which checks it in the tests)."""

    def __init__(self, problem: MSPRBE) -> None:
        self.problem = problem
        phi = problem.features
        self.weighted = problem.mu[:, None] * phi
        self.C = problem.C.value
        self.cost = (problem.policy * problem.mdp.cost).sum(axis=1)
        self.successor = (problem.chain.kernel @ phi).T @ self.weighted
        self.mean_phi = self.weighted.sum(axis=0)

    def squared_norm(self, theta: Floats) -> Floats:
        """‖∇J(theta)‖² of thetas (n, N); infinite where theta is."""
        finite = np.isfinite(theta).all(axis=1)
        result = np.full(len(theta), np.inf)
        with np.errstate(over="ignore"):
            result[finite] = (self.gradient(theta[finite]) ** 2).sum(axis=1)
        return result

    def gradient(self, theta: Floats) -> Floats:
        """∇J = 2 M omega, M = gamma(1−R) E[phi_{S'} phi_Sᵀ] + gamma R g E[phi]ᵀ − C, g = Phiᵀ softmax(varrho V)."""
        problem = self.problem
        gamma, R, varrho, phi = problem.mdp.gamma, problem.radius, problem.varrho, problem.features
        V = theta @ phi.T
        top = V.max(axis=1, keepdims=True)
        weights = np.exp(varrho * (V - top))
        total = weights.sum(axis=1, keepdims=True)
        smooth = top + np.log(total) / varrho
        residual = self.cost + gamma * (1.0 - R) * (V @ problem.chain.kernel.T) + gamma * R * smooth - V
        omega = np.linalg.solve(self.C, (residual @ self.weighted).T).T
        g = (weights / total) @ phi
        common = gamma * (1.0 - R) * (omega @ self.successor.T) - omega @ self.C
        return 2.0 * (common + gamma * R * g * (omega @ self.mean_phi)[:, None])


def objective(environments: PanelEnvironments, learner: str, replicate: int) -> Gradient:
    """The J by which a learner is measured under the interpretation."""
    mdp, choice = environments.test.mdp, environments.interpretation.gradient
    robust = choice == "robust" or (choice == "own" and learner == "robust")
    radius = environments.panel.radius if robust else 0.0
    policy = uniform(mdp.n_states, mdp.n_actions)
    phi = features(environments, replicate)
    return Gradient(MSPRBE(mdp, policy, phi, radius=radius, varrho=environments.interpretation.varrho))


def curves_of(environments: PanelEnvironments, learner: str, runs: int, times: list[int]) -> Floats:
    """‖∇J(theta_t)‖² of every run (runs, times)."""
    thetas = np.stack([trajectory(environments, learner, replicate, times) for replicate in range(runs)])
    if environments.interpretation.features is not None:
        flat = objective(environments, learner, 0).squared_norm(thetas.reshape(-1, N_FEATURES))
        return flat.reshape(runs, len(times))
    return np.stack([objective(environments, learner, i).squared_norm(theta) for i, theta in enumerate(thetas)])


def experiment(panel: Panel, interpretation: Interpretation, runs: int) -> PanelRun:
    """A TDC panel under an interpretation."""
    environments = environments_of(panel, interpretation)
    times = checkpoints(interpretation.tdc_visits * environments.test.mdp.n_states)
    curves = {learner: curves_of(environments, learner, runs, times) for learner in LEARNERS}
    logs = {learner: np.log10(np.minimum(curve.mean(axis=1), CEILING)) for learner, curve in curves.items()}
    ends = {learner: np.minimum(plateau(curve), CEILING) for learner, curve in curves.items()}
    gain = logs["vanilla"] - logs["robust"]
    claims = (
        judge("robust's squared gradient is much smaller over the run", gain, MUCH_GRADIENT),
        judge("at the plateau", np.log10(ends["vanilla"]) - np.log10(ends["robust"]), MUCH_GRADIENT),
        judge("robust runs vary much less", spread_scores(ends["robust"], ends["vanilla"]), MUCH_SPREAD),
        judge("smaller than that of vanilla at discount gamma(1−R)", logs["shorter horizon"] - logs["robust"], 0.0),
    )
    plotted: dict[str, Any] = {}
    if interpretation == DEFAULT:
        shown = {learner: np.minimum(curve[:PLOTTED], CEILING) for learner, curve in curves.items()}
        plotted = {"times": tuple(times), "curves": {learner: envelope(curve) for learner, curve in shown.items()}}
    return panel_run(
        panel,
        interpretation,
        claims,
        steps=times[-1],
        values={learner: float(np.median(ends[learner])) for learner in LEARNERS},
        diverged={learner: int((curve[:, -1] > DIVERGED).sum()) for learner, curve in curves.items()},
        stability=stability(environments),
        scores=tuple(gain.tolist()),
        **plotted,
    )


CEILING = 1e300
"""What stands for a squared gradient beyond float64, so that records hold numbers."""
DIVERGED = 1e6
"""A squared gradient that counts as divergence: theta_0 has about 1, costs are at most 1."""


def stability(environments: PanelEnvironments) -> Stability:
    """Why a run may diverge: beta max‖phi‖², the smallest eigenvalue of C, and how stable the average recursion is.

    Far out the smooth maximum is V at one state s*, and the average of (theta, omega) follows a linear recursion; the
    largest real part of its matrix over all s* must be negative, and large enough to outweigh the noise of the steps.
    """
    panel, mdp, phi = environments.panel, environments.training.mdp, features(environments, 0)
    assert panel.beta is not None
    policy = uniform(mdp.n_states, mdp.n_actions)
    problem = MSPRBE(mdp, policy, phi, radius=panel.radius, varrho=environments.interpretation.varrho)
    weighted, C = problem.mu[:, None] * phi, problem.C.value
    real_parts = []
    for worst in range(mdp.n_states):
        kernel = (1.0 - panel.radius) * problem.chain.kernel
        kernel[:, worst] += panel.radius
        successor = panel.gamma * (kernel @ phi).T @ weighted
        A = C - successor.T
        matrix = np.block([[-panel.alpha * A, -panel.alpha * successor], [-panel.beta * A, -panel.beta * C]])
        real_parts.append(float(np.linalg.eigvals(matrix).real.max()))
    return Stability(
        beta_max_phi_squared=panel.beta * float((phi**2).sum(axis=1).max()),
        smallest_eigenvalue=float(problem.lam.value),
        largest_real_part=max(real_parts),
        at_state=float(np.argmax(real_parts)),
    )
