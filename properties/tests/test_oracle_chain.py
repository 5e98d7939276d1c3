"""Chains: stationary distributions agree within their certificates, mixing times are exact, errors name states."""

import contextlib
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracles.arithmetic.ball import UNIT
from oracles.arithmetic.certified import Certified
from oracles.chains import mixing
from oracles.chains.chain import (
    Chain,
    NotErgodicError,
    kernel_chain,
    mu_min,
    pair_chain,
    row_defect,
    state_chain,
    stationary,
    stationary_exact,
    stationary_log,
)
from oracles.chains.mixing import distance, distance_exact, geometric_ergodicity, pair_t_mix, t_mix
from properties.profiles import examples
from properties.strategies import mdps, policies
from robust_core.mdp import MDP
from robust_core.validate import EPS, Floats

SCALES = (1.0, 0.1, 1e-3, 1e-9)


def random_kernel(seed: int, n: int) -> Floats:
    """Irreducible and aperiodic: a random sparse kernel, mixed with a lazy cycle of weight down to 1e-9."""
    rng = np.random.default_rng(seed)
    dense = rng.dirichlet(np.full(n, 0.3), size=n) * (rng.random((n, n)) < 0.7) + 1e-300
    cycle = 0.5 * np.eye(n) + 0.5 * np.roll(np.eye(n), 1, axis=1)
    weight = SCALES[seed % len(SCALES)]
    mixed = dense / dense.sum(axis=1, keepdims=True) * (dense > 1e-200) * (1 - weight) + weight * cycle
    return mixed / mixed.sum(axis=1, keepdims=True)


FAR = 1 << 20
"""By this time the chains of the brute-force test have reached their stationary distribution within rounding."""


def brute_distance(kernel: Floats, t: int) -> tuple[float, float]:
    """d(t) from plain powers, and their rounding: every product of n × n kernels errs by n·eps relatively."""
    mu = np.linalg.matrix_power(kernel, FAR)[0]
    value = float(0.5 * np.abs(np.linalg.matrix_power(kernel, t) - mu).sum(axis=1).max())
    return value, (FAR + t) * len(kernel) * EPS


def agree_in_all(chain: Chain) -> bool:
    """Whether GTH, the certified linear solve (where it certifies) and the rationals meet."""
    truth = stationary(chain, method="rational")
    found = [stationary(chain)]
    # It may refuse an ill-conditioned chain, honestly; that it does not refuse ordinary ones is tested below.
    with contextlib.suppress(ArithmeticError):
        found.append(stationary(chain, method="linear"))
    return all(one.agrees_with(truth) for one in found)


@given(st.data())
@examples(200)
def test_stationary_laws_agree_on_generated_models(data: st.DataObject) -> None:
    mdp = data.draw(mdps(max_states=8, dyadic=data.draw(st.booleans())), label="mdp")
    pi = data.draw(policies(mdp), label="policy")
    chain = state_chain(mdp, pi)
    if len(chain.closed_classes) > 1:
        with pytest.raises(NotErgodicError, match="cannot be reached"):
            stationary(chain)
    else:
        assert agree_in_all(chain)
        if chain.is_irreducible:
            least = Certified(np.array(float(min(stationary_exact(chain)))), UNIT, "exact rationals, rounded once")
            assert mu_min(chain).agrees_with(least)
        assert stationary(chain).value[np.setdiff1d(np.arange(chain.size), chain.recurrent)].sum() == 0.0


@pytest.mark.parametrize("block", range(4))
def test_stationary_laws_agree_on_random_kernels(block: int) -> None:
    sizes = [1, 2, 3, 5, 8, 12]
    for seed in range(50 * block, 50 * block + 50):
        assert agree_in_all(kernel_chain(random_kernel(seed, sizes[seed % len(sizes)])))


def test_stationary_laws_agree_on_forty_states() -> None:
    assert agree_in_all(kernel_chain(random_kernel(1, 40)))


def test_linear_solve_certifies_ordinary_chains() -> None:
    """Its residual is the error of the kernel and of a product of n terms, 4(n+1) EPS; the inverse blows it up,

    and its own defect, below one half for these chains, at most doubles that.
    """
    n = 10
    for seed in range(0, 40, 4):
        kernel = random_kernel(seed, n)
        system = np.eye(n) - kernel.T
        system[-1] = 1.0
        residual = (4 * (n + 1)) * EPS
        allowed = float(np.linalg.norm(np.linalg.inv(system), np.inf)) * residual
        assert stationary(kernel_chain(kernel), method="linear").error_bound <= 2 * allowed


NEARLY_DECOMPOSABLE = ((1 - 1e-12, 1e-12, 0.0), (1e-9, 0.5, 0.5 - 1e-9), (0.0, 1e-15, 1 - 1e-15))


def right_entry_by_entry(chain: Chain, mu: Floats, log_error: float) -> bool:
    pairs = zip(mu.tolist(), stationary_exact(chain), strict=True)
    return all(abs(Fraction(m) / exact - 1) <= Fraction(math.expm1(log_error)) for m, exact in pairs)


def elimination_with_subtraction(kernel: Floats) -> Floats:
    """GTH with 1 − p_mm for the sum of the other probabilities: the same algebra, but it cancels."""
    rates, weights = kernel.copy(), np.ones(len(kernel))
    for m in range(len(rates) - 1, 0, -1):
        rates[:m, m] /= 1.0 - rates[m, m]
        rates[:m, :m] += np.outer(rates[:m, m], rates[m, :m])
    for m in range(1, len(rates)):
        weights[m] = weights[:m] @ rates[:m, m]
    return weights / weights.sum()


def test_gth_is_right_entry_by_entry_on_a_nearly_decomposable_chain() -> None:
    chain = kernel_chain(NEARLY_DECOMPOSABLE)
    mu, log_error = stationary_log(chain)
    assert right_entry_by_entry(chain, mu, log_error)
    assert not right_entry_by_entry(chain, elimination_with_subtraction(chain.kernel), log_error)


def test_a_certificate_that_ignores_rounding_is_caught() -> None:
    chains = [kernel_chain(random_kernel(seed, 8)) for seed in range(20)]
    laws = [stationary_log(chain) for chain in chains]
    assert all(right_entry_by_entry(chain, *law) for chain, law in zip(chains, laws, strict=True))
    # Half a unit in the last place is what the last division alone may cost.
    boast = EPS / 2
    assert not all(right_entry_by_entry(chain, law[0], boast) for chain, law in zip(chains, laws, strict=True))


def test_power_iteration_stopped_early_is_caught() -> None:
    """Power iteration stopped early leaves the certificate."""
    chain = kernel_chain(random_kernel(2, 8))
    early = np.linalg.matrix_power(chain.kernel, 8)[0]
    assert not Certified(early, stationary(chain).error_bound, "stopped early").agrees_with(stationary(chain))


def test_irreducibility_and_period() -> None:
    cycle = kernel_chain(np.roll(np.eye(6), 1, axis=1))
    assert cycle.is_irreducible
    assert cycle.period == 6
    assert not cycle.is_ergodic
    assert np.allclose(stationary(cycle).value, 1 / 6, atol=stationary(cycle).error_bound, rtol=0)
    # Cycles of length 2 and 3 through state 0: aperiodic.
    assert kernel_chain([[0.0, 0.5, 0.5], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]).period == 1
    # Period two, with cycles of length 2 and 4.
    assert kernel_chain(np.array([[0, 2, 0, 0], [1, 0, 1, 0], [0, 0, 0, 2], [2, 0, 0, 0]]) / 2).period == 2


@given(st.data())
@examples(200)
def test_period_matches_powers_of_the_support(data: st.DataObject) -> None:
    mdp = data.draw(mdps(max_states=5, max_actions=2), label="mdp")
    chain = state_chain(mdp, data.draw(policies(mdp), label="policy"))
    steps = np.eye(chain.size, dtype=int) + (chain.kernel > 0)
    assert chain.is_irreducible == bool((np.linalg.matrix_power(steps, chain.size) > 0).all())
    assume(len(chain.closed_classes) == 1)
    inside = chain.kernel[np.ix_(chain.recurrent, chain.recurrent)] > 0
    power, returns = np.eye(len(inside), dtype=bool), []
    for t in range(1, 3 * len(inside) + 1):
        power = (power.astype(int) @ inside.astype(int)) > 0
        returns += [t] if power[0, 0] else []
    assert math.gcd(*returns) == chain.period


def test_errors_name_the_state_the_pair_and_the_period() -> None:
    with pytest.raises(NotErgodicError, match="state 1 cannot be reached from state 0"):
        stationary(kernel_chain(np.eye(2)))
    with pytest.raises(NotErgodicError, match="state 0 cannot be reached from state 1"):
        mu_min(kernel_chain([[0.5, 0.5], [0.0, 1.0]]))
    with pytest.raises(NotErgodicError, match="period 2"):
        t_mix(kernel_chain([[0, 1], [1, 0]]))
    mdp = MDP(np.full((2, 2, 2), 0.5), np.zeros((2, 2)), 0.5)
    with pytest.raises(NotErgodicError, match=r"pair \(s=1, a=1\) cannot be reached"):
        mu_min(pair_chain(mdp, [[0.5, 0.5], [1.0, 0.0]]))
    with pytest.raises(ArithmeticError, match="underflow"):
        stationary(kernel_chain([[0.0, 1.0, 0.0], [1.0, 1e-200, 1e-200], [1e-200, 1.0, 0.0]]))
    with pytest.raises(ValueError, match="method must be"):
        stationary(kernel_chain([[1.0]]), method="guess")  # type: ignore[arg-type]


def test_one_state() -> None:
    chain = kernel_chain([[1.0]])
    assert t_mix(chain) == 0
    assert float(mu_min(chain).value) == 1.0
    assert geometric_ergodicity(chain).m > 0


def test_a_chain_too_slow_to_certify_is_refused() -> None:
    chain = kernel_chain(NEARLY_DECOMPOSABLE)
    with pytest.raises(ArithmeticError, match="cannot be told from the threshold"):
        t_mix(chain)
    with pytest.raises(ArithmeticError, match="mixes too slowly"):
        geometric_ergodicity(chain)


def test_transient_states_are_starting_points() -> None:
    chain = kernel_chain([[0.9, 0.1], [0.0, 1.0]])
    # From state 0 the distance is 0.9^t.
    assert t_mix(chain) == math.ceil(math.log(0.25) / math.log(0.9))


def test_pair_law_is_the_state_law_times_the_policy() -> None:
    rng = np.random.default_rng(5)
    mdp = MDP(rng.dirichlet(np.ones(4), size=(4, 3)), np.zeros((4, 3)), 0.9)
    pi = rng.dirichlet(np.ones(3), size=4)
    pairs, states = stationary(pair_chain(mdp, pi)), stationary(state_chain(mdp, pi))
    product = (states.value[:, None] * pi).ravel()
    rounding = row_defect(mdp.n_actions) + EPS
    assert Certified(product, states.error_bound + rounding, "product").agrees_with(pairs)


@given(st.data())
@examples(200)
def test_mixing_time_is_exact(data: st.DataObject) -> None:
    mdp = data.draw(mdps(max_states=4, max_actions=2, ergodic=True), label="mdp")
    pi = data.draw(policies(mdp, exploring=True), label="policy")
    chain = state_chain(mdp, pi)
    # Of an ergodic chain that mixes in 1e11 steps, neither floats nor rationals of any size can tell the time.
    assume(distance(chain, 64).upper < 0.25)
    t = t_mix(chain)
    assert t <= 64
    assert distance_exact(chain, t) <= Fraction(1, 4)
    assert t == 0 or distance_exact(chain, t - 1) > Fraction(1, 4)
    assert pair_t_mix(mdp, pi) == t_mix(pair_chain(mdp, pi))
    at = distance(chain, t)
    assert Certified(np.array(float(distance_exact(chain, t))), UNIT, "exact").agrees_with(at)


def test_a_tie_with_one_quarter_is_decided_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """d(1) = 1/4 exactly, and 1/4 ± 2^-50: floats alone cannot tell; a strict comparison would say 2."""
    assert t_mix(kernel_chain([[0.75, 0.25], [0.25, 0.75]])) == 1
    for sign, wanted in ((1, 2), (-1, 1)):
        p = 0.75 + sign * 2.0**-50
        chain = kernel_chain([[p, 1 - p], [1 - p, p]])
        assert t_mix(chain) == wanted
        monkeypatch.setattr(mixing, "distance_exact", lambda chain, t: Fraction(1, 4))
        assert t_mix(chain) == 1, "without the rational arbiter both would be 1"
        monkeypatch.undo()


@pytest.mark.parametrize("seed", range(12))
def test_mixing_time_matches_brute_force(seed: int) -> None:
    kernel = random_kernel(seed - seed % 4 + seed % 2, 6)  # weights 1 and 0.1 of the cycle
    t = t_mix(kernel_chain(kernel))
    (at, error), (before, _) = brute_distance(kernel, t), brute_distance(kernel, t - 1)
    assert at - error <= 0.25 < before + error


@given(st.data())
@examples(200)
def test_geometric_ergodicity_bounds_every_time(data: st.DataObject) -> None:
    mdp = data.draw(mdps(max_states=4, max_actions=2, ergodic=True), label="mdp")
    chain = state_chain(mdp, data.draw(policies(mdp, exploring=True), label="policy"))
    pair = geometric_ergodicity(chain)
    assert 0 < pair.rho < 1
    assert pair.m > 0
    for t in (1, 2, 3, 5, 8, 13, 40, 200):
        assert float(distance(chain, t).lower) <= pair.m * pair.rho**t


def test_an_eigenvalue_is_no_certificate() -> None:
    """A shift register of four fair bits: every eigenvalue but 1 is 0, yet it forgets only in four steps."""
    register = np.zeros((16, 16))
    for state in range(16):
        register[state, [2 * state % 16, (2 * state + 1) % 16]] = 0.5
    chain = kernel_chain(register)
    guess = float(np.sort(np.abs(np.linalg.eigvals(register)))[-2])
    assert float(distance(chain, 3).lower) > guess**3
    pair = geometric_ergodicity(chain)
    assert all(float(distance(chain, t).lower) <= pair.m * pair.rho**t for t in range(1, 20))
