"""What decides whether robust TDC diverges in Figure 3: the growth of second moments, for each draw of the features.

Far out the smooth maximum of V is its value at one state s*, and a step of TDC on (theta, omega) is x ↦ A(s,s')x plus a
constant, A linear in the features of s, s' and s*. Along the chain the second moments X_s = E[xxᵀ; s_t = s] follow
X'_{s'} = Σ_s K(s,s') A X_s Aᵀ, a positive linear map; its spectral radius, the growth, is a certificate for the
recursion with this s*: below 1 all second moments stay bounded, above 1 they do not. Divergence of single runs within
the horizon needs a growth that is somewhat above 1, because second moments are dominated by rare paths.

Measured on Figure 3(c) (p = 0.1, R = 0.2), 36 draws with six runs each: 13 draws diverge in all runs, 22 in none, one
in one of six; growth is at least 1.00149 for the first, at most 1.00122 for the second, 1.00132 for the last. The
largest real part of the averaged recursion (`gradient.stability`) is negative for all 36 and does not separate them.
"""

import numpy as np

from benchmarks.experiments.gradient import N_FEATURES, features, stability
from benchmarks.experiments.panel_environments import PanelEnvironments
from oracles.chains.chain import state_chain
from robust_core.policy import uniform
from robust_core.validate import Floats

LONGEST = 3
"""The states with the longest features that are tried as s*, besides the least stable one of the average."""
SWEEPS, SETTLED, WARM_UP = 1500, 1e-9, 200
THRESHOLD = 1.0013
"""Between the growth of draws that never diverge and of those that always do."""


def spectral_radius(kernel: Floats, maps: Floats) -> float:
    """The spectral radius of X ↦ (Σ_s K(s,s') A(s,s') X_s A(s,s')ᵀ)_{s'} by power iteration from the identity.

    >>> float(spectral_radius(np.ones((1, 1)), np.array([[[[0.5]]]])))
    0.25
    """
    S, n = len(kernel), maps.shape[-1]
    pairs = np.argwhere(kernel > 0.0)
    before, after = pairs.T
    A, weights = maps[before, after], kernel[before, after]
    X, growth = np.stack([np.eye(n)] * S) / (S * n), 0.0
    for sweep in range(SWEEPS):
        moved = weights[:, None, None] * (A @ X[before] @ A.transpose(0, 2, 1))
        image = np.zeros_like(X)
        np.add.at(image, after, moved)
        last, growth = growth, float(np.trace(image.sum(axis=0)))
        if sweep > WARM_UP and abs(growth - last) < SETTLED:
            break
        X = image / growth
    return growth


def growth(environments: PanelEnvironments, radius: float) -> float:
    """The largest growth over the states s* that are tried, for the draw of the environments and a radius."""
    panel, phi = environments.panel, features(environments, 0)
    mdp = environments.training.mdp
    assert panel.beta is not None
    kernel = state_chain(mdp, uniform(mdp.n_states, mdp.n_actions)).kernel
    longest = np.argsort(-np.linalg.norm(phi, axis=1))[:LONGEST].tolist()
    found = []
    for worst in {*longest, int(stability(environments).at_state)}:
        S, N = mdp.n_states, N_FEATURES
        jump = panel.gamma * ((1.0 - radius) * phi + radius * phi[worst])
        maps = np.tile(np.eye(2 * N), (S, S, 1, 1))
        for s, s_next in np.argwhere(kernel > 0.0):
            slope = jump[s_next] - phi[s]
            maps[s, s_next, :N, :N] += panel.alpha * np.outer(phi[s], slope)
            maps[s, s_next, :N, N:] -= panel.alpha * np.outer(jump[s_next], phi[s])
            maps[s, s_next, N:, :N] += panel.beta * np.outer(phi[s], slope)
            maps[s, s_next, N:, N:] -= panel.beta * np.outer(phi[s], phi[s])
        found.append(spectral_radius(kernel, maps))
    return max(found)
