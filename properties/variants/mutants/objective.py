"""Wrong objectives of linear evaluation."""

from typing import Any

import numpy as np

from robust_core import Contamination, Mellowmax, Variant
from robust_core.mdp import MDP
from robust_core.validate import Floats


class Objective:
    """J, its gradient and omega(theta), in parts that a mutant replaces."""

    def __call__(
        self, mdp: MDP, uncertainty_set: Any, policy: Floats, features: Floats, smoothing: Any, theta: Floats
    ) -> Any:
        """(J, gradient, omega)."""
        R, gamma = self.radius(uncertainty_set), self.discount(mdp)
        chain = np.einsum("sa,sat->st", policy, mdp.P)
        mu = self.law(chain)
        V, weighted = features @ theta, features.T * mu
        smooth, softmax = self.smooth(smoothing, V)
        delta = self.cost(mdp, policy) + gamma * ((1.0 - R) * chain @ V + R * smooth) - V
        moment, C = weighted @ delta, self.second_moment(weighted, features)
        slope = self.slope(gamma * (1.0 - R) * chain @ features, gamma * R * softmax @ features, weighted, features)
        omega = np.linalg.solve(C, moment)
        return self.parts(moment, C, slope, omega, mu, delta)

    def radius(self, uncertainty_set: Any) -> float:
        """R."""
        return float(uncertainty_set.radius)

    def discount(self, mdp: MDP) -> float:
        """gamma."""
        return mdp.gamma

    def law(self, chain: Floats) -> Floats:
        """The stationary law."""
        S = len(chain)
        return np.asarray(np.linalg.solve((np.eye(S) - chain + np.ones((S, S))).T, np.ones(S)), dtype=np.float64)

    def cost(self, mdp: MDP, policy: Floats) -> Floats:
        """The mean cost of a state."""
        return np.asarray((policy * mdp.cost).sum(axis=1))

    def smooth(self, smoothing: Any, V: Floats) -> tuple[float, Floats]:
        """The smooth maximum and its gradient."""
        return float(smoothing.value(V)), smoothing.gradient(V)

    def second_moment(self, weighted: Floats, features: Floats) -> Floats:
        """C."""
        return np.asarray(weighted @ features)

    def slope(self, nominal: Floats, worst: Floats, weighted: Floats, features: Floats) -> Floats:
        """M."""
        return np.asarray((nominal + worst - features).T @ weighted.T)

    def parts(self, moment: Floats, C: Floats, slope: Floats, omega: Floats, mu: Floats, delta: Floats) -> Any:
        """What is returned."""
        return float(moment @ omega), 2.0 * slope @ omega, omega


class _Vanilla(Objective):
    def radius(self, uncertainty_set: Any) -> float:
        return 0.0


class _Half(Objective):
    def radius(self, uncertainty_set: Any) -> float:
        return super().radius(uncertainty_set) / 2.0


class _LostGamma(Objective):
    def discount(self, mdp: MDP) -> float:
        return 1.0


class _Uniform(Objective):
    """All states alike."""

    def law(self, chain: Floats) -> Floats:
        return np.full(len(chain), 1.0 / len(chain))


class _FewSweeps(Objective):
    """The law after eight steps."""

    def law(self, chain: Floats) -> Floats:
        return np.asarray(np.full(len(chain), 1.0 / len(chain)) @ np.linalg.matrix_power(chain, 8))


class _Transposed(Objective):
    """The right eigenvector for the left one, normalised."""

    def law(self, chain: Floats) -> Floats:
        return super().law(chain.T / chain.T.sum(axis=1, keepdims=True))


class _FirstAction(Objective):
    def cost(self, mdp: MDP, policy: Floats) -> Floats:
        return np.asarray(mdp.cost[:, 0])


class _Hard(Objective):
    def smooth(self, smoothing: Any, V: Floats) -> tuple[float, Floats]:
        return float(V.max()), np.eye(len(V))[V.argmax()]


class _OtherConstant(Objective):
    """Mellow-max for LSE, and the reverse."""

    def smooth(self, smoothing: Any, V: Floats) -> tuple[float, Floats]:
        sign = 1.0 if isinstance(smoothing, Mellowmax) else -1.0
        value, softmax = super().smooth(smoothing, V)
        return value + sign * float(np.log(len(V))) / smoothing.varrho, softmax


class _FrozenSoftmax(Objective):
    """The gradient of the smooth maximum is that of the hard one."""

    def smooth(self, smoothing: Any, V: Floats) -> tuple[float, Floats]:
        return super().smooth(smoothing, V)[0], np.eye(len(V))[V.argmax()]


class _NoNature(Objective):
    """M without nature's part."""

    def slope(self, nominal: Floats, worst: Floats, weighted: Floats, features: Floats) -> Floats:
        return np.asarray((nominal - features).T @ weighted.T)


class _SemiGradient(Objective):
    """Only the value of the state depends on theta."""

    def slope(self, nominal: Floats, worst: Floats, weighted: Floats, features: Floats) -> Floats:
        return np.asarray(-features.T @ weighted.T)


class _TransposedSlope(Objective):
    def slope(self, nominal: Floats, worst: Floats, weighted: Floats, features: Floats) -> Floats:
        return np.asarray(super().slope(nominal, worst, weighted, features).T)


class _Diagonal(Objective):
    def second_moment(self, weighted: Floats, features: Floats) -> Floats:
        return np.diag(np.diag(weighted @ features))


class _Ridge(Objective):
    """A ridge of one millionth."""

    def second_moment(self, weighted: Floats, features: Floats) -> Floats:
        return np.asarray(weighted @ features + 1e-6 * np.eye(features.shape[1]))


class _Unweighted(Objective):
    """‖E[delta phi]‖², the norm of NEU."""

    def parts(self, moment: Floats, C: Floats, slope: Floats, omega: Floats, mu: Floats, delta: Floats) -> Any:
        return float(moment @ moment), 2.0 * slope @ moment, moment


class _Unprojected(Objective):
    """E[delta²]."""

    def parts(self, moment: Floats, C: Floats, slope: Floats, omega: Floats, mu: Floats, delta: Floats) -> Any:
        return float(mu @ delta**2), 2.0 * slope @ omega, omega


class _HalfGradient(Objective):
    def parts(self, moment: Floats, C: Floats, slope: Floats, omega: Floats, mu: Floats, delta: Floats) -> Any:
        return float(moment @ omega), slope @ omega, omega


class _Zero(Objective):
    def parts(self, moment: Floats, C: Floats, slope: Floats, omega: Floats, mu: Floats, delta: Floats) -> Any:
        return 0.0, 0.0 * omega, 0.0 * omega


class _Order(Objective):
    """omega where the gradient should be."""

    def parts(self, moment: Floats, C: Floats, slope: Floats, omega: Floats, mu: Floats, delta: Floats) -> Any:
        return float(moment @ omega), omega, 2.0 * slope @ omega


class _Sign(Objective):
    def parts(self, moment: Floats, C: Floats, slope: Floats, omega: Floats, mu: Floats, delta: Floats) -> Any:
        return float(moment @ omega), -2.0 * slope @ omega, -omega


_ALL = ("objective", "objective gradient", "tracked weights")


def _mutant(name: str, make: Any) -> Variant:
    return Variant(f"objective {name}", "objective", make(), (Contamination,), _ALL)


VANILLA = _mutant("that is not robust", _Vanilla)
HALF = _mutant("with half the radius", _Half)
LOST_GAMMA = _mutant("without gamma", _LostGamma)
UNIFORM = _mutant("of uniform states", _Uniform)
FEW_SWEEPS = _mutant("of a law after eight steps", _FewSweeps)
TRANSPOSED = _mutant("of the right eigenvector", _Transposed)
FIRST_ACTION = _mutant("with the costs of the first action", _FirstAction)
HARD = _mutant("with the hard maximum", _Hard)
OTHER_CONSTANT = _mutant("with the other smooth maximum", _OtherConstant)
FROZEN_SOFTMAX = _mutant("with the gradient of the hard maximum", _FrozenSoftmax)
NO_NATURE = _mutant("without nature in its gradient", _NoNature)
SEMI_GRADIENT = _mutant("with a semi-gradient", _SemiGradient)
TRANSPOSED_SLOPE = _mutant("with a transposed slope", _TransposedSlope)
DIAGONAL = _mutant("with a diagonal second moment", _Diagonal)
RIDGE = _mutant("with a ridge", _Ridge)
UNWEIGHTED = _mutant("without the inverse of C", _Unweighted)
UNPROJECTED = _mutant("without the projection", _Unprojected)
HALF_GRADIENT = _mutant("with half the gradient", _HalfGradient)
ZERO = _mutant("that is always 0", _Zero)
ORDER = _mutant("with parts in another order", _Order)
SIGN = _mutant("with the sign of its gradient", _Sign)
