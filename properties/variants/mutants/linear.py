"""Wrong robust TDC and GTD2."""

from typing import Any

import numpy as np

from properties.variants.mutants.plain import PlainGTD2, PlainTDC
from robust_core import Contamination, Problem, Transition, Variant
from robust_core.validate import Floats


def _mutant(name: str, make: Any) -> Variant:
    rule = "GTD2" if issubclass(make, PlainGTD2) else "TDC"
    promises = (rule, "projected", "scale", "rotation")
    return Variant(f"{rule} {name}", "linear evaluation", make, (Contamination,), promises)


class _CorrectionSign(PlainTDC):
    def direction(self, step: Transition) -> Floats:
        return self.delta(step) * self.phi[step.s] + self.g(step) * self.tracked(step)


class _NoCorrection(PlainTDC):
    """Semi-gradient TD."""

    def direction(self, step: Transition) -> Floats:
        return self.delta(step) * self.phi[step.s]


class _NominalCorrection(PlainTDC):
    """The correction of vanilla TDC: no gradient of the smooth maximum."""

    def g(self, step: Transition) -> Floats:
        return self.gamma * (1.0 - self.R) * self.next_features(step)


class _CorrectionWithoutRadius(PlainTDC):
    def g(self, step: Transition) -> Floats:
        return self.gamma * self.next_features(step)


class _CorrectionWithoutGamma(PlainTDC):
    def g(self, step: Transition) -> Floats:
        return super().g(step) / self.gamma if self.gamma else super().g(step)


class _HardGradient(PlainTDC):
    """The gradient of the maximum for that of LSE."""

    def softmax(self, V: Floats) -> Floats:
        return np.eye(len(V))[V.argmax()]


class _SoftmaxWithoutVarrho(PlainTDC):
    def softmax(self, V: Floats) -> Floats:
        weights = np.exp(V - V.max())
        return weights / weights.sum()


class _HardMaximum(PlainTDC):
    def smooth(self, V: Floats) -> float:
        return float(V.max())


class _SmoothWithoutDivision(PlainTDC):
    """log Σ exp(varrho V), not divided by varrho."""

    def smooth(self, V: Floats) -> float:
        return float(V.max() + np.log(np.exp(self.varrho * (V - V.max())).sum()))


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


class _BoltzmannMean(PlainTDC):
    """The softmax-weighted mean for the smooth maximum."""

    def smooth(self, V: Floats) -> float:
        return float(self.softmax(V) @ V)


class _LostGamma(PlainTDC):
    """The smooth maximum is not discounted."""

    def delta(self, step: Transition) -> float:
        V = self.phi @ self.theta
        return super().delta(step) + (1.0 - self.gamma) * self.R * self.smooth(V)


class _NoBaseline(PlainTDC):
    """delta without − V(s)."""

    def delta(self, step: Transition) -> float:
        return super().delta(step) + float(self.phi[step.s] @ self.theta)


class _SwappedWeights(PlainTDC):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.R = 1.0 - self.R


class _NextFeatureInUpdate(PlainTDC):
    """delta phi(s')."""

    def direction(self, step: Transition) -> Floats:
        return self.delta(step) * self.phi[step.s_next] - self.g(step) * self.tracked(step)


class _NextFeatureTracked(PlainTDC):
    """phi(s')·omega."""

    def tracked(self, step: Transition) -> float:
        return float(self.phi[step.s_next] @ self.omega)


class _OmegaWithoutDecay(PlainTDC):
    def error(self, step: Transition) -> Floats:
        return self.delta(step) * self.phi[step.s]


class _OmegaSign(PlainTDC):
    def error(self, step: Transition) -> Floats:
        return -super().error(step)


class _SwappedSteps(PlainTDC):
    def alpha(self) -> float:
        return super().beta()

    def beta(self) -> float:
        return super().alpha()


class _OneStepSize(PlainTDC):
    def beta(self) -> float:
        return self.alpha()


class _FirstStepOne(PlainTDC):
    def alpha(self) -> float:
        return self.problem.step_size.at(self.t + 1)


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


class _Unprojected(PlainTDC):
    def projected(self, x: Floats) -> Floats:
        return x


class _UnprojectedOmega(PlainTDC):
    def update(self, step: Transition) -> None:
        omega = self.omega + self.beta() * self.error(step)
        super().update(step)
        self.omega = omega


class _ProjectedOnBox(PlainTDC):
    def projected(self, x: Floats) -> Floats:
        return np.clip(x, -self.K, self.K)


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


class _TerminalIgnored(PlainTDC):
    def next_features(self, step: Transition) -> Floats:
        return self.phi[step.s_next]


class _TerminalGradientIgnored(PlainTDC):
    """V(s') = 0 at the end, but its gradient is not."""

    def g(self, step: Transition) -> Floats:
        return super().g(step._replace(terminal=False))


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


class _GTD2Plus(PlainGTD2):
    """phi + g for phi − g."""

    def direction(self, step: Transition) -> Floats:
        return (self.phi[step.s] + self.g(step)) * self.tracked(step)


class _GTD2IsTDC(PlainGTD2):
    def direction(self, step: Transition) -> Floats:
        return PlainTDC.direction(self, step)


class _GTD2Nominal(PlainGTD2):
    def g(self, step: Transition) -> Floats:
        return self.gamma * self.next_features(step)


class _GTD2Delta(PlainGTD2):
    """(phi − g) delta: the residual gradient with one sample."""

    def direction(self, step: Transition) -> Floats:
        return (self.phi[step.s] - self.g(step)) * self.delta(step)


CORRECTION_SIGN = _mutant("with the sign of the correction", _CorrectionSign)
NO_CORRECTION = _mutant("without a correction", _NoCorrection)
NOMINAL_CORRECTION = _mutant("with the vanilla correction", _NominalCorrection)
CORRECTION_WITHOUT_RADIUS = _mutant("with a correction without R", _CorrectionWithoutRadius)
CORRECTION_WITHOUT_GAMMA = _mutant("with a correction without gamma", _CorrectionWithoutGamma)
HARD_GRADIENT = _mutant("with the gradient of the maximum", _HardGradient)
SOFTMAX_WITHOUT_VARRHO = _mutant("with a softmax without varrho", _SoftmaxWithoutVarrho)
HARD_MAXIMUM = _mutant("with the maximum", _HardMaximum)
SMOOTH_WITHOUT_DIVISION = _mutant("with LSE not divided by varrho", _SmoothWithoutDivision)
ALWAYS_LOG_SUM_EXP = _mutant("with LSE for mellow-max", _AlwaysLogSumExp)
ALWAYS_MELLOWMAX = _mutant("with mellow-max for LSE", _AlwaysMellowmax)
OVERFLOW = _mutant("that overflows", _Overflow)
BOLTZMANN_MEAN = _mutant("with the softmax mean", _BoltzmannMean)
LOST_GAMMA = _mutant("with a lost gamma", _LostGamma)
NO_BASELINE = _mutant("without V(s)", _NoBaseline)
SWAPPED_WEIGHTS = _mutant("with R and 1−R swapped", _SwappedWeights)
NEXT_FEATURE_IN_UPDATE = _mutant("with phi(s') in the update", _NextFeatureInUpdate)
NEXT_FEATURE_TRACKED = _mutant("with phi(s') in the correction", _NextFeatureTracked)
OMEGA_WITHOUT_DECAY = _mutant("with an omega that only adds", _OmegaWithoutDecay)
OMEGA_SIGN = _mutant("with the sign of omega", _OmegaSign)
SWAPPED_STEPS = _mutant("with alpha and beta swapped", _SwappedSteps)
ONE_STEP_SIZE = _mutant("with one step size", _OneStepSize)
FIRST_STEP_ONE = _mutant("with steps off by one", _FirstStepOne)
THETA_FIRST = _mutant("with theta first", _ThetaFirst)
OMEGA_FIRST = _mutant("with omega first", _OmegaFirst)
UNPROJECTED = _mutant("without projection", _Unprojected)
UNPROJECTED_OMEGA = _mutant("without projection of omega", _UnprojectedOmega)
PROJECTED_ON_BOX = _mutant("projected on a box", _ProjectedOnBox)
PROJECTED_THE_NEXT_TIME = _mutant("projected one step late", _ProjectedTheNextTime)
NORMALISED = _mutant("scaled to the sphere", _Normalised)
TERMINAL_IGNORED = _mutant("that goes on after the end", _TerminalIgnored)
TERMINAL_GRADIENT_IGNORED = _mutant("whose gradient goes on after the end", _TerminalGradientIgnored)
STALE_MAXIMUM = _mutant("with the last maximum", _StaleMaximum)
OMEGA_STARTS_AT_THETA = _mutant("whose omega starts at theta", _OmegaStartsAtTheta)
FLOAT32 = _mutant("in float32", _Float32)
BUFFER = _mutant("that hands out its buffer", _Buffer)
GTD2_PLUS = _mutant("with phi + g", _GTD2Plus)
GTD2_IS_TDC = _mutant("that is TDC", _GTD2IsTDC)
GTD2_NOMINAL = _mutant("with the vanilla gradient", _GTD2Nominal)
GTD2_DELTA = _mutant("with delta for omega", _GTD2Delta)
