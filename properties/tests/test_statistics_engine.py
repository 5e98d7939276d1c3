"""The statistical engine against exact enumeration, dynamic programming and simulation; broken engines beside it."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from properties.statistics import budget, design, intervals
from properties.statistics.mixtures import (
    Average,
    Bernoulli,
    Categorical,
    Mean,
    Minimum,
    NoOutcomeOff,
    Process,
    SoftSign,
    log_mixture,
)
from properties.statistics.records import ALPHA, CellResult, Decision, Interval
from properties.statistics.sequential import DOUBT, LOOK_RATIO, OutOfTime, Plan, judge, look_at_least, run
from robust_core import streams
from robust_core.validate import EPS, Floats

LENGTH = 5
U = EPS / 2
# Of a mean of E, 2^16 roundings. Nearly all are for `Categorical`: its lgamma (kappa <= 100, five outcomes) add up to
# 1273, and Python holds each to 5e-15, 46 roundings, of its size. The others: 4^5 for the sum over all sequences, ten
# for a weight, and for log E some 5·3·80 where exponents reach 80 (the soft sign).
ROUNDING = 2**16 * U
FALSE_ALARM = 1e-6
"""The chance of a right engine to fail one comparison with a simulation, had the seeds been drawn: they are fixed."""


def most(n: int, probability: float) -> int:
    """So many of n independent events are exceeded with probability FALSE_ALARM at most."""
    from scipy.stats import binom

    return int(binom.isf(FALSE_ALARM, n, probability))


# A process and a law on its null's edge: there the mean of E is exactly 1.
FAIR: dict[str, tuple[Process, dict[float, float]]] = {
    "mean above": (Mean.above(0.5, bound=0.0, design=0.7), {0.0: 0.5, 0.25: 0.25, 1.75: 0.25}),
    "mean below": (Mean.below(0.5, bound=2.0, design=0.3), {-3.0: 0.25, 1.5: 0.5, 2.0: 0.25}),
    "bernoulli above": (Bernoulli.versus(0.3, 0.6), {0.0: 0.7, 1.0: 0.3}),
    "bernoulli below": (Bernoulli.versus(0.3, 0.1), {0.0: 0.7, 1.0: 0.3}),
    "soft sign": (SoftSign.versus(1.0, effect=0.5), {-4.0: 0.2, 0.5: 0.3, 1.5: 0.3, 6.0: 0.2}),
    "categorical": (Categorical.designed((0.5, 0.25, 0.25), effect=0.1), {0.0: 0.5, 1.0: 0.25, 2.0: 0.25}),
    "average": (
        Average(Mean.above(0.0, bound=-1.0, design=0.5), Mean.below(0.0, bound=1.0, design=0.5)),
        {-1.0: 0.25, 0.0: 0.5, 1.0: 0.25},
    ),
}


def mean_of_e(process: Process, law: dict[float, float], length: int = LENGTH) -> float:
    """E[E_n] by enumerating every sequence."""
    total = 0.0
    for sequence in itertools.product(law, repeat=length):
        weight = math.prod(law[x] for x in sequence)
        total += weight * math.exp(process.log_e(process.statistic(np.array(sequence))))
    return total


@pytest.mark.parametrize("name", FAIR)
def test_evidence_is_fair_on_the_edge_of_the_null(name: str) -> None:
    process, law = FAIR[name]
    assert mean_of_e(process, law) == pytest.approx(1.0, abs=ROUNDING)


def test_evidence_against_a_union_is_at_most_fair_under_each_part() -> None:
    off = NoOutcomeOff((0.5, 0.25, 0.25), 0.1)
    for law in ({0.0: 0.6, 1.0: 0.2, 2.0: 0.2}, {0.0: 0.4, 1.0: 0.35, 2.0: 0.25}, {0.0: 0.5, 1.0: 0.35, 2.0: 0.15}):
        assert mean_of_e(off, law) <= 1.0 + ROUNDING
    both = Minimum(Mean.below(0.5, bound=1.0, design=1.0), Mean.above(-0.5, bound=-1.0, design=1.0))
    assert mean_of_e(both, {0.0: 0.5, 1.0: 0.5}) <= 1.0 + ROUNDING


def test_enumeration_sees_an_unfair_factor() -> None:
    """A bettor whose centre is off by a billionth, and one who mixes by the maximum instead of the mean."""
    process, law = FAIR["bernoulli above"]
    assert isinstance(process, Bernoulli)
    uncentred = Bernoulli(process.q - 2.0**-30, process.side, process.lambdas)
    assert mean_of_e(uncentred, law) > 1.0 + ROUNDING

    class Greedy(Bernoulli):
        def log_e(self, statistic: Floats) -> float:
            return float(self.log_factors(statistic).max())

    assert mean_of_e(Greedy(process.q, process.side, process.lambdas), law) > 1.0 + ROUNDING


def test_an_impossible_outcome_is_infinite_evidence() -> None:
    process = Categorical.designed((0.5, 0.5, 0.0), effect=0.1)
    assert process.log_e(process.statistic(np.array([0.0, 2.0]))) == math.inf


@pytest.mark.parametrize("name", FAIR)
def test_shards_merge_by_adding_in_any_order(name: str) -> None:
    process, law = FAIR[name]
    rng = streams.numpy_generator(streams.key("shards"))
    x = rng.choice(list(law), size=300, p=list(law.values()))
    whole = process.statistic(x)
    parts = [process.statistic(part) for part in np.array_split(x, 7)]
    # The whole and each part are rounded once, and so are the six sums of parts.
    assert (abs(whole - sum(parts)) <= 8 * U * sum(map(abs, parts))).all()
    assert np.array_equal(process.statistic(x[::-1]), whole)


def simulated(plan: Plan, law: Callable[[np.random.Generator, int], Floats], runs: int, name: str) -> list[Decision]:
    def one(i: int) -> Decision:
        def evidence(start: int, stop: int) -> Floats:
            rng = streams.numpy_generator(streams.key("engine", name, i, start))
            return plan.test.statistic(law(rng, stop - start))

        return run(plan, evidence)

    return [one(i) for i in range(runs)]


DESIGNS = [(0.5, 0.8, 1e-6), (0.25, 0.5, 1e-7), (0.5, 0.2, 1e-6), (0.05, 0.15, 1e-8)]


@pytest.mark.parametrize(("q0", "q1", "alpha"), DESIGNS)
def test_error_rates_are_kept_exactly(q0: float, q1: float, alpha: float) -> None:
    plan = design.bernoulli(q0, q1, alpha=alpha)
    true, false = design.characteristics(plan, q0), design.characteristics(plan, q1)
    assert true.violated <= alpha
    assert false.holds <= plan.beta
    assert false.violated >= 1.0 - plan.beta
    # Without doubt there is room to decide every sequence of zeros and ones.
    assert max(true.undecided, false.undecided) <= DOUBT * plan.beta


@pytest.mark.parametrize(("q0", "q1", "alpha"), DESIGNS)
def test_early_stopping_saves_samples(q0: float, q1: float, alpha: float) -> None:
    plan = design.bernoulli(q0, q1, alpha=alpha)
    fixed = plan.n_max / design.ROOM / LOOK_RATIO
    clearly = q0 / 4.0 if q0 < q1 else 1.0 - (1.0 - q0) / 4.0
    assert 4.0 * design.characteristics(plan, clearly).mean_n <= fixed
    assert design.characteristics(plan, q1).mean_n < fixed


def test_the_exact_rates_see_a_test_that_peeks() -> None:
    """An ordinary test repeated at every look: far beyond its level."""
    from scipy.stats import binom

    alpha, looks = 1e-3, design.bernoulli(0.5, 0.8, alpha=1e-3).looks()
    alive, false, n = np.ones(1), 0.0, 0
    for look in looks:
        alive = np.convolve(alive, binom.pmf(np.arange(look - n + 1), look - n, 0.5))
        k = int(binom.isf(alpha, look, 0.5)) + 1
        false += float(alive[k:].sum())
        alive[k:], n = 0.0, look
    assert false > alpha


@pytest.mark.parametrize("q", [0.1, 0.65, 0.8])
def test_dynamic_programming_agrees_with_simulation(q: float) -> None:
    plan = design.bernoulli(0.5, 0.8, alpha=1e-6)
    exact = design.characteristics(plan, q)
    decisions = simulated(plan, lambda rng, n: (rng.random(n) < q).astype(float), 400, f"dp {q}")
    violated = intervals.proportion(sum(d.outcome == "violated" for d in decisions), len(decisions), alpha=FALSE_ALARM)
    assert exact.violated in violated
    sizes = intervals.mean([d.n for d in decisions], low=0.0, high=plan.n_max, alpha=FALSE_ALARM)
    assert exact.mean_n in sizes


def test_means_pairs_and_outcomes_have_the_stated_power() -> None:
    """At the design defect *violated*, on the claim *holds*; misses at most as many as beta explains."""
    plans: dict[str, tuple[Plan, Callable[..., Floats], Callable[..., Floats]]] = {
        "mean": (
            design.two_sided_mean(0.3, 0.1, low=0.0, high=1.0, alpha=1e-6),
            lambda rng, n: np.clip(rng.beta(1.0, 7.0 / 3.0, n), 0.0, 1.0),
            lambda rng, n: np.clip(rng.beta(1.0, 1.5, n), 0.0, 1.0),
        ),
        "mean, the widest law": (
            design.two_sided_mean(0.0, 0.2, low=-1.0, high=1.0, alpha=1e-6),
            lambda rng, n: 2.0 * rng.random(n) - 1.0,
            lambda rng, n: np.where(rng.random(n) < 0.4, -1.0, 1.0),
        ),
        "paired": (
            design.paired_plan(0.5, alpha=1e-6),
            lambda rng, n: rng.standard_normal(n),
            lambda rng, n: rng.standard_normal(n) + 0.5,
        ),
        "two-sided pair": (
            design.paired_plan(0.5, alpha=1e-6, two_sided=True),
            lambda rng, n: rng.standard_normal(n),
            lambda rng, n: rng.standard_normal(n) - 0.5,
        ),
        "categorical": (
            design.categorical((0.5, 0.3, 0.2), 0.1, alpha=1e-6),
            lambda rng, n: rng.choice(3, n, p=[0.5, 0.3, 0.2]),
            lambda rng, n: rng.choice(3, n, p=[0.4, 0.36, 0.24]),
        ),
    }
    runs = 80
    for name, (plan, right, wrong) in plans.items():
        outcomes = [d.outcome for d in simulated(plan, right, runs, f"{name} right")]
        assert outcomes.count("violated") == 0, name
        assert outcomes.count("holds") >= runs - most(runs, plan.beta), (name, outcomes)
        outcomes = [d.outcome for d in simulated(plan, wrong, runs, f"{name} wrong")]
        assert outcomes.count("violated") >= runs - most(runs, plan.beta), (name, outcomes)


@pytest.mark.parametrize(
    "plan",
    [
        design.two_sided_mean(1.0, 0.25, low=0.0, high=1.0, slack=2.0**-40, alpha=1e-6),
        design.per_replicate(design.two_sided_mean(0.0, 0.2, low=-1.0, high=1.0, alpha=1e-6), 4),
        design.paired_plan(1.0, alpha=1e-6, two_sided=True),
        design.categorical((0.5, 0.3, 0.2), 0.1, draws=2, alpha=1e-6),
        design.bernoulli(0.5, 0.8, alpha=1e-6),
    ],
    ids=lambda plan: plan.test.effect,
)
def test_every_design_does_what_it_was_made_for(plan: Plan) -> None:
    """The misses of 200 runs, the same every time, are as few as the stated power of 1 − beta explains."""
    edge, defect = design.at_design_points(plan)
    assert edge.violated <= plan.alpha
    assert round((1.0 - defect.violated) * design.RUNS) <= most(design.RUNS, plan.beta)
    assert max(edge.mean_n, defect.mean_n) < plan.n_max


def deviation_of_n(plan: Plan, q: float) -> float:
    """The standard deviation of the number of replicates: P(n > look) is what is undecided if that look is the last."""
    ends = [0, *plan.looks()]
    beyond = [1.0, *(design.characteristics(replace(plan, n_max=look), q).undecided for look in plan.looks())]
    parts = list(zip(itertools.pairwise(ends), beyond[:-1], strict=True))
    first, second = (math.fsum((stop**k - start**k) * p for (start, stop), p in parts) for k in (1, 2))
    return math.sqrt(second - first**2)


def test_a_simulated_coin_behaves_as_the_exact_one() -> None:
    from scipy.stats import norm

    plan = design.bernoulli(0.5, 0.8, alpha=1e-6)
    assert plan.test.defect is not None
    exact, drawn = design.characteristics(plan, 0.8), design.simulate(plan, plan.test.defect)
    # A mean of independent runs, by the normal law.
    allowed = norm.isf(FALSE_ALARM / 2.0) * deviation_of_n(plan, 0.8) / math.sqrt(drawn.runs)
    assert abs(drawn.mean_n - exact.mean_n) <= allowed
    for other in (0.75, 0.85):
        assert abs(drawn.mean_n - design.characteristics(plan, other).mean_n) > allowed


def test_a_run_cut_short_and_resumed_has_the_same_bits() -> None:
    plan = design.two_sided_mean(0.5, 0.2, low=0.0, high=1.0, alpha=1e-6)
    kept: dict[tuple[int, int], Floats] = {}

    def evidence(start: int, stop: int) -> Floats:
        if (start, stop) not in kept:
            keys = (streams.key("resume", i) for i in range(start, stop))
            kept[start, stop] = plan.test.statistic(np.array([streams.numpy_generator(k).random() for k in keys]))
        return kept[start, stop]

    whole = run(plan, evidence, piece=5)
    kept.clear()

    def cut_short(start: int, stop: int) -> Floats:
        if len(kept) == 4:
            raise OutOfTime
        return evidence(start, stop)

    pending = run(plan, cut_short, piece=5)
    # The pieces end at 5, 10, 15, 16 (a look), 20 (a look), …
    assert (pending.outcome, pending.n, len(pending.path)) == ("pending", 16, 1)
    assert len(kept) == 4
    assert run(plan, evidence, piece=5) == whole


def test_n_max_is_a_look() -> None:
    plan = design.bernoulli(0.5, 0.8, alpha=1e-6)
    assert plan.looks()[-1] == plan.n_max == look_at_least(plan.n_max)
    with pytest.raises(ValueError, match="look"):
        Plan(plan.test, 1e-6, 1e-3, plan.n_max + 1)


def entry(cell: str, log_e: float, alpha: float = 1e-8) -> CellResult:
    factors = tuple([log_e] * 8)
    return CellResult(
        "undecided", 16, log_e, 0.0, factors,
        law="", cell=cell, seed_set="", n_max=16, alpha=alpha, beta=1e-3, effect="",
    )  # fmt: skip


def test_the_budget_is_never_exceeded() -> None:
    shares = budget.shares({f"cell {i}": 1.0 + i for i in range(37)})
    assert math.fsum(shares.values()) <= budget.RUN_BUDGET / 2.0 * (1.0 + 37 * 2.0**-52)
    with pytest.raises(ValueError, match="more than the budget"):
        budget.gate([entry("greedy", 0.0, alpha=1e-6)])


def test_the_product_sees_what_no_single_cell_shows() -> None:
    weak = [entry(f"cell {i}", 3.0) for i in range(6)]
    assert budget.gate(weak).outcome == "violated"
    assert budget.gate(weak[:4]).outcome == "undecided"
    # Two roundings of 18, where a weight and the mean are added to it, and ten of numbers below 3.
    assert abs(budget.log_product(weak) - 18.0) <= 66 * U


def test_the_product_of_fair_evidence_is_fair() -> None:
    """Exact: two cells, all outcomes of three Bernoulli samples each."""
    process = Bernoulli.versus(0.3, 0.6)
    total = 0.0
    for first, second in itertools.product(range(4), repeat=2):
        weight = math.prod(math.comb(3, k) * 0.3**k * 0.7 ** (3 - k) for k in (first, second))
        factors = [process.log_factors(np.array([3.0, k])) for k in (first, second)]
        total += weight * math.exp(log_mixture(factors[0] + factors[1]))
    assert total == pytest.approx(1.0, abs=ROUNDING)


def test_evidence_of_shared_samples_is_averaged_not_multiplied() -> None:
    """Within a stream and between variants the same samples are looked at: multiplied, one accident would count often.

    Exact: two cells that see the same three Bernoulli samples, and two variants that do.
    """
    process = Bernoulli.versus(0.3, 0.6)
    fair = {"one stream": 0.0, "two variants": 0.0, "multiplied": 0.0}
    for ones in range(4):
        weight = math.comb(3, ones) * 0.3**ones * 0.7 ** (3 - ones)
        factors = tuple(process.log_factors(np.array([3.0, ones])).tolist())
        a, b = (replace(entry(name, 0.0), log_factors=factors, stream="s") for name in ("a", "b"))
        fair["one stream"] += weight * math.exp(budget.log_product([a, b]))
        other = replace(b, variant="other")
        fair["two variants"] += weight * math.exp(budget.log_product([a, other]))
        fair["multiplied"] += weight * math.exp(budget.log_product([a, replace(b, stream="another")]))
    assert fair["one stream"] == pytest.approx(1.0, abs=ROUNDING)
    assert fair["two variants"] == pytest.approx(1.0, abs=ROUNDING)
    assert fair["multiplied"] > 1.0 + ROUNDING
    impossible = replace(entry("a", 0.0), log_factors=(math.inf,) * 8)
    assert budget.log_product([impossible, entry("b", -1.0)]) == math.inf


def test_a_run_is_not_called_green_over_strong_evidence() -> None:
    holding = [replace(entry(f"cell {i}", 2.0), outcome="holds") for i in range(4)]
    assert budget.log_product(holding) > -math.log(DOUBT)
    assert budget.gate(holding).outcome == "undecided"
    assert budget.gate(holding[:2]).outcome == "holds"


def test_holds_is_not_said_over_strong_evidence_against() -> None:
    """Nearly half of a million throws more than half: E in favour is huge, and so is E against."""
    plan = replace(design.bernoulli(0.5, 0.8, alpha=1e-9), n_max=look_at_least(292))
    n = plan.n_max
    seen: set[str] = set()
    for ones in range(n + 1):
        decision = judge(plan, np.array([float(n), float(ones)] * 2), n)
        seen.add(decision.outcome)
        if decision.outcome == "holds":
            assert decision.log_against < -math.log(DOUBT)
        in_doubt = -math.log(DOUBT) <= decision.log_against < -math.log(plan.alpha)
        if in_doubt and decision.log_favour >= -math.log(plan.beta):
            assert decision.outcome == "undecided"
            seen.add("in doubt")
    assert seen == {"holds", "violated", "undecided", "in doubt"}


def test_doubt_makes_no_error_likelier() -> None:
    """Exactly: false *violated* and false *holds* keep their levels, and a true claim is rarely left in doubt."""
    for q0, q1, alpha in DESIGNS:
        plan = design.bernoulli(q0, q1, alpha=alpha)
        true = design.characteristics(plan, q0)
        assert true.violated <= alpha
        assert true.undecided <= DOUBT
        assert design.characteristics(plan, q1).holds <= plan.beta


def test_edges_at_0_and_1_are_tested() -> None:
    never, always = Bernoulli.versus(0.0, 0.5), Bernoulli.versus(1.0, 0.5)
    assert [never.log_e(np.array([9.0, ones])) for ones in (0.0, 1.0)] == pytest.approx([0.0, math.inf], abs=ROUNDING)
    assert [always.log_e(np.array([9.0, ones])) for ones in (9.0, 8.0)] == pytest.approx([0.0, math.inf], abs=ROUNDING)
    # p − effect is exactly 0: an outcome that may never be seen must be seen once before anything holds.
    off = NoOutcomeOff((0.75, 0.25), 0.25)
    assert off.log_e(np.array([400.0, 0.0])) <= ROUNDING
    assert off.log_e(np.array([300.0, 100.0])) > 5.0
    plan = design.certain("an outcome 1", alpha=1e-6)
    decided = [judge(plan, plan.test.statistic(np.array([x])), 1).outcome for x in (0.0, 1.0)]
    assert (decided, plan.looks()) == (["holds", "violated"], [1])
    assert plan.stretch_by(8.0) is plan


@pytest.mark.parametrize("sample", [-0.01, 1.01, math.nan, math.inf, -math.inf])
def test_what_leaves_its_range_is_red_by_itself(sample: float) -> None:
    plan = design.two_sided_mean(0.5, 0.1, low=0.0, high=1.0, alpha=1e-6)
    right = np.full(plan.n_max, 0.5)
    assert judge(plan, plan.test.statistic(right), plan.n_max).outcome == "holds"
    right[3] = sample
    assert judge(plan, plan.test.statistic(right), plan.n_max).outcome == "violated"


def test_the_stated_power_is_that_of_the_worst_law() -> None:
    """Laws of the same defect that are not the one the design was made for are seen no later."""
    plan = design.two_sided_mean(0.5, 0.1, low=0.0, high=1.0, alpha=1e-6)
    assert plan.test.defect is not None
    worst = design.simulate(plan, plan.test.defect, runs=60)
    others: list[Callable[[np.random.Generator, int], Floats]] = [
        lambda rng, n: rng.choice([0.2, 1.0], n, p=[0.5, 0.5]),
        lambda rng, n: rng.choice([0.0, 0.7], n, p=[1.0 / 7.0, 6.0 / 7.0]),
        lambda rng, n: rng.beta(3.0, 2.0, n),
    ]
    for other in others:
        found = design.simulate(plan, other, runs=60)
        assert found.violated == 1.0
        assert found.mean_n <= worst.mean_n
    die = design.categorical((0.5, 0.3, 0.2), 0.1, alpha=1e-6)
    assert die.test.defect is not None
    nearest = design.simulate(die, die.test.defect, runs=40)
    for law in ([0.4, 0.4, 0.2], [0.6, 0.2, 0.2], [0.5, 0.2, 0.3]):
        found = design.simulate(die, design._die(law), runs=40)
        assert found.mean_n <= nearest.mean_n


def test_a_gate_over_nothing_decides_nothing() -> None:
    assert budget.gate([]).outcome == "undecided"


def test_e_bh_names_the_large_ones() -> None:
    ledger = [entry("a", 12.0), entry("b", 0.0), entry("c", 5.5), entry("d", -3.0)]
    assert budget.suspects(ledger, rate=0.01) == ("a", "c")
    assert budget.suspects([entry("b", 0.0)], rate=0.01) == ()


def test_violated_has_the_word_when_both_have_evidence() -> None:
    plan = design.bernoulli(0.5, 0.55, alpha=1e-2, beta=0.5)
    decision = judge(plan, np.array([8000.0, 4220.0, 8000.0, 4220.0]), 8000)
    assert decision.log_favour >= math.log(2.0)
    assert decision.outcome == "violated"


SEQUENCES = 100
CHECKED_SIZES = (20, 50, 100, 200, 400)
MISS = 0.05
"""The probability with which an interval may miss; a textbook's, looked at so often, misses more than that explains."""


def misses(interval: Callable[[Floats], Interval], truth: float, name: str) -> int:
    """How many of the sequences leave their interval at some of the sizes."""
    count = 0
    for i in range(SEQUENCES):
        x = streams.numpy_generator(streams.key("cover", name, i)).random(CHECKED_SIZES[-1])
        count += any(truth not in interval(x[:n]) for n in CHECKED_SIZES)
    return count


def test_intervals_cover_at_all_sizes_at_once() -> None:
    allowed = most(SEQUENCES, MISS)
    assert misses(lambda x: intervals.proportion(int((x < 0.3).sum()), len(x), alpha=MISS), 0.3, "p") <= allowed
    assert misses(lambda x: intervals.median(x, alpha=MISS), 0.5, "median") <= allowed
    assert misses(lambda x: intervals.mean(x, low=0.0, high=1.0, alpha=MISS), 0.5, "mean") <= allowed


@pytest.mark.parametrize("q", [0.01, 0.3, 0.5, 0.97])
def test_an_interval_for_a_fixed_number_covers_exactly(q: float) -> None:
    """By enumeration; and it is narrower than what holds at all numbers at once."""
    from scipy.stats import binom

    n, alpha = 30, 0.1
    found = [intervals.clopper_pearson(ones, n, alpha=alpha) for ones in range(n + 1)]
    assert sum(binom.pmf(ones, n, q) for ones in range(n + 1) if q not in found[ones]) <= alpha
    for ones in range(n + 1):
        wider = intervals.proportion(ones, n, alpha=alpha)
        assert found[ones].upper - found[ones].lower < wider.upper - wider.lower


def test_the_coverage_check_sees_a_textbook_interval() -> None:
    from scipy.stats import norm

    def textbook(x: Floats) -> Interval:
        half = norm.isf(MISS / 2.0) * x.std() / math.sqrt(len(x))
        return Interval(float(x.mean() - half), float(x.mean()), float(x.mean() + half))

    assert misses(textbook, 0.5, "mean") > most(SEQUENCES, MISS)


def test_intervals_shrink() -> None:
    """At a distance d from the truth log E is about n(d/sigma)²/2 less the price of mixing, ½log(pi n/2) by Laplace.

    The grid of bets costs less. Of the median of uniform samples sigma is 1/2, of their mean 1/√12; log(2/alpha) is
    enough evidence.
    """
    n = 2000
    x = streams.numpy_generator(streams.key("shrink")).random(n)
    d = math.sqrt(2.0 * (math.log(2.0 / ALPHA) + math.log(math.pi * n / 2.0) / 2.0) / n)
    for found, sigma in ((intervals.median(x), 0.5), (intervals.mean(x, low=0.0, high=1.0), 1.0 / math.sqrt(12.0))):
        assert found.upper - found.lower <= 2.0 * d * sigma
