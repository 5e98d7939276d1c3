"""Design twins: for a test its sample sizes, error rates and detectable effect, computed before any sample is drawn.

`bernoulli`, `two_sided_mean`, `paired_plan` and `categorical` make a plan from (effect, alpha, beta); the power is that
for the worst law that the words of the effect allow. `fixed_size` is the size of the ordinary test with the same two
error probabilities; `characteristics` follows a Bernoulli plan exactly, by dynamic programming over its looks.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from statistics import NormalDist

import numpy as np

from properties.statistics.mixtures import Average, Bernoulli, Categorical, Mean, Minimum, NoOutcomeOff, SoftSign
from properties.statistics.records import Decision
from properties.statistics.sequential import BETA, DOUBT, Plan, Sampler, Test, look_at_least, probability, run
from robust_core import validate
from robust_core.streams import key, numpy_generator
from robust_core.validate import Floats

LARGEST = 100_000
"""Fixed sample sizes beyond this are no design: a cell's replicates are runs of an algorithm, not throws of a coin."""
ROOM = 1.6
"""n_max in units of the fixed sample size: leaves few runs undecided at the design points (measured in the docs)."""


def fixed_size(standardised_effect: float, *, alpha: float, beta: float) -> int:
    """The sample size of the normal test of a mean: ((z_alpha + z_beta)/effect)².

    >>> fixed_size(0.5, alpha=1e-6, beta=1e-3)
    247
    """
    _levels(alpha, beta)
    effect = validate.positive("standardised_effect", standardised_effect)
    # scipy.stats takes half a second to import, which every worker would spend.
    quantile = NormalDist().inv_cdf
    return math.ceil(((quantile(alpha) + quantile(beta)) / effect) ** 2)


def _levels(alpha: float, beta: float) -> None:
    """Refuse error probabilities that a test without samples has: alpha + beta >= 1."""
    if not probability("alpha", alpha) + probability("beta", beta) < 1.0:
        raise ValueError(f"alpha + beta must be below 1, which needs no sample, got {alpha} + {beta}")


@cache
def fixed_size_bernoulli(q0: float, q1: float, *, alpha: float, beta: float) -> int:
    """The least n for which some k has P(Bin(n,q0) >= k) <= alpha and P(Bin(n,q1) < k) <= beta; exact.

    The least k of the first condition is the best for the second, and does not decrease in n.

    >>> fixed_size_bernoulli(0.5, 0.8, alpha=1e-6, beta=1e-3)
    151
    """
    from scipy.special import bdtr, bdtrc

    _levels(alpha, beta)
    if not probability("q0", q0) < probability("q1", q1):
        raise ValueError(f"q0 must lie below q1 = {q1}, got {q0}")
    # By the normal approximation at the larger deviation: a search that would not end is refused.
    about = fixed_size((q1 - q0) / math.sqrt(max(q * (1.0 - q) for q in (q0, q1))), alpha=alpha, beta=beta)
    if about > LARGEST:
        raise ValueError(
            f"q1 − q0 must be larger: {q1 - q0:g} takes some {about} samples, at most {LARGEST} are for use"
        )
    n = k = 0
    while True:
        n += 1
        while bdtrc(k - 1, n, q0) > alpha:  # P(Bin > k − 1)
            k += 1
        if bdtr(k - 1, n, q1) <= beta:
            return n


def bernoulli(q0: float, q1: float, *, alpha: float, beta: float = BETA) -> Plan:
    """Claim: P(X = 1) <= q0 (if q0 < q1; >= if q0 > q1). The design defect is q1.

    >>> bernoulli(0.5, 0.8, alpha=1e-6).n_max
    292
    """
    if probability("q0", q0) == probability("q1", q1):
        raise ValueError(f"q1 must differ from q0 = {q0}: the defect must be one, got {q1}")
    if q0 < q1:
        fixed = fixed_size_bernoulli(q0, q1, alpha=alpha, beta=beta)
    else:
        fixed = fixed_size_bernoulli(1.0 - q0, 1.0 - q1, alpha=alpha, beta=beta)
    word = "<=" if q0 < q1 else ">="
    effect = f"P = {q1:g} where P {word} {q0:g} is claimed"
    test = Test(Bernoulli.versus(q0, q1), Bernoulli.versus(q1, q0), effect, _coin(q0), _coin(q1))
    return Plan(test, alpha, beta, look_at_least(ROOM * fixed))


def certain(effect: str, *, alpha: float, beta: float = BETA) -> Plan:
    """Claim: the outcome 1 never happens, in a run without chance; one sample decides, and no error has any chance.

    >>> certain("the run ends elsewhere", alpha=1e-6).n_max
    1
    """
    test = Test(Bernoulli.versus(0.0, 1.0), Bernoulli.versus(1.0, 0.0), effect, _coin(0.0), _coin(1.0))
    # Both processes are infinite or 1, so neither probability is used; a plan must have some.
    return Plan(test, alpha, beta, 1)


def two_sided_mean(
    m: float, effect: float, *, low: float, high: float, slack: float = 0.0, alpha: float, beta: float = BETA
) -> Plan:
    """Claim: E[X] = m for X in [low, high], both within `slack`; the defect is a mean off by the effect on either side.

    The design is for the worst law that these words allow. Every log f_λ is concave in x, so among the laws in the
    range with a given mean the one on its two ends has the least expected growth of evidence, and it has the largest
    variance (Bhatia and Davis, 2000). Where m is so near an end that a defect on that side would leave the range, there
    is not such a defect: a sample beyond the range is red by itself.
    """
    for name, value in (("m", m), ("low", low), ("high", high)):
        validate.real(name, value)
    validate.positive("effect", effect)
    if not slack >= 0.0:
        raise ValueError(f"slack must not be negative, got {slack}")
    if not low <= m <= high:
        raise ValueError(f"m must lie in [low, high] = [{low}, {high}], got {m}")
    defects = [mean for mean in (m + effect, m - effect) if low < mean < high]
    if not defects:
        raise ValueError(f"effect must lie below {max(high - m, m - low)}, the larger distance to an end, got {effect}")
    spread = [math.sqrt((high - mean) * (mean - low)) for mean in defects]
    sigma, worst = max(zip(spread, defects, strict=True))
    bet, ends = effect / (sigma**2 + effect**2), (low - slack, high + slack)
    against = (
        Mean.above(m + slack, bound=ends[0] - slack, design=bet),
        Mean.below(m - slack, bound=ends[1] + slack, design=bet),
    )
    favour = [
        Mean.below(mean, bound=ends[1], design=bet) if mean > m else Mean.above(mean, bound=ends[0], design=bet)
        for mean in defects
    ]
    test = Test(
        Average(*against),
        Minimum(*favour) if len(favour) == 2 else favour[0],
        f"a mean that differs from {m:g} by {effect:g}, for any distribution on [{low:g}, {high:g}]",
        _two_points(m, low, high),
        _two_points(worst, low, high),
    )
    fixed = fixed_size(effect / sigma, alpha=alpha / 2, beta=beta)
    return Plan(test, alpha, beta, look_at_least(ROOM * fixed))


def paired_plan(effect: float, *, alpha: float, two_sided: bool = False) -> Plan:
    """Claim: X is symmetric about 0 or stochastically smaller (two-sided: symmetric).

    The defect is a normal distribution of standard deviation 1 that is shifted by the effect. For wider distributions
    the power is smaller: the words say *normal*.
    """
    up, down = (SoftSign.versus(0.0, effect=effect, side=side) for side in (1, -1))
    low, high = SoftSign.versus(effect, effect=effect, side=-1), SoftSign.versus(-effect, effect=effect)
    points = _normal(0.0), _normal(effect)
    words = f"a normal distribution of standard deviation 1 shifted by {effect:g}"
    test = (
        Test(Average(up, down), Minimum(low, high), f"{words} either way", *points)
        if two_sided
        else Test(up, low, words, *points)
    )
    share = alpha / 2 if two_sided else alpha
    # Signs and soft signs see a normal shift with the efficiency 2/π of the median at worst.
    fixed = math.pi / 2 * fixed_size(effect, alpha=share, beta=BETA)
    return Plan(test, alpha, BETA, look_at_least(ROOM * fixed))


def categorical(p: Sequence[float], effect: float, *, draws: int = 1, alpha: float, beta: float = BETA) -> Plan:
    """Claim: outcomes are independent with distribution p; the defect is an outcome off by `effect`.

    A replicate has `draws` outcomes. The size is that of two-sided tests of every outcome at the largest standard
    deviation. The design defect is the distribution nearest to p, in relative entropy, of all those with an
    outcome off by the effect (`_nearest_defect`).
    """
    against = Categorical.designed(p, effect=effect)
    validate.count("draws", draws, least=1)
    if not effect < max(p):
        raise ValueError(
            f"effect must lie below {max(p)}, the largest probability, from which it is moved, got {effect}"
        )
    spread = math.sqrt(max(q * (1.0 - q) for q in p))
    fixed = fixed_size(effect / spread, alpha=alpha / (2 * len(p)), beta=beta / (2 * len(p)))
    test = Test(
        against,
        NoOutcomeOff(tuple(p), effect),
        f"an outcome whose probability differs by {effect:g}",
        _die(p),
        _die(_nearest_defect(p, effect)),
    )
    return Plan(test, alpha, beta, look_at_least(ROOM * fixed / draws), draws)


def _coin(q: float) -> Sampler:
    return lambda rng, n: (rng.random(n) < q).astype(np.float64)


def _two_points(mean: float, low: float, high: float) -> Sampler:
    return lambda rng, n: np.where(rng.random(n) < (mean - low) / (high - low), high, low)


def _normal(mean: float) -> Sampler:
    return lambda rng, n: rng.normal(mean, 1.0, n)


def _die(p: Sequence[float]) -> Sampler:
    return lambda rng, n: rng.choice(len(p), n, p=np.asarray(p) / math.fsum(p)).astype(np.float64)


def _nearest_defect(p: Sequence[float], effect: float) -> list[float]:
    """The law q with |q_i − p_i| >= effect for some i whose relative entropy to p is least.

    The entropy is at least that of the outcomes "i" and "not i" (data processing), with equality where the others keep
    their proportions. Moving i further adds to it, so it is least at q_i = p_i ± effect, for one of the i and signs.
    """
    moved = [
        (_entropy(edge, q), place, edge)
        for place, q in enumerate(p)
        if q > 0.0
        for edge in (q - effect, q + effect)
        if 0.0 <= edge <= 1.0
    ]
    _, place, edge = min(moved)
    return [edge if i == place else q * (1.0 - edge) / (1.0 - p[place]) for i, q in enumerate(p)]


def _entropy(x: float, q: float) -> float:
    """The relative entropy of a coin x to a coin q."""
    return sum(a * math.log(a / b) for a, b in ((x, q), (1.0 - x, 1.0 - q)) if a > 0.0)


@dataclass(frozen=True)
class Characteristics:
    """The probabilities of the three outcomes and the expected sample size, at one truth.

    Exact, or the shares and the mean of so many simulated `runs`.
    """

    violated: float
    holds: float
    undecided: float
    mean_n: float
    runs: int = 0


@dataclass(frozen=True)
class Boundaries:
    """For each look n the least number of ones that decides one way and the largest that decides the other."""

    looks: tuple[int, ...]
    upper: tuple[int, ...]
    lower: tuple[int, ...]
    rising: bool
    """Whether many ones mean *violated*."""


def boundaries(plan: Plan) -> Boundaries:
    """The integer boundaries of a Bernoulli plan.

    log E is monotone in the number of ones, so one boundary is found by bisection.
    """
    against, favour = plan.test.against, plan.test.favour
    if not (isinstance(against, Bernoulli) and isinstance(favour, Bernoulli)):
        raise TypeError("boundaries are for Bernoulli plans")
    rising = against.side > 0
    high, low = (against, favour) if rising else (favour, against)
    levels = (-math.log(plan.alpha), -math.log(plan.beta))
    high_level, low_level = levels if rising else levels[::-1]
    upper, lower = [], []
    for n in plan.looks():
        most, least = (
            _least(n, partial(_enough_ones, high, high_level, n)),
            n - _least(n, partial(_enough_zeros, low, low_level, n)),
        )
        # *holds* is not said in doubt (as in `judge`).
        if rising:
            least = min(least, _least(n, partial(_enough_ones, against, -math.log(DOUBT), n)) - 1)
        else:
            most = max(most, n - _least(n, partial(_enough_zeros, against, -math.log(DOUBT), n)) + 1)
        upper.append(most)
        lower.append(least)
    return Boundaries(tuple(plan.looks()), tuple(upper), tuple(lower), rising)


def _enough_ones(process: Bernoulli, level: float, n: int, ones: int) -> bool:
    return process.log_e(np.array([float(n), float(ones)])) >= level


def _enough_zeros(process: Bernoulli, level: float, n: int, zeros: int) -> bool:
    return process.log_e(np.array([float(n), float(n - zeros)])) >= level


def _least(n: int, true_from: Callable[[int], bool]) -> int:
    """The least k in 0 … n with true_from(k), n + 1 if there is none."""
    low, high = 0, n + 1
    while low < high:
        middle = (low + high) // 2
        if true_from(middle):
            high = middle
        else:
            low = middle + 1
    return low


def characteristics(plan: Plan, q: float) -> Characteristics:
    """The exact behaviour of a Bernoulli plan when P(X = 1) = q: dynamic programming over the looks.

    >>> plan = bernoulli(0.5, 0.8, alpha=1e-6)
    >>> characteristics(plan, 0.5).violated <= plan.alpha, characteristics(plan, 0.8).holds <= plan.beta
    (True, True)
    """
    from scipy.stats import binom

    validate.unit_interval("q", q)
    edges = boundaries(plan)
    alive: Floats = np.ones(1)
    n, mean_n = 0, 0.0
    absorbed = {"up": 0.0, "down": 0.0}
    for look, upper, lower in zip(edges.looks, edges.upper, edges.lower, strict=True):
        mean_n += float(alive.sum()) * (look - n)
        alive = np.convolve(alive, binom.pmf(np.arange(look - n + 1), look - n, q))
        n = look
        sides = [("up", slice(upper, None)), ("down", slice(0, lower + 1))]
        # Where both have evidence, *violated* has the word (as in `judge`).
        for name, decided in sides if edges.rising else sides[::-1]:
            absorbed[name] += float(alive[decided].sum())
            alive[decided] = 0.0
    violated, holds = (absorbed[name] for name in (("up", "down") if edges.rising else ("down", "up")))
    return Characteristics(violated, holds, float(alive.sum()), mean_n)


OUTCOMES = ("violated", "holds", "undecided")
RUNS = 200
"""Simulated runs of a plan whose engine has no exact boundaries: an outcome of 1 in 1,000 is rarely seen."""


def at_design_points(plan: Plan) -> tuple[Characteristics, Characteristics]:
    """The behaviour of any plan where the claim just holds and at the design defect: exact for Bernoulli plans.

    The others are simulated, with the same samples every time.
    """
    against = plan.test.against
    if isinstance(against, Bernoulli) and isinstance(plan.test.favour, Bernoulli):
        return characteristics(plan, against.q), characteristics(plan, plan.test.favour.q)
    if plan.test.edge is None or plan.test.defect is None:
        raise ValueError(f"the test of {plan.test.effect!r} has no samplers of its design points")
    return simulate(plan, plan.test.edge), simulate(plan, plan.test.defect)


def simulate(plan: Plan, sampler: Sampler, *, runs: int = RUNS) -> Characteristics:
    """The shares of the outcomes and the mean number of replicates over simulated runs."""
    validate.count("runs", runs, least=1)
    decisions = [_simulated(plan, sampler, numpy_generator(key("design", number))) for number in range(runs)]
    violated, holds, undecided = (sum(d.outcome == word for d in decisions) / runs for word in OUTCOMES)
    return Characteristics(violated, holds, undecided, sum(d.n for d in decisions) / runs, runs)


def _simulated(plan: Plan, sampler: Sampler, rng: np.random.Generator) -> Decision:
    return run(plan, lambda start, stop: plan.test.statistic(sampler(rng, (stop - start) * plan.draws)))


def per_replicate(plan: Plan, draws: int) -> Plan:
    """The same plan when every replicate brings `draws` samples."""
    validate.count("draws", draws, least=1)
    return replace(plan, n_max=look_at_least(plan.n_max / draws), draws=draws)
