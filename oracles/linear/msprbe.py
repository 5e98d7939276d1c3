"""The smoothed mean squared projected robust Bellman error J of Section 5 (eq:sMSPRBE), from the model.

With mu the stationary distribution of the policy, D = diag(mu), V = Φθ and

    r(θ) = c_pi + gamma(1−R) P_pi V + gamma R·LSE(V)·1 − V,      b(θ) = E_mu[δφ] = ΦᵀD r(θ),
    C = ΦᵀDΦ,   omega(θ) = C⁻¹b(θ),   J(θ) = b(θ)ᵀ C⁻¹ b(θ),
    M(θ) = E_mu[∇δ φᵀ] = gamma(1−R) (P_pi Φ)ᵀDΦ + gamma R g(θ) E_mu[φ]ᵀ − C,   g = Φᵀ softmax(varrho V),
    ∇J = 2 M omega,     ½∇²J = M C⁻¹ Mᵀ + gamma R varrho (E_mu[φ]ᵀomega) Cov_softmax(φ).

(g is the gradient of LSE; omega' = C⁻¹Mᵀ, and of M only g depends on θ, with Jacobian varrho·Cov.) Everything
is evaluated in ball arithmetic, so that every value carries a bound on its rounding and on the errors of mu
and of the kernel. The same J and ∇J are also written for complex arguments: their complex step differentiates
with no formula.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, wraps
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oracles.arithmetic.ball import Ball, eigenvalue_floor, solve, up
from oracles.arithmetic.certified import Certified
from oracles.chains.chain import Chain, row_defect, state_chain, stationary_log
from robust_core import validate
from robust_core.mdp import MDP
from robust_core.validate import Floats, Ints

P = ParamSpec("P")
T = TypeVar("T")
Smoothing = Literal["lse", "mellowmax"]
SMOOTHINGS = ("lse", "mellowmax")
COMPLEX_STEP = 1e-150
"""Its square vanishes beside 1, so the imaginary part of f(θ + ih) is h·f'(θ) up to rounding."""
COMPLEX_ARITHMETIC = 8.0
"""A complex product rounds within √5 units, exp and division within 8: the imaginary part of a complex
evaluation is the sum of products that a column of the derivative is, with at most so much more rounding."""


def _quiet(method: Callable[P, T]) -> Callable[P, T]:
    """What leaves the range of floats is refused by `_finite`, with a reason, instead of a warning.

    Each call has its own context: in numpy 1, one that is entered twice never restores the warnings.
    """

    @wraps(method)
    def quiet(*args: P.args, **named: P.kwargs) -> T:
        with np.errstate(over="ignore", invalid="ignore"):
            return method(*args, **named)

    return quiet


class MSPRBE:
    """J for one model, policy and feature matrix; refuses features with a singular C.

    `features` has shape (S, N), row s is φ_s. `smoothing` is LSE (the paper) or mellow-max, which is LSE − log
    S/varrho. With a `behaviour` policy mu is the stationary distribution of that one, and the values are still those of
    `policy`.

    >>> mdp = MDP([[[0.5, 0.5]], [[0.25, 0.75]]], [[1.0], [0.0]], 0.5)
    >>> problem = MSPRBE(mdp, [[1.0], [1.0]], [[1.0], [0.5]], radius=0.25, varrho=2.0)
    >>> one, other = problem.complex_gradient([0.5]), problem.gradient([0.5])
    >>> bool(abs(one.value[0] - other.value[0]) <= one.error_bound + other.error_bound)
    True
    """

    @_quiet
    def __init__(
        self,
        mdp: MDP,
        policy: ArrayLike,
        features: ArrayLike,
        *,
        radius: float,
        varrho: float,
        smoothing: Smoothing = "lse",
        behaviour: ArrayLike | None = None,
    ) -> None:
        self.mdp = mdp
        self.policy = validate.policy(policy, mdp.n_states, mdp.n_actions)
        self.features = validate.array("features", features, shape=(mdp.n_states, None))
        self.radius = validate.unit_interval("radius", radius)
        self.varrho = validate.positive("varrho", varrho)
        if smoothing not in SMOOTHINGS:
            raise ValueError(f"smoothing must be one of {SMOOTHINGS}, got {smoothing!r}")
        self.smoothing = smoothing
        self.chain: Chain = state_chain(mdp, self.policy)
        self.walked: Chain = self.chain if behaviour is None else state_chain(mdp, behaviour)
        """The chain whose stationary distribution is mu."""
        _require_independent(self.features, self.walked.recurrent)
        self.mu, self.mu_log_error = stationary_log(self.walked)
        for values in (self.policy, self.features, self.mu):
            values.setflags(write=False)
        self._finite("C", self._C)
        if self.floor <= 0.0:
            raise ArithmeticError(
                "C is non-singular in exact arithmetic, but its smallest eigenvalue is too small to certify "
                f"in floats (about {float(np.linalg.eigvalsh(self._C.mid)[0]):.3g}): choose features that "
                "are less dependent on the states that the policy visits"
            )

    @property
    def n_features(self) -> int:
        """N, the length of theta."""
        return int(self.features.shape[1])

    @cached_property
    def _Phi(self) -> Ball:
        return Ball.exact(self.features)

    @cached_property
    def _weighted(self) -> Ball:
        """ΦᵀD."""
        return (Ball.relative(self.mu, self.mu_log_error)[:, None] * self._Phi).T

    @cached_property
    def _C(self) -> Ball:
        return self._weighted @ self._Phi

    @cached_property
    def floor(self) -> float:
        """A certified lower bound on λ, the smallest eigenvalue of C."""
        return eigenvalue_floor(self._C)

    @cached_property
    def _kernel(self) -> Ball:
        return Ball.relative(self.chain.kernel, self.chain.log_error)

    @cached_property
    def _cost(self) -> Ball:
        """c_pi(s) = Σ_a pi(a|s) c(s,a)."""
        weighted = Ball.relative(self.policy, row_defect(self.mdp.n_actions)) * Ball.exact(self.mdp.cost)
        return weighted @ Ball.exact(np.ones(self.mdp.n_actions))

    @cached_property
    def _mean_phi(self) -> Ball:
        return self._weighted @ Ball.exact(np.ones(self.mdp.n_states))

    @cached_property
    def _nominal(self) -> Ball:
        """gamma(1−R)."""
        return Ball.exact(self.mdp.gamma) * (Ball.exact(1.0) - Ball.exact(self.radius))

    @cached_property
    def _worst(self) -> Ball:
        """gamma R."""
        return Ball.exact(self.mdp.gamma) * Ball.exact(self.radius)

    def _finite(self, what: str, ball: Ball) -> Ball:
        """The ball, if floats can hold it and its radius."""
        if np.isfinite(ball.mid).all() and np.isfinite(ball.rad).all():
            return ball
        raise ArithmeticError(
            f"{what} cannot be certified in floats: varrho = {self.varrho:.3g}, costs up "
            f"to {np.abs(self.mdp.cost).max():.3g} and features up to {np.abs(self.features).max():.3g} are too far "
            "apart, or theta is too large. Multiply cost and theta by a power of two and divide varrho by it"
        )

    def _certified(self, what: str, ball: Ball) -> Certified:
        return Certified(self._finite(what, ball).mid, float(ball.rad.max()), "ball arithmetic")

    def _theta(self, theta: ArrayLike) -> Floats:
        return validate.array("theta", theta, shape=(self.n_features,))

    def _smoothed_max(self, V: Ball) -> tuple[Ball, Ball]:
        """The smoothed maximum of V and its gradient softmax(varrho V), shifted by max V against overflow."""
        shift, varrho = Ball.exact(np.max(V.mid)), Ball.exact(self.varrho)
        weights = ((V - shift) * varrho).exp()
        total = weights.sum()
        value = shift + total.log() / varrho
        if self.smoothing == "mellowmax":
            value = value - Ball.exact(float(len(V.mid))).log() / varrho
        return value, weights / total

    def _moment(self, theta: Floats) -> tuple[Ball, Ball]:
        """b(θ) and softmax(varrho V)."""
        V = self._Phi @ Ball.exact(theta)
        smooth, softmax = self._smoothed_max(V)
        residual = self._cost + self._nominal * (self._kernel @ V) + self._worst * smooth - V
        return self._weighted @ residual, softmax

    def _slope(self, theta: Floats, softmax: Ball) -> Ball:
        """M(θ), which depends on θ by the softmax alone."""
        successor = (self._kernel @ self._Phi).T @ self._weighted.T
        g = self._Phi.T @ softmax
        return self._nominal * successor + self._worst * (g[:, None] * self._mean_phi[None, :]) - self._C

    def _derivatives(self, theta: ArrayLike) -> tuple[Ball, Ball, Ball]:
        """omega(θ), M(θ) and the softmax."""
        point = self._theta(theta)
        b, softmax = self._moment(point)
        return solve(self._C, b, self.floor), self._slope(point, softmax), softmax

    @cached_property
    def C(self) -> Certified:
        """C = E_mu[φφᵀ] (the paper prints φᵀφ, a number, where it means this matrix)."""
        return self._certified("C", self._C)

    @cached_property
    def lam(self) -> Certified:
        """λ, the smallest eigenvalue of C: from below as `floor`, from above by a Rayleigh quotient."""
        vector = Ball.exact(np.linalg.eigh(self._C.mid)[1][:, 0])
        quotient = (vector @ (self._C @ vector)) / (vector @ vector)
        top = float(up(quotient.mid + quotient.rad))
        middle = (self.floor + top) / 2
        return Certified(np.array(middle), float(up(top - self.floor)), "Gershgorin and Rayleigh quotient")

    @cached_property
    def projection(self) -> Certified:
        """Π = Φ C⁻¹ ΦᵀD, the mu-orthogonal projection onto the span of the features."""
        return self._certified("the projection", self._Phi @ solve(self._C, self._weighted, self.floor))

    def is_smooth(self, theta: ArrayLike) -> bool:
        """Whether J has a gradient at θ."""
        return True

    @_quiet
    def moment(self, theta: ArrayLike) -> Certified:
        """b(θ) = E_mu[δ(θ)φ]."""
        return self._certified("E[δφ]", self._moment(self._theta(theta))[0])

    @_quiet
    def slope(self, theta: ArrayLike) -> Certified:
        """M(θ) = E_mu[∇δ(θ) φᵀ], so that ∇J = 2 M omega and E_mu[g φᵀ] = M + C."""
        point = self._theta(theta)
        return self._certified("M", self._slope(point, self._moment(point)[1]))

    @_quiet
    def omega(self, theta: ArrayLike) -> Certified:
        """omega(θ) = C⁻¹ E_mu[δ(θ)φ]."""
        return self._certified("omega", self._derivatives(theta)[0])

    @_quiet
    def J(self, theta: ArrayLike) -> Certified:
        """J(θ) = E[δφ]ᵀ C⁻¹ E[δφ]."""
        b, _ = self._moment(self._theta(theta))
        return self._certified("J", b @ solve(self._C, b, self.floor))

    @_quiet
    def gradient(self, theta: ArrayLike) -> Certified:
        """∇J(θ) = 2 M omega."""
        return self._certified("∇J", self.gradient_ball(theta))

    @_quiet
    def gradient_ball(self, theta: ArrayLike) -> Ball:
        """∇J with a radius for every entry."""
        omega, slope, _ = self._derivatives(theta)
        return self._finite("∇J", Ball.exact(2.0) * (slope @ omega))

    @_quiet
    def hessian(self, theta: ArrayLike) -> Certified:
        """∇²J(θ) = 2 M C⁻¹ Mᵀ + 2 gamma R varrho (E[φ]ᵀomega) Cov_softmax(φ)."""
        return self._certified("∇²J", self.hessian_ball(theta))

    @_quiet
    def hessian_ball(self, theta: ArrayLike) -> Ball:
        """∇²J with a radius for every entry."""
        omega, slope, softmax = self._derivatives(theta)
        g = self._Phi.T @ softmax
        covariance = (softmax[:, None] * self._Phi).T @ self._Phi - g[:, None] * g[None, :]
        weight = self._worst * Ball.exact(self.varrho) * (self._mean_phi @ omega)
        half = slope @ solve(self._C, slope.T, self.floor) + weight * covariance
        return self._finite("∇²J", Ball.exact(2.0) * half)

    def complex_gradient(self, theta: ArrayLike) -> Certified:
        """∇J by complex step on J: no derivative formula is used, the bound is that of the same sums."""
        steps = self._theta(theta) + 1j * COMPLEX_STEP * np.eye(self.n_features)
        value = np.array([self._J_complex(row).imag for row in steps]) / COMPLEX_STEP
        bound = COMPLEX_ARITHMETIC * float(self.gradient_ball(theta).rad.max())
        return Certified(value, bound, "complex step")

    def complex_hessian(self, theta: ArrayLike) -> Certified:
        """∇²J by complex step on ∇J."""
        steps = self._theta(theta) + 1j * COMPLEX_STEP * np.eye(self.n_features)
        value = np.array([self._gradient_complex(row).imag for row in steps]) / COMPLEX_STEP
        bound = COMPLEX_ARITHMETIC * float(self.hessian_ball(theta).rad.max())
        return Certified(value, bound, "complex step")

    def _complex_parts(self, theta: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        V = self.features @ theta
        shift = V.real.max()
        weights = np.exp(self.varrho * (V - shift))
        smooth = shift + np.log(weights.sum()) / self.varrho
        if self.smoothing == "mellowmax":
            smooth = smooth - np.log(len(V)) / self.varrho
        cost = (self.policy * self.mdp.cost).sum(axis=1)
        gamma, R = self.mdp.gamma, self.radius
        residual = cost + gamma * (1 - R) * (self.chain.kernel @ V) + gamma * R * smooth - V
        return (self.features.T * self.mu) @ residual, weights / weights.sum()

    def _J_complex(self, theta: NDArray[Any]) -> complex:
        b, _ = self._complex_parts(theta)
        return complex(b @ np.linalg.solve(self._C.mid.astype(complex), b))

    def _gradient_complex(self, theta: NDArray[Any]) -> NDArray[Any]:
        b, softmax = self._complex_parts(theta)
        Phi, weighted = self.features, self.features.T * self.mu
        gamma, R = self.mdp.gamma, self.radius
        successor = (self.chain.kernel @ Phi).T @ weighted.T
        slope = gamma * (1 - R) * successor + gamma * R * np.outer(Phi.T @ softmax, weighted.sum(axis=1))
        omega = np.linalg.solve(self._C.mid.astype(complex), b)
        result: NDArray[Any] = 2.0 * ((slope - self._C.mid) @ omega)
        return result


def _require_independent(features: Floats, recurrent: Ints) -> None:
    """C is singular if and only if the features are dependent on the recurrent states; decided exactly.

    Elimination of columns in rationals: the first column that vanishes depends on those before it.
    """
    columns = [[Fraction(x) for x in column] for column in features[recurrent].T.tolist()]
    for k, column in enumerate(columns):
        row = next((i for i, x in enumerate(column) if x), None)
        if row is None:
            states = "the recurrent states" if len(recurrent) < len(features) else "the states"
            raise ValueError(
                f"features must be linearly independent on {states}: column {k} of {len(columns)} is a "
                f"combination of the columns before it (or zero) there, so C = E[φφᵀ] is singular"
            )
        for later in columns[k + 1 :]:
            factor = later[row] / column[row]
            if factor:
                later[:] = [x - factor * y for x, y in zip(later, column, strict=True)]
