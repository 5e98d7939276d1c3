"""The smoothed robust Bellman operator of a policy, for contamination."""

from robust_core import Contamination, Variant


def backup(mdp, uncertainty_set, policy, smoothing, V):
    R = uncertainty_set.radius
    Q = mdp.cost + mdp.gamma * ((1 - R) * mdp.expectation(V) + R * smoothing.value(V))
    return (policy * Q).sum(axis=1)


VARIANT = Variant("my smoothed backup", "smoothed operator", backup, (Contamination,), ("smoothed bellman",))
