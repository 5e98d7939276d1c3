"""The problem of Section 5 in rationals: stationary distribution, second moments, projection."""

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from oracles.arithmetic import exact
from oracles.chains.chain import state_chain, stationary_exact
from robust_core.mdp import MDP
from robust_core.validate import Floats

Matrix = Any
"""An array of fractions (dtype object)."""


def fraction_array(values: Any) -> Matrix:
    """An array of floats as fractions."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(values))


class Rationals:
    """mu, D, Phi, C and the mu-orthogonal projection of a problem, in rationals."""

    def __init__(self, mdp: MDP, policy: Floats, features: Floats) -> None:
        self.mdp = mdp
        self.Phi = fraction_array(features)
        self.mu = np.array(stationary_exact(state_chain(mdp, policy)), dtype=object)
        self.pi = np.array([exact.distribution(row).fractions() for row in policy.tolist()], dtype=object)
        self.P = np.array([[row.fractions() for row in rows] for rows in exact.kernel(mdp)], dtype=object)

    @cached_property
    def C(self) -> Matrix:
        """ΦᵀDΦ."""
        return (self.Phi.T * self.mu) @ self.Phi

    def operator(self, V: Matrix, smooth: Fraction, radius: float) -> Matrix:
        """T̂_pi V with `smooth` in the place of LSE(V)."""
        gamma, R = Fraction(self.mdp.gamma), Fraction(radius)
        backup = fraction_array(self.mdp.cost) + gamma * (1 - R) * (self.P @ V) + gamma * R * smooth
        return (self.pi * backup).sum(axis=1)

    def projection(self) -> Matrix:
        """The mu-orthogonal projection on the span of the features, by Gram-Schmidt."""
        result = np.full((len(self.mu),) * 2, Fraction(0), dtype=object)
        for column in self.Phi.T:
            rest = column - result @ column
            result = result + np.outer(rest, rest * self.mu) / ((rest * self.mu) @ rest)
        return result


def inverse(C: Matrix) -> Matrix:
    """The inverse of a 1×1 or 2×2 matrix."""
    if len(C) == 1:
        return np.array([[1 / C[0, 0]]], dtype=object)
    determinant = C[0, 0] * C[1, 1] - C[0, 1] * C[1, 0]
    return np.array([[C[1, 1], -C[0, 1]], [-C[1, 0], C[0, 0]]], dtype=object) / determinant


def definite(C: Matrix, *, strictly: bool) -> bool:
    """Whether a symmetric 1×1 or 2×2 matrix is positive (semi-)definite, exactly."""
    minors = [*np.diag(C), *([C[0, 0] * C[1, 1] - C[0, 1] ** 2] if len(C) == 2 else [])]
    return all(minor > 0 if strictly else minor >= 0 for minor in minors)
