"""Theorem 5 for linear evaluation: where a learner ends (`limit`), and how fast ∇J and the tracking error fall.

The rate cells ask for the conclusion of the theorem, E‖∇J(theta_W)‖² = O(log T/√T) for alpha, beta ∝ 1/√T, and for the
tracking error beside it, at T and 16T on a planted problem (J(theta*) = 0), where both averages fall by 4 up to the
logarithm. W is never drawn: the average over the trajectory has the same mean and far less variance; it is taken over
`CHECKPOINTS` equidistant times with a random offset, which is unbiased for the average over all times.

The level counts beside the ratio: an average beyond its start is taken as the start, and at 16T at most the share
`REMAINING` of the start may be left. An upper bound can be met by a wrong algorithm, and where J(theta*) = 0 by many:
the rate says nothing about the limit.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial

import numpy as np

from oracles.bounds.tdc import BesselBounds, CorrectedConstants
from oracles.bounds.tdc_rate import Steps, largest_alpha, tdc_bound
from oracles.chains.mixing import geometric_ergodicity
from properties.cases.planted_problems import PlantedProblem
from properties.statistics import intervals
from properties.statistics.law import Cell, Size, StatisticalLaw, bernoulli_plan, once
from properties.statistics.laws import limit
from properties.statistics.laws.linear import RIGHT, WRONG, advance, smoothing
from properties.statistics.laws.tabular import make_learner
from properties.statistics.records import Interval
from robust_core import Contamination, LogSumExp, Mellowmax, constant, models
from robust_core.problem import Problem, Variant
from robust_core.smoothing import Smoothing
from robust_core.streams import draw, generator_state, key
from robust_core.trajectory import Walk
from robust_core.validate import Floats

HORIZON = {"quick": 256, "full": 16384}
FACTOR = 16
TOLERANCE = 0.2
RATE_BOUND = FACTOR ** -(0.5 - TOLERANCE)
CHECKPOINTS = 64
RADIUS, VARRHO, K = 0.25, 4.0, 4.0
STEP, SECOND_STEP = 8.0, 8.0
"""alpha = STEP/√T and beta = SECOND_STEP/√T."""
REMAINING = 0.0625
"""The share of the start that may be left on average over 16T steps."""
GRADIENT_T, GRADIENT_END, TRACKING_T, TRACKING_END = 0, 1, 2, 3


class Planted(PlantedProblem):
    """The planted problem of the law, with ∇J and omega for many theta at once."""

    def __init__(self, smoothing: Smoothing, radius: float) -> None:
        model = models.garnet(4, 2, 3, gamma=0.5, seed=key("statistics", "planted"))
        super().__init__(model, radius, smoothing, projection=K)
        self._prepare()

    def _prepare(self) -> None:
        Phi, mu = self.features, self.oracle.mu
        self.P_pi = np.einsum("sa,sat->st", self.policy, self.mdp.P)
        self.c_pi = (self.policy * self.mdp.cost).sum(axis=1)
        self.weighted = Phi * mu[:, None]
        self.C = Phi.T @ self.weighted
        b = self.mdp.gamma * (1.0 - self.radius)
        self.M_0 = b * (self.P_pi @ Phi).T @ self.weighted - self.C
        self.m = self.weighted.sum(axis=0)

    def omega(self, thetas: Floats) -> tuple[Floats, Floats]:
        """omega(theta) and g(theta), one row per theta."""
        V = thetas @ self.features.T
        top = V.max(axis=1, keepdims=True)
        weights = np.exp(VARRHO * (V - top))
        total = weights.sum(axis=1, keepdims=True)
        smooth = top + np.log(total) / VARRHO - self.shift
        gamma = self.mdp.gamma
        residual = self.c_pi + gamma * (1.0 - self.radius) * V @ self.P_pi.T + gamma * self.radius * smooth - V
        return np.linalg.solve(self.C, (residual @ self.weighted).T).T, weights / total @ self.features

    def gradient(self, thetas: Floats) -> Floats:
        """∇J = 2 M omega, one row per theta."""
        omega, g = self.omega(thetas)
        rank_one = self.mdp.gamma * self.radius * g * (omega @ self.m)[:, None]
        return np.asarray(2.0 * (omega @ self.M_0.T + rank_one))

    def problem_of(self, steps: int) -> Problem:
        """Algorithm 2 with steps of the order 1/√T, started away from theta*."""
        alpha, beta = (constant(min(1.0, step / np.sqrt(steps))) for step in (STEP, SECOND_STEP))
        return self.problem(alpha, beta)

    @property
    def start(self) -> float:
        """‖∇J(theta_0)‖²."""
        return float((self.gradient(self.theta_0[None, :]) ** 2).sum())

    @property
    def tracking_start(self) -> float:
        """‖0 − omega(theta_0)‖²."""
        return float((self.omega(self.theta_0[None, :])[0] ** 2).sum())


@cache
def planted_problem(word: str = "lse", radius: float = RADIUS) -> Planted:
    """The planted problem, built once; `word` is the smoothing."""
    return Planted(Mellowmax(VARRHO) if word == "mellowmax" else LogSumExp(VARRHO), radius)


def planted_problem_for(variant: Variant) -> Planted:
    """The planted problem that a variant is meant to meet: with its smoothing and a radius it is for."""
    radii = variant.options.get("radii", (RADIUS,))
    return planted_problem(smoothing(variant), RADIUS if RADIUS in radii else radii[0])


def averages(variant: Variant, seed: bytes, steps: int) -> tuple[float, float]:
    """The averages of ‖∇J(theta_t)‖² and of ‖omega_t − omega(theta_t)‖² over a trajectory, over their starts."""
    problem = planted_problem_for(variant)
    walk = Walk(problem.mdp, problem.policy, seed=seed, table=problem.table)
    learner = make_learner(variant, problem.problem_of(steps), seed)
    gap = steps // CHECKPOINTS
    offset = draw(generator_state(seed + b"offset")) % gap
    thetas, omegas = [], []
    for place in range(CHECKPOINTS):
        advance(learner, walk, offset if place == 0 else gap)
        theta, omega = learner.estimate()
        thetas.append(theta)
        omegas.append(omega)
    visited = np.array(thetas)
    tracking = ((np.array(omegas) - problem.omega(visited)[0]) ** 2).sum(axis=1).mean()
    gradient = (problem.gradient(visited) ** 2).sum(axis=1).mean()
    return float(gradient / problem.start), float(tracking / problem.tracking_start)


def _sampler(variant: Variant, horizon: int) -> Callable[[bytes], Floats]:
    def sample(seed: bytes) -> Floats:
        short, long = (averages(variant, seed + word, T) for word, T in ((b"T", horizon), (b"16T", FACTOR * horizon)))
        return np.array([short[0], long[0], short[1], long[1]])

    return sample


def _exponent(early: int, late: int, rows: Floats) -> Mapping[str, Interval]:
    return {
        "median exponent in T": intervals.median(np.log(rows[:, early] / rows[:, late]) / np.log(FACTOR)),
        "median share left": intervals.median(rows[:, late]),
    }


def _not_falling(early: int, late: int, rows: Floats) -> Floats:
    """1 where an average does not fall as it must, is too large at the end, or is NaN.

    Both are shares of the start; at T no more than the whole of it counts.
    """
    before, after = rows[:, early], rows[:, late]
    falls = (after <= RATE_BOUND * np.minimum(before, 1.0)) & (after <= REMAINING)
    return (~falls).astype(float)


def _rate_cells(variant: Variant, size: Size) -> list[Cell]:
    horizon = HORIZON[size]
    sample = once(lambda: _sampler(variant, horizon))
    return [
        Cell(
            f"stationary/{word}/planted/T={horizon}",
            bernoulli_plan(0.5, 0.8),
            sample,
            partial(_not_falling, early, late),
            (planted_problem_for(variant).mdp.hash, horizon),
            measure=partial(_exponent, early, late),
            kind=word,
            variant=variant.name,
            stream=f"stationary/rate/planted/T={horizon}",
        )
        for word, early, late in (("gradient", GRADIENT_T, GRADIENT_END), ("tracking", TRACKING_T, TRACKING_END))
    ]


def cells(variant: Variant, size: Size) -> list[Cell]:
    """The limits, those without chance first, then the rates of the gradient and of the tracking error."""
    return limit.cells(variant, size) + _rate_cells(variant, size)


def _constants() -> CorrectedConstants:
    problem = planted_problem()
    return CorrectedConstants(
        float(abs(problem.mdp.cost).max()),
        gamma=problem.mdp.gamma,
        radius=RADIUS,
        n_states=4,
        varrho=VARRHO,
        K=K,
        lam=float(problem.oracle.floor),
    )


def admissible(steps: int) -> tuple[float, float]:
    """(alpha, beta): the largest steps up to those tested for which the amended Theorem 5 is proved."""
    c = _constants()
    beta = float(min(planted_problem().oracle.floor / 3.0, SECOND_STEP / np.sqrt(steps)))
    return float(min(largest_alpha(c, beta), STEP / np.sqrt(steps))), beta


def explicit_bound(steps: int) -> tuple[float, float]:
    """(the explicit bound on E‖∇J(theta_W)‖², the bound that holds on every path) for the largest admissible alpha.

    Where the first exceeds the second, the printed theorem says nothing that needs a sample.
    """
    problem, c = planted_problem(), _constants()
    alpha, beta = admissible(steps)
    bessel = BesselBounds(c)
    ergodicity = geometric_ergodicity(problem.oracle.chain)
    plan = Steps(alpha=alpha, beta=beta, T=steps, m=ergodicity.m, rho=ergodicity.rho)
    J_0 = float(problem.oracle.J(problem.problem_of(steps).initial).value)
    z_0 = float(np.linalg.norm(problem.omega(problem.problem_of(steps).initial[None, :])[0]))
    return tdc_bound(c, plan, z_0, J_0), bessel.gradient(bessel.J) ** 2


LAW = StatisticalLaw(
    "stationarity of TDC",
    ("linear evaluation",),
    "stationary",
    "theta and omega go to the stationary point of J and to omega(theta) there, at no less than a tenth of the pace of "
    "Algorithm 2; E‖∇J(θ_W)‖² and the average tracking error fall like log T/√T for α, β ∝ 1/√T (Theorem 5)",
    "no run without chance ends outside the allowance; P(average over the second half outside the allowance) ≤ 1/2; "
    "P(average over 16T > 16^-0.3 x average over T, or > 1/16 of the start) ≤ 1/2",
    cells,
    RIGHT,
    WRONG,
    claims=("thm5", "tdcbound", "tracking"),
    sets=(Contamination,),
    purposes={
        "limit, cycle": "without chance, so any wrong limit shows in one run; its ball is not active",
        "limit, two features": "as the cycle, with components that can be mixed up; its ball is not active",
        "limit, edge of the ball": "the only cell with an active ball",
        "limit, noisy": "the only limit with noise, which biases some steps; its ball is not active",
        "gradient": "the rate of Theorem 5: a learner that does not move or does not settle fails; "
        "where J(θ*) = 0 wrong limits pass",
        "tracking": "the rate of the second time scale: omega must follow theta; it does not test the limit",
    },
    models=lambda variant: [planted_problem_for(variant).mdp, *(each.mdp for each in limit.limit_problems(variant))],
)
