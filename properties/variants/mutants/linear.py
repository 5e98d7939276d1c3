"""Wrong robust TDC and GTD2."""

from typing import Any

import numpy as np

from properties.variants.mutants.plain import PlainGTD2, PlainTDC, but
from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats


def _mutant(name: str, make: Any) -> Variant:
    rule = "GTD2" if issubclass(make, PlainGTD2) else "TDC"
    promises = (rule, "projected", "scale", "rotation")
    return Variant(f"{rule} {name}", "linear evaluation", make, (Contamination,), promises)


class _SoftmaxWithoutVarrho(PlainTDC):
    def softmax(self, V: Floats) -> Floats:
        weights = np.exp(V - V.max())
        return weights / weights.sum()


class _AlwaysLogSumExp(PlainTDC):
    """LSE, whatever the problem asks for."""

    def smooth(self, V: Floats) -> float:
        return float(V.max() + np.log(np.exp(self.varrho * (V - V.max())).sum()) / self.varrho)


class _AlwaysMellowmax(PlainTDC):
    def smooth(self, V: Floats) -> float:
        return float(V.max() + np.log(np.exp(self.varrho * (V - V.max())).mean()) / self.varrho)


class _Overflow(PlainTDC):
    """exp(varrho V) without the shift by the maximum."""

    def smooth(self, V: Floats) -> float:
        with np.errstate(over="ignore"):
            total = np.exp(self.varrho * V).sum()
        return float(np.log(total) / self.varrho) if self._lse() else super().smooth(V)

    def _lse(self) -> bool:
        return type(self.problem.smoothing).__name__ == "LogSumExp"


class _LostGamma(PlainTDC):
    """The smooth maximum is not discounted."""

    def delta(self, step: Transition) -> float:
        V = self.phi @ self.theta
        return super().delta(step) + (1.0 - self.gamma) * self.R * self.smooth(V)


class _SwappedWeights(PlainTDC):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.R = 1.0 - self.R


class _NextFeatureInUpdate(PlainTDC):
    """delta phi(s')."""

    def direction(self, step: Transition) -> Floats:
        return self.delta(step) * self.phi[step.s_next] - self.g(step) * self.tracked(step)


class _ThetaFirst(PlainTDC):
    """omega learns from the new theta."""

    def update(self, step: Transition) -> None:
        self.theta = self.projected(self.theta + self.alpha() * self.direction(step))
        self.omega = self.projected(self.omega + self.beta() * self.error(step))
        self.t += 1


class _OmegaFirst(PlainTDC):
    """theta is corrected by the new omega."""

    def update(self, step: Transition) -> None:
        self.omega = self.projected(self.omega + self.beta() * self.error(step))
        self.theta = self.projected(self.theta + self.alpha() * self.direction(step))
        self.t += 1


class _UnprojectedOmega(PlainTDC):
    def update(self, step: Transition) -> None:
        omega = self.omega + self.beta() * self.error(step)
        super().update(step)
        self.omega = omega


class _ProjectedTheNextTime(PlainTDC):
    """The old theta is projected, then the step is made."""

    def update(self, step: Transition) -> None:
        direction, error = self.direction(step), self.error(step)
        self.theta = self.projected(self.theta) + self.alpha() * direction
        self.omega = self.projected(self.omega) + self.beta() * error
        self.t += 1


class _Normalised(PlainTDC):
    """Always scaled to the sphere, inside as well."""

    def projected(self, x: Floats) -> Floats:
        norm = float(np.linalg.norm(x))
        return x * (self.K / norm) if norm > 0.0 and np.isfinite(self.K) else x


class _StaleMaximum(PlainTDC):
    """The smooth maximum is that of the step before."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.cached = super().smooth(self.phi @ self.theta)

    def smooth(self, V: Floats) -> float:
        return self.cached

    def update(self, step: Transition) -> None:
        fresh = super().smooth(self.phi @ self.theta)
        super().update(step)
        self.cached = fresh


class _OmegaStartsAtTheta(PlainTDC):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.omega = self.theta.copy()


class _Float32(PlainTDC):
    def update(self, step: Transition) -> None:
        super().update(step)
        self.theta = self.theta.astype(np.float32).astype(np.float64)


class _Buffer(PlainTDC):
    """estimate() hands out its own arrays."""

    def update(self, step: Transition) -> None:
        direction, error = self.direction(step), self.error(step)
        self.theta[:] = self.projected(self.theta + self.alpha() * direction)
        self.omega[:] = self.projected(self.omega + self.beta() * error)
        self.t += 1

    def estimate(self) -> tuple[Floats, Floats]:
        return self.theta, self.omega


class _FaintDirections(PlainTDC):
    """omega without the directions in which the features have a second moment below 1e-6."""

    def update(self, step: Transition) -> None:
        super().update(step)
        moments, directions = np.linalg.eigh(self.phi.T @ self.phi / len(self.phi))
        kept = directions[:, moments >= 1e-6]
        self.omega = kept @ (kept.T @ self.omega)


class _FaintFeatures(PlainTDC):
    """Features below 1e-6 are taken to be 0."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.phi = np.where(np.abs(self.phi) < 1e-6, 0.0, self.phi)


class _LateRadius(PlainTDC):
    """The radius is lost after the first step."""

    def update(self, step: Transition) -> None:
        super().update(step)
        self.R = 0.0


CORRECTION_SIGN = _mutant(
    "with the sign of the correction",
    but(PlainTDC, direction=lambda self, step: self.delta(step) * self.phi[step.s] + self.g(step) * self.tracked(step)),
)
# Semi-gradient TD.
NO_CORRECTION = _mutant(
    "without a correction", but(PlainTDC, direction=lambda self, step: self.delta(step) * self.phi[step.s])
)
# The correction of vanilla TDC: no gradient of the smooth maximum.
NOMINAL_CORRECTION = _mutant(
    "with the vanilla correction",
    but(PlainTDC, g=lambda self, step: self.gamma * (1.0 - self.R) * self.next_features(step)),
)
CORRECTION_WITHOUT_RADIUS = _mutant(
    "with a correction without R", but(PlainTDC, g=lambda self, step: self.gamma * self.next_features(step))
)
CORRECTION_WITHOUT_GAMMA = _mutant(
    "with a correction without gamma",
    but(PlainTDC, g=lambda self, step: PlainTDC.g(self, step) / self.gamma if self.gamma else PlainTDC.g(self, step)),
)
# The gradient of the maximum for that of LSE.
HARD_GRADIENT = _mutant(
    "with the gradient of the maximum", but(PlainTDC, softmax=lambda self, V: np.eye(len(V))[V.argmax()])
)
SOFTMAX_WITHOUT_VARRHO = _mutant("with a softmax without varrho", _SoftmaxWithoutVarrho)
HARD_MAXIMUM = _mutant("with the maximum", but(PlainTDC, smooth=lambda self, V: float(V.max())))
# log Σ exp(varrho V), not divided by varrho.
SMOOTH_WITHOUT_DIVISION = _mutant(
    "with LSE not divided by varrho",
    but(PlainTDC, smooth=lambda self, V: float(V.max() + np.log(np.exp(self.varrho * (V - V.max())).sum()))),
)
ALWAYS_LOG_SUM_EXP = _mutant("with LSE for mellow-max", _AlwaysLogSumExp)
ALWAYS_MELLOWMAX = _mutant("with mellow-max for LSE", _AlwaysMellowmax)
OVERFLOW = _mutant("that overflows", _Overflow)
# The softmax-weighted mean for the smooth maximum.
BOLTZMANN_MEAN = _mutant("with the softmax mean", but(PlainTDC, smooth=lambda self, V: float(self.softmax(V) @ V)))
LOST_GAMMA = _mutant("with a lost gamma", _LostGamma)
# delta without − V(s).
NO_BASELINE = _mutant(
    "without V(s)",
    but(PlainTDC, delta=lambda self, step: PlainTDC.delta(self, step) + float(self.phi[step.s] @ self.theta)),
)
SWAPPED_WEIGHTS = _mutant("with R and 1−R swapped", _SwappedWeights)
NEXT_FEATURE_IN_UPDATE = _mutant("with phi(s') in the update", _NextFeatureInUpdate)
# phi(s')·omega.
NEXT_FEATURE_TRACKED = _mutant(
    "with phi(s') in the correction",
    but(PlainTDC, tracked=lambda self, step: float(self.phi[step.s_next] @ self.omega)),
)
OMEGA_WITHOUT_DECAY = _mutant(
    "with an omega that only adds", but(PlainTDC, error=lambda self, step: self.delta(step) * self.phi[step.s])
)
OMEGA_SIGN = _mutant("with the sign of omega", but(PlainTDC, error=lambda self, step: -PlainTDC.error(self, step)))
SWAPPED_STEPS = _mutant(
    "with alpha and beta swapped",
    but(PlainTDC, alpha=PlainTDC.beta, beta=PlainTDC.alpha),
)
ONE_STEP_SIZE = _mutant("with one step size", but(PlainTDC, beta=lambda self: self.alpha()))
FIRST_STEP_ONE = _mutant(
    "with steps off by one", but(PlainTDC, alpha=lambda self: self.problem.step_size.at(self.t + 1))
)
THETA_FIRST = _mutant("with theta first", _ThetaFirst)
OMEGA_FIRST = _mutant("with omega first", _OmegaFirst)
UNPROJECTED = _mutant("without projection", but(PlainTDC, projected=lambda self, x: x))
UNPROJECTED_OMEGA = _mutant("without projection of omega", _UnprojectedOmega)
PROJECTED_ON_BOX = _mutant("projected on a box", but(PlainTDC, projected=lambda self, x: np.clip(x, -self.K, self.K)))
PROJECTED_THE_NEXT_TIME = _mutant("projected one step late", _ProjectedTheNextTime)
NORMALISED = _mutant("scaled to the sphere", _Normalised)
TERMINAL_IGNORED = _mutant(
    "that goes on after the end", but(PlainTDC, next_features=lambda self, step: self.phi[step.s_next])
)
# V(s') = 0 at the end, but its gradient is not.
TERMINAL_GRADIENT_IGNORED = _mutant(
    "whose gradient goes on after the end",
    but(PlainTDC, g=lambda self, step: PlainTDC.g(self, step._replace(terminal=False))),
)
STALE_MAXIMUM = _mutant("with the last maximum", _StaleMaximum)
OMEGA_STARTS_AT_THETA = _mutant("whose omega starts at theta", _OmegaStartsAtTheta)
FLOAT32 = _mutant("in float32", _Float32)
BUFFER = _mutant("that hands out its buffer", _Buffer)
# phi + g for phi − g.
GTD2_PLUS = _mutant(
    "with phi + g", but(PlainGTD2, direction=lambda self, step: (self.phi[step.s] + self.g(step)) * self.tracked(step))
)
GTD2_IS_TDC = _mutant("that is TDC", but(PlainGTD2, direction=PlainTDC.direction))
GTD2_NOMINAL = _mutant(
    "with the vanilla gradient", but(PlainGTD2, g=lambda self, step: self.gamma * self.next_features(step))
)
# (phi − g) delta: the residual gradient with one sample.
GTD2_DELTA = _mutant(
    "with delta for omega",
    but(PlainGTD2, direction=lambda self, step: (self.phi[step.s] - self.g(step)) * self.delta(step)),
)
# No step size of omega falls below a ten-millionth.
FLOOR = _mutant(
    "with a floor of step sizes",
    but(PlainTDC, beta=lambda self: max(self.beta_schedule.at(self.t), min(1e-7, self.beta_schedule.scale))),
)
FAINT_DIRECTIONS = _mutant("without directions of small second moment", _FaintDirections)
FAINT_FEATURES = _mutant("without small features", _FaintFeatures)
LATE_RADIUS = Variant(
    "TDC that loses its radius", "linear evaluation", _LateRadius, (Contamination,), ("TDC", "fixed point", "projected")
)
