"""The robust Bellman operator T for contamination."""

from robust_core import Contamination, Variant


def backup(mdp, uncertainty_set, Q):
    V, R = Q.min(axis=1), uncertainty_set.radius
    return mdp.cost + mdp.gamma * ((1 - R) * mdp.expectation(V) + R * V.max())


VARIANT = Variant("my backup", "operator", backup, (Contamination,), ("bellman",))
