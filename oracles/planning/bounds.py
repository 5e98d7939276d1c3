"""Robust planning with guaranteed bounds: V*, Q*, V^pi, the worst-case kernel and the smoothed fixed point.

The enclosures contain the truth of the model as `robust_core.mdp` defines it (a row of floats stands for the row
divided by its exact sum), rounding included; `enclosure` has the derivation, `planning_kernels` the algorithm.
The requested width ends the computation, never a number of iterations.
"""

import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oracles.arithmetic.certified import Certified
from robust_core import validate
from robust_core.mdp import MDP, SparseRows
from robust_core.sets import Contamination, TotalVariation, UncertaintySet
from robust_core.validate import Floats, Ints

Indices = NDArray[np.uint64]

Found = tuple[int, Floats, Floats, Floats, float, float]  # status, Q, V, policy, truncation, rounding

METHOD = "modified policy iteration with span bounds"


def _constant(shape: tuple[int, ...], dtype: Any) -> Any:
    """An empty read-only array: the compiled code is specialised for read-only input."""
    result = np.empty(shape, dtype=dtype)
    result.setflags(write=False)
    return result


_NO_KERNEL: Floats = _constant((0, 0, 0), np.float64)
_NO_POLICY: Floats = _constant((0, 0), np.float64)
_NO_INDICES: Indices = _constant((0,), np.uint64)
_NO_FLOATS: Floats = _constant((0,), np.float64)


@dataclass(frozen=True, eq=False)
class Solution:
    """Q and V of the optimal or of a given policy, enclosed; `policy` is that policy as pi[s, a].

    `truncation` + `rounding` is the error bound of both. The optimal policy of `solve` is greedy for the computed
    Q: exact only where the gap between actions exceeds twice the bound.
    """

    mdp: MDP
    uncertainty_set: UncertaintySet
    found: Found

    @property
    def q(self) -> Floats:
        """The midpoints of Q."""
        return self.found[1]

    @property
    def v(self) -> Floats:
        """The midpoints of V."""
        return self.found[2]

    @property
    def policy(self) -> Floats:
        """The given or the greedy policy."""
        return self.found[3]

    @property
    def truncation(self) -> float:
        """What stopping before the fixed point contributes to the error bound."""
        return self.found[4]

    @property
    def rounding(self) -> float:
        """What rounding contributes to the error bound."""
        return self.found[5]

    @cached_property
    def Q(self) -> Certified:
        """The action values Q(s, a)."""
        return Certified(self.q, self.error_bound, METHOD)

    @cached_property
    def V(self) -> Certified:
        """The state values V(s)."""
        return Certified(self.v, self.error_bound, METHOD)

    @property
    def error_bound(self) -> float:
        """How far any entry of Q or V can be from the truth."""
        return self.truncation + self.rounding

    @cached_property
    def actions(self) -> Ints:
        """The most probable action of the policy in every state."""
        return np.asarray(self.policy.argmax(axis=1), dtype=np.int64)

    def worst_kernel(self) -> Floats | SparseRows:
        """Nature's answer to V, stored like the kernel of the model: the maximiser of Σ q(s') V(s') in each set.

        >>> mdp = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5)
        >>> solve(mdp, TotalVariation(0.25), width=1e-9).worst_kernel()[0, 0]
        array([0.75, 0.25])
        """
        from oracles.planning.worst_case import worst_kernel

        return worst_kernel(self.mdp, self.uncertainty_set, self.v)


def solve(mdp: MDP, uncertainty_set: UncertaintySet, *, width: float) -> Solution:
    """V* and Q* of TQ(s,a) = c(s,a) + γσ_{s,a}(min_a Q) (eq:T), each entry in an interval of at most `width`.

    Raises ValueError when rounding does not allow that width.

    >>> mdp = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5)
    >>> solution = solve(mdp, Contamination(0.5), width=1e-9)
    >>> bool(abs(solution.V.value - [12 / 7, 4 / 7]).max() <= solution.V.error_bound)
    True
    """
    return _plan(mdp, uncertainty_set, _NO_POLICY, width)


def evaluate(mdp: MDP, uncertainty_set: UncertaintySet, policy: ArrayLike, *, width: float) -> Solution:
    """V^pi and Q^pi, the worst case over the set of a fixed policy pi[s, a] (eq:bellman op).

    >>> mdp = MDP([[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0], [0.0]], 0.5)
    >>> evaluate(mdp, TotalVariation(1.0), [[1.0], [1.0]], width=1e-9).V.value.round(9)
    array([2., 1.])
    """
    return _plan(mdp, uncertainty_set, _read_only_policy(mdp, policy), width)


def smoothed_fixed_point(
    mdp: MDP, radius: float, policy: ArrayLike, varrho: float, *, width: float, mellowmax: bool = False
) -> Certified:
    """The fixed point of the smoothed operator: T_pi of R-contamination with LSE(V) = log Σe^{ϱV}/ϱ for max V,

    or with mellow-max, LSE(V) − log S/ϱ.

    >>> mdp = MDP([[[1.0]]], [[1.0]], 0.5)
    >>> smoothed_fixed_point(mdp, 0.5, [[1.0]], 10.0, width=1e-9).value.round(9)
    array([2.])
    """
    checked = validate.positive("varrho", varrho)
    mode = _kernels().MELLOWMAX if mellowmax else _kernels().LSE
    return _plan(mdp, Contamination(radius), _read_only_policy(mdp, policy), width, mode, checked).V


def _read_only_policy(mdp: MDP, policy: ArrayLike) -> Floats:
    result = validate.policy(policy, mdp.n_states, mdp.n_actions)
    result.setflags(write=False)
    return result


@cache
def _kernels() -> Any:
    """The compiled code, imported (and compiled) when first used."""
    from oracles.planning import kernels

    return kernels


def _plan(
    mdp: MDP,
    uncertainty_set: UncertaintySet,
    policy: Floats,
    width: float,
    smoothing: int = 0,
    varrho: float = 1.0,
) -> Solution:
    if not isinstance(uncertainty_set, (Contamination, TotalVariation)):
        raise TypeError(f"uncertainty_set must be Contamination or TotalVariation, got {uncertainty_set!r}")
    if type(uncertainty_set.radius) is not float:
        raise ValueError(f"uncertainty_set must have one radius for all pairs (s, a), got {uncertainty_set!r:.80}")
    # Tests call this a hundred thousand times on tiny models: a good float is not sent through the validation.
    wanted = width if type(width) is float and 0.0 < width < math.inf else validate.positive("width", width)
    total_variation = isinstance(uncertainty_set, TotalVariation)
    kernel: Any = mdp.kernel
    if isinstance(kernel, SparseRows):
        longest = int(np.diff(kernel.offsets).max())
        # Unsigned, or the compiled code would test every index for being negative.
        offsets = kernel.offsets.view(np.uint64)
        successors = kernel.successors.view(np.uint32 if kernel.successors.itemsize == 4 else np.uint64)
        model = (_NO_KERNEL, offsets, successors, kernel.probabilities)
    else:
        longest = mdp.n_states
        model = (kernel, _NO_INDICES, _NO_INDICES, _NO_FLOATS)
    found = _kernels().plan(
        *model, mdp.cost, mdp.gamma, uncertainty_set.radius, total_variation, policy, smoothing, varrho, longest,
        wanted,
    )  # fmt: skip
    if found[0] != 0:
        raise ValueError(_refusal(mdp, wanted, found))
    return Solution(mdp, uncertainty_set, found)


def _refusal(mdp: MDP, width: float, found: Found) -> str:
    status, _, _, _, truncation, rounding = found
    if status == _kernels().OVERFLOW:
        return f"the values of {mdp!r} exceed the range of floats (costs up to {float(abs(mdp.cost).max())!r})"
    possible = 2.0 * (truncation + rounding)
    return f"width must be at least about {possible:.3g} for {mdp!r}: rounding of float64 allows no less, got {width!r}"
