"""Comparisons of users' variants: what is found, what is not alarmed, how code runs, what is printed and kept."""

import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import combinations, islice
from pathlib import Path
from time import thread_time
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks.cli import own as cli
from benchmarks.cli.main import main
from benchmarks.regression import compare as regression
from benchmarks.regression import (
    courses,
    functions,
    injections,
    isolated,
    own,
    sequential,
    table,
    targets,
    variants,
    waivers,
)
from benchmarks.regression.injections import BIAS, inject
from benchmarks.regression.measures import Measurements, Model, Part, Sample
from benchmarks.regression.paired import hodges_lehmann, mean_between
from benchmarks.regression.problems import PROBLEMS
from benchmarks.regression.sequential import Effort
from benchmarks.runner.store import open_store
from benchmarks.studies import power
from properties.cases.scope import OutOfScope, Scope
from properties.judging import guard
from properties.judging.boundary import NotNumbers
from properties.process.loading import gallery_variants, load
from properties.statistics.budget import RUN_BUDGET
from properties.tests.test_scope import QUICK, strict
from robust_core import Q_LEARNING, Contamination, TabularLearner, Variant, models
from robust_core.mdp import MDP
from robust_core.problem import Problem
from robust_core.streams import key, numpy_generator
from robust_core.trajectory import Recording, Transition

PROBLEM = "garnet, per visit"
EXAMPLES = Path(variants.__file__).parents[2] / "properties" / "variants" / "examples"


class Biased(TabularLearner):
    """Every cost is 1 % too high."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)
        self.rng: Any = problem.rng

    def costs(self, cost: Any) -> Any:
        return 1.01 * cost

    def update(self, transition: Transition) -> None:
        super().update(transition._replace(cost=float(self.costs(np.array([transition.cost]))[0])))

    def update_many(self, recording: Recording) -> None:
        super().update_many(replace(recording, cost=self.costs(recording.cost)))


class Noisy(Biased):
    """Costs are right on average, with noise."""

    def costs(self, cost: Any) -> Any:
        return cost + np.where(self.rng.random(cost.size) < 0.5, -0.5, 0.5)


class Slow(TabularLearner):
    """Steps 1/(1+n) instead of 1/(1 + (1−gamma)n)."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, replace(problem, step_size=replace(problem.step_size, rate=1.0)))


class Unsound(TabularLearner):
    """Its tables end in NaN."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)

    def estimate(self) -> Any:
        return np.full_like(super().estimate(), np.nan)


class Guesses(TabularLearner):
    """Entries that were never visited are reported as what they will be on average: better than anyone can know."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)

    def estimate(self) -> Any:
        table = super().estimate()
        return np.where(table == 0.0, 1.4, table)


def learner(make: Callable[[Problem], Any]) -> Variant:
    return Variant("mine", "control", make, (Contamination,), ("asynchronous",))


MODEL = models.garnet(4, 2, 2, gamma=0.5, seed=key("sampler"))
RIGHT = learner(partial(TabularLearner, Q_LEARNING))


@dataclass
class Here:
    """A side whose code runs in this process: the suite's own learners need no worker."""

    code: Variant
    seed_set: str = "pinned"
    label: str = "here"
    orders: list[tuple[Any, ...]] = field(default_factory=list)
    number: int = 0

    def ask(self, problem: str, model: Any) -> None:
        """Nothing to find out."""

    def identify(self, problem: str) -> None:
        """Nothing to hear."""

    def unit(self, problem: str, start: int, stop: int, *, clock: bool) -> bytes:
        return key("here", self.number, self.code.name, problem, self.seed_set, start, stop, str(clock))

    def begin(self, problem: str, model: Any, start: int, stop: int, *, clock: bool) -> None:
        self.orders.append((self.code, problem, model, self.seed_set, start, stop))

    def finish(self, progressed: Callable[[int], None]) -> Part:
        return variants.measure(*self.orders.pop())


def test_no_side_is_always_the_first_in_a_turn_of_the_clock(tmp_path: Path) -> None:
    begun: list[int] = []

    class Timed(Here):
        def begin(self, *order: Any, clock: bool) -> None:
            begun.append(self.number)

        def finish(self, progressed: Callable[[int], None]) -> Part:
            return Part()

    sides: Any = (Timed(RIGHT, number=0), Timed(RIGHT, number=1))
    with open_store(tmp_path / "store") as store:
        for turn in range(4):
            isolated.measure_piece(sides, PROBLEM, None, 4 * turn, 4 * turn + 4, store=store, clock=True)
    assert begun == [0, 1, 1, 0, 0, 1, 1, 0]


def compare(new: Variant, folder: Path, *, seeds: int = 40, problem: str = PROBLEM) -> regression.Comparison:
    sides: Any = (Here(RIGHT, number=0), Here(new, number=1))
    problems = [(problem, None, variants.metrics_of("control", problem))]
    effort = Effort(clock=False, most=seeds)
    with open_store(folder / "store") as store:
        return sequential.compare(sides, "mine", problems, store=store, effort=effort)[0]


@pytest.mark.parametrize(
    ("make", "metric", "verdict"),
    [
        (Slow, "last error", "worse"),
        (Biased, "bias", "changed"),
        (Noisy, "noise", "changed"),
        (Guesses, "first error", "changed"),
    ],
)
def test_injected_regressions_are_found(make: Any, metric: str, verdict: str, tmp_path: Path) -> None:
    """Slower rate, 1 % bias, larger variance, a bug that improves a metric."""
    found = compare(learner(make), tmp_path)
    assert {row.metric: row.verdict for row in found.rows}[metric] == verdict


def test_the_same_code_is_equivalent_at_the_first_look(tmp_path: Path) -> None:
    found = compare(RIGHT, tmp_path, seeds=1000)
    assert found.verdict == "equivalent"
    assert {row.n for row in found.rows} == {sequential.FIRST}


class Unreal(TabularLearner):
    """Its tables have imaginary parts."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(Q_LEARNING, problem)

    def estimate(self) -> Any:
        return super().estimate() + 1.0j


@pytest.mark.parametrize("kind", ["control", "planner"])
def test_what_is_not_real_is_not_measured(kind: str) -> None:
    right = example("planner")
    wrong = learner(Unreal) if kind == "control" else replace(right, make=lambda *given: right.make(*given) + 1.0j)
    problem = variants.default_problems(kind)[0]
    with pytest.raises(NotNumbers, match="returned an array of complex128, not real numbers"):
        variants.measure(wrong, problem, None, "pinned", 0, 1)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (tuple, ""),
        (list, ""),
        (lambda step: step._replace(s_next=-1), "a state or action that is not there, number 0"),
        (lambda step: step[:3], "a transition that is not 6 numbers, number 0"),
    ],
)
def test_a_sampler_is_read_as_laws_read_it(change: Callable[[Transition], Any], reason: str) -> None:
    """Tuples were refused, and a state −1 counted as the last one."""
    right = example("sampler")
    path = functions._sample(right, MODEL, 0, 8, key("path"))
    if reason:
        with pytest.raises(functions.Misbehaved, match=reason):
            functions._counts(MODEL, map(change, path), 8)
    else:
        assert np.array_equal(functions._counts(MODEL, map(change, path), 8), functions._counts(MODEL, path, 8))


def test_the_first_replicate_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    def spin() -> None:
        while True:
            pass

    isolated._watch(lambda: None)
    for measure, reason in (
        (partial(print, "hello"), r"^printed to standard output: got 'hello\\n', wanted silence$"),
        (np.random.random, "^drew from global random state"),
        (spin, "^one seed took over 0.05 s of the processor$"),
    ):
        monkeypatch.setattr(isolated, "REPLICATE_SECONDS", 0.05 if measure is spin else 60.0)
        with pytest.raises(functions.Misbehaved, match=reason):
            isolated._watch(measure)


def side(name: str, label: str, target: str = "file.py:MINE") -> Any:
    return SimpleNamespace(variant=SimpleNamespace(name=name, target=target), label=label)


def test_variants_of_one_name_are_told_apart() -> None:
    """Two rows of one name could not be told apart, and a file of them could not be read again."""
    assert own.names_of([side("a", "one.py"), side("b", "one.py"), side("a", "two.py")]) == [
        "a (one.py)",
        "b",
        "a (two.py)",
    ]
    with pytest.raises(ValueError, match="name every variant once"):
        own.names_of([side("a", "one.py"), side("a", "one.py")])


def test_variants_of_one_side_only_are_named() -> None:
    old = [side("a", "old f.py:A", "f.py:A"), side("b", "old f.py:B", "f.py:B")]
    new = [side("a", "new f.py:A", "f.py:A"), side("c", "new f.py:C", "f.py:C")]
    assert targets.unpaired(old, new, [(old[0], new[0])]) == [
        "not compared: old f.py:B (b), which is not in the new code",
        "not compared: new f.py:C (c), which is not in the old code",
    ]
    assert targets.unpaired(old[:1], new[:1], [(old[0], new[0])]) == []


def test_several_variants_share_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each had all of it."""
    now = 0.0
    monkeypatch.setattr("benchmarks.regression.own.time.monotonic", lambda: now)
    shares = own._shares(Effort(budget_seconds=60.0), 3)
    assert next(shares).budget_seconds == 20.0
    now = 10.0
    assert next(shares).budget_seconds == 25.0
    now = 70.0
    assert next(shares).budget_seconds == 0.0


def test_a_first_look_beyond_the_time_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("benchmarks.regression.sequential.time.monotonic", lambda: now)
    said: list[str] = []
    effort = Effort(say=said.extend)
    slow = sequential._progress("p", (0, 32), effort, deadline=60.0)
    later = sequential._progress("p", (32, 48), effort, deadline=60.0)
    long = sequential._progress("p", (0, 32), effort, deadline=600.0)
    for finished in range(1, 33):
        now += 10.0
        long(finished)
        slow(finished)
        later(finished)
    assert said == ["p: a first look has 32 seeds, which take about 320 s, more than the time that is left"]


@pytest.mark.parametrize("width", [60, 80])
def test_rows_and_tables_fit_a_terminal(
    width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = compare(learner(Unsound), tmp_path, seeds=2)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    options = Namespace(junit=None, json=False, markdown=False, quiet=False, all=True, strict=False)
    assert cli.show(options, [cli.Shown("mine", found, "mine (control): ")], ()) == 0
    measured = Measurements("pinned", {}, (Sample("last error", "mine", PROBLEM, (1.0, None), 0),))
    cli.show_bench(Namespace(json=False, quiet=False), measured)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    assert sum("last error" in line for line in lines) == 2
    assert sum("not finite" in line for line in lines) >= 2, "NaN is not the absence of a value"


def test_bad_runs_are_judged_where_the_centre_stays() -> None:
    """Every fourth run of the new code ends far off; the others are as likely better as worse."""
    rng = np.random.default_rng(0)
    old = rng.exponential(size=256)
    moved = old * np.exp(0.3 * rng.standard_normal(256))
    new = np.where(np.arange(256) % 4 == 0, 50.0 + moved, moved)
    sides = []
    for values in (old, new):
        sample = Sample("last error", "mine", PROBLEM, tuple(values.tolist()), 0)
        sides.append(Measurements("pinned", {}, (sample,)))
    found = regression.compare(*sequential.with_bad_runs(sides), metrics=variants.OWN_METRICS)
    verdicts = {row.metric: row.verdict for row in found.rows}
    assert verdicts["bad runs"] == verdicts["worst runs"] == "worse"
    same = regression.compare(*sequential.with_bad_runs([sides[0], sides[0]]), metrics=variants.OWN_METRICS)
    assert [row.metric for row in same.rows] == ["last error"]


def test_shares_of_equal_code_keep_their_rate() -> None:
    """Looked at several times, at a level that can be seen."""
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(60):
        d = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.8, 0.1], size=400)
        looks = (mean_between(d[:n], alpha=0.2) for n in range(50, 401, 50))
        alarms += any(found.lower > 0.0 or found.upper < 0.0 for found in looks)
    assert 0 < alarms <= 12


@cache
def blocks(count: int) -> list[Measurements]:
    """Measurements of equal code under other seeds, by a variant that is quick."""
    problem = "two states, per visit"
    parts = [variants.measure(RIGHT, problem, None, f"null {k}", 0, sequential.FIRST) for k in range(count)]
    return [
        Measurements(f"null {k}", {}, tuple(Sample(m, "mine", problem, v, 0) for m, v in part.samples.items()))
        for k, part in enumerate(parts)
    ]


@pytest.mark.robust_core_slow
def test_no_alarm_in_100_null_comparisons_under_other_seeds() -> None:
    pairs = list(islice(combinations(blocks(15), 2), 100))
    assert len(pairs) == 100
    for old, new in pairs:
        for before, now in zip(old.measures, new.measures, strict=True):
            assert isinstance(before, Sample)
            assert isinstance(now, Sample)
            metric = variants.OWN_METRICS[before.metric]
            verdict = regression.decide(metric, before, now, RUN_BUDGET / len(old.measures))
            assert verdict in ("equivalent", "undecided")


def test_seeds_do_not_depend_on_the_name() -> None:
    one, other = (
        variants.measure(replace(RIGHT, name=name), "two states, per visit", None, "pinned", 0, 2) for name in "ab"
    )
    assert one == other


def example(kind: str) -> Variant:
    (variant,) = load(str(EXAMPLES / f"{kind.replace(' ', '_').replace('-', '_')}.py")).values()
    return variant


def test_a_kind_without_metrics_is_refused_and_no_kind_has_lost_them() -> None:
    with pytest.raises(ValueError, match="'oracle' has no metrics: robust-core verify judges it"):
        variants.default_problems("oracle")
    assert {one.kind for one in power.load().powers} <= set(variants.MEASURED)


@pytest.mark.parametrize("kind", variants.MEASURED)
def test_every_kind_is_measured(kind: str) -> None:
    problem = variants.default_problems(kind)[0]
    part = variants.measure(example(kind), problem, None, "pinned", 0, 2)
    assert set(part.samples) == set(variants.metrics_of(kind, problem))
    assert all(value is not None for values in part.samples.values() for value in values)
    assert not sum(part.impossible.values())


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.robust_core_slow] * (kind not in functions.CALLS))
        for kind in variants.MEASURED
    ],
)
def test_a_bias_of_every_kind_is_found(kind: str, tmp_path: Path) -> None:
    """1 % off: costs of a learner, the answer of a function, actions of a policy; a tenth of a sampler's successors.

    1 % of a sampler's successors is below what so few seeds show (docs/regression.md).
    """
    right, problem = example(kind), variants.default_problems(kind)[0]
    wrong = replace(right, make=_shift_a_tenth) if kind == "sampler" else inject(BIAS, right)
    sides: Any = (Here(right, number=0), Here(wrong, number=1))
    problems = [(problem, None, variants.metrics_of(kind, problem))]
    with open_store(tmp_path / "store") as store:
        found = sequential.compare(sides, "mine", problems, store=store, effort=Effort(clock=False, most=80))[0]
    assert found.counts["worse"] + found.counts["changed"] + found.counts["better"]


PLANTED = ("linear evaluation", *courses.FEATURES)


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.robust_core_slow] * (kind not in QUICK)) for kind in variants.MEASURED],
)
def test_no_measured_problem_is_one_that_the_options_leave_out(kind: str) -> None:
    narrow = strict(example(kind))
    (problem,) = variants.default_problems(kind, Scope.of(narrow))
    if kind in PLANTED:
        # The costs are those under which the solution is known.
        with pytest.raises(OutOfScope, match="costs outside"):
            variants.measure(narrow, problem, None, "pinned", 0, 1)
        narrow = strict(example(kind), costs=False)
    part = variants.measure(narrow, problem, None, "pinned", 0, 2)
    assert all(value is not None for values in part.samples.values() for value in values)


def test_the_usual_problems_are_left_where_their_sizes_are_inside() -> None:
    assert variants.default_problems("control", Scope(states=(2,))) == ("two states, per visit",)
    assert variants.default_problems("control", Scope(actions=(3,))) == variants.DEFAULT["control"][1:]
    assert variants.default_problems("planner", Scope(states=(2,))) == (functions.FITTED,)
    found = variants.benchmark(replace(RIGHT, options={"gammas": (0.9,), "costs": (2.0, 3.0)}), PROBLEM, None)
    assert (found.mdp.gamma, found.mdp.cost.min(), found.mdp.cost.max()) == (0.9, 2.0, 3.0)
    assert found.step_size == PROBLEMS[PROBLEM].within(Scope(gammas=(0.9,))).step_size


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        pytest.param(
            ["bench", "mine.py", "--replicates", "2", "--problem", "two states, per visit"], '{"gammas": (0.9,)}',
            "tried for gamma = 0.9 only", marks=pytest.mark.robust_core_slow),
        (["bench", "mine.py", "--problem", PROBLEM], '{"states": (2, 3)}',
         "has 8 states and 3 actions, and mine | <b> is tried with 2 or 3 states only: two states, per visit can be"),
        pytest.param(
            ["rank", "mine.py", "other.py"], '{"gammas": (0.9,)}',
            "no problem is for both: options['gammas'] have nothing in common", marks=pytest.mark.robust_core_slow),
    ],
    ids=["said", "size", "nothing in common"],
)  # fmt: skip
def test_the_options_are_said_by_bench_and_rank(
    command: list[str], options: str, said: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(SOURCE.replace('("asynchronous",)', f'("asynchronous",), {options}'))
    Path("other.py").write_text(SOURCE.replace('("asynchronous",)', '("asynchronous",), {"gammas": (0.5,)}'))
    main([*command, "--budget", "2s"])
    assert said in " ".join(capsys.readouterr().err.split())


def _shift_a_tenth(mdp: MDP, policy: Any, start: int, steps: int, rng: Any) -> Any:
    """A tenth of the transitions go to the likeliest successor."""
    rows = np.eye(mdp.n_states)[mdp.P.argmax(axis=2)]
    return example("sampler").make(MDP(0.9 * mdp.P + 0.1 * rows, mdp.cost, mdp.gamma), policy, start, steps, rng)


def test_a_model_of_the_user() -> None:
    mdp = models.garnet(5, 2, 2, gamma=0.5)
    model = Model(mdp.to_dict(), 0.25)
    part = variants.measure(RIGHT, model.name, model, "pinned", 0, 2)
    assert all(value is not None for value in part.samples["last error"])


def test_several_tables_are_measured_by_their_mean() -> None:
    double = next(v for v in gallery_variants().values() if v.options.get("tables") == 2 and v.kind == "control")
    part = variants.measure(double, "two states, per visit", None, "pinned", 0, 2)
    assert all(value is not None and value < 0.5 for value in part.samples["last error"])


def test_the_median_of_means_by_counting_is_that_of_all_pairs() -> None:
    x = numpy_generator(key("pairs")).standard_normal(1025)
    first, second = np.triu_indices(x.size)
    assert hodges_lehmann(x) == pytest.approx(float(np.median((x[first] + x[second]) / 2.0)), abs=1e-6)


def ratio_row(verdict: Any) -> regression.Row:
    return regression.Row(
        metric="time ratio", variant="v", problem="p", unit="times", direction="lower", kind="ratio", scale="relative",
        margin=0.05, baseline=1.0, today=1.0, verdict=verdict,
    )  # fmt: skip


def test_an_undecided_ratio_does_not_make_the_whole_undecided() -> None:
    assert regression.worst([ratio_row("undecided")]) == "equivalent"
    assert regression.worst([ratio_row("worse")]) == "worse"


def test_waivers(tmp_path: Path) -> None:
    found = compare(learner(Slow), tmp_path)
    path = tmp_path / "waivers.toml"
    entries = {row.metric for row in found.rows if row.verdict in ("worse", "changed")}
    assert entries
    path.write_text(
        "".join(f'[[waived]]\nmetric = "{name}"\nreason = "known"\nexpires = 2999-01-01\n' for name in entries)
    )
    waived = waivers.apply(found, waivers.read(path))
    assert not waived.counts["worse"] + waived.counts["changed"]
    assert f"apart: {len(entries)} waived" in table.text(waived)
    path.write_text('[[waived]]\nmetric = "area"\nreason = "known"\nexpires = 2020-01-01\n')
    with pytest.raises(ValueError, match="entry 1: expired on 2020-01-01"):
        waivers.read(path)
    path.write_text('[[waived]]\nmetric = "aera"\nreason = "known"\nexpires = 2999-01-01\n')
    with pytest.raises(ValueError, match=r"no metric 'aera'.*area"):
        waivers.read(path)


def test_the_injected_slowdown_of_a_short_call_is_that_of_a_long_one() -> None:
    """Idle turns cost the same in short and in long loops; a disturbance only ever lengthens a time.

    The two alternate, so both have their least time where the machine is quick.
    """
    loops = {turns: variants.lengthen(partial(injections._idle, turns), thread_time) for turns in (200, 10_000)}
    rounds = [[seconds() / turns for turns, seconds in loops.items()] for _ in range(20)]
    short, long = map(min, zip(*rounds, strict=True))
    assert 0.8 < short / long < 1.25


def test_the_injected_slowdown_is_measured_while_a_time_limit_is_set() -> None:
    """With a timer of the process its clock moves in ticks: a piece of work took no time at all."""
    work = partial(injections._idle, 100_000)
    found: list[int] = []
    assert guard.watch(lambda: found.extend(injections._idle_turns(work) for _ in range(10))) is None
    assert all(turns > 1_000 for turns in found)


SOURCE = """
from functools import partial
from robust_core import Contamination, Q_LEARNING, TabularLearner, Variant
MINE = Variant("mine | <b>", "control", partial(TabularLearner, Q_LEARNING), (Contamination,), ("asynchronous",))
"""
WRONG = """
from dataclasses import replace
from robust_core import Contamination, Q_LEARNING, TabularLearner, Variant


class Learner(TabularLearner):
    def __init__(self, problem):
        super().__init__(Q_LEARNING, replace(problem, uncertainty_set=Contamination(0.0)))


MINE = Variant("mine | <b>", "control", Learner, (Contamination,), ("asynchronous",))
"""


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e@e"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_a_file_against_its_last_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Through the command line, with workers: Markdown, JUnit, history, exit code."""
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "-q")
    Path("mine.py").write_text(SOURCE)
    git(tmp_path, "add", "mine.py")
    git(tmp_path, "commit", "-qm", "the right one")
    Path("mine.py").write_text(WRONG)
    options = ["--problem", "two states, per visit", "--no-clock", "--history", "h", "--junit", "j.xml", "--markdown"]
    assert main(["compare", "mine.py", "--baseline", "HEAD", *options]) == 1
    output = capsys.readouterr().out
    assert output.startswith("### mine \\| &lt;b&gt;: **worse**")
    assert "| worse | last error / two states, per visit |" in output
    suite = ElementTree.parse("j.xml").getroot()
    assert int(suite.get("failures", "0")) >= 2
    (line,) = (path.read_text() for path in Path("h").glob("*.jsonl"))
    record = json.loads(line)
    assert record["message"] == "the right one"
    assert record["revision"].endswith("+")
    assert main(["history", "h", "--strict"]) == 3
    assert "changed since" in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"that revision has no other\.py"), targets.at_revision("other.py", "HEAD"):
        pass


@pytest.mark.robust_core_slow
def test_misbehaviour_is_a_regression_and_a_kill_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.py").write_text(SOURCE)
    body = "class Learner(TabularLearner):\n    def __init__(self, problem):\n        {}\n        "
    start = SOURCE.replace("partial(TabularLearner, Q_LEARNING)", "Learner").replace("MINE =", "{}\nMINE =")
    rest = "super().__init__(Q_LEARNING, problem)\n"
    Path("raises.py").write_text(start.format(body.format("raise RuntimeError('no')") + rest))
    Path("killed.py").write_text(start.format(body.format("import os; os.kill(os.getpid(), 9)") + rest))
    options = ["--problem", "two states, per visit", "--no-clock"]
    assert main(["compare", "old.py", "raises.py", *options]) == 1
    assert "raised RuntimeError: no" in capsys.readouterr().out
    assert main(["compare", "raises.py", "old.py", *options]) == 2
    assert main(["compare", "old.py", "killed.py", *options]) == 2
    assert "run the same command again" in capsys.readouterr().err


@pytest.mark.robust_core_slow
def test_a_ranking_and_a_file_of_measurements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("right.py").write_text(SOURCE)
    Path("wrong.py").write_text(WRONG.replace("mine | <b>", "wrong"))
    problem = ["--problem", "two states, per visit", "--budget", "20s"]
    assert main(["rank", "right.py", "wrong.py", *problem, "--json"]) == 0
    ranks = {(rank["metric"], rank["variant"]): rank for rank in json.loads(capsys.readouterr().out)["ranks"]}
    assert ranks["last error", "mine | <b>"]["last"] == 1
    assert ranks["last error", "wrong"]["best"] == 2
    assert main(["bench", "right.py", *problem, "--replicates", "40", "--output", "saved.jsonl"]) == 0
    Path("wrong.py").write_text(WRONG)
    assert main(["compare", "wrong.py", "--baseline", "saved.jsonl", *problem]) == 1
    Path("renamed.py").write_text(SOURCE.replace("mine |", "another |"))
    assert main(["compare", "renamed.py", "--baseline", "saved.jsonl", *problem]) == 0
    assert main(["compare", "right.py"]) == 2
    capsys.readouterr()
    assert main(["compare", "right.py", "--baseline", "saved.jsonl", "--problem", PROBLEM]) == 2
    assert "measures of 'mine | <b>' on two states, per visit only" in capsys.readouterr().err
    # Fewer seeds than turns of the clock, and than those of the first look.
    assert main(["bench", "right.py", *problem, "--replicates", "8", "--output", "saved.jsonl"]) == 0
    assert main(["compare", "right.py", "--baseline", "saved.jsonl", "--budget", "20s", "--strict"]) == 0


@pytest.mark.robust_core_slow
@pytest.mark.parametrize(
    ("patch", "command"),
    [
        ("import numpy as np\nmean = np.mean\nnp.mean = lambda *a, **k: 0.5 * mean(*a, **k)\n", "compare"),
        (
            "from benchmarks.regression import tabular\nsignificant = tabular.significant\n"
            "tabular.significant = lambda x: significant(0.5 * x)\n",
            "rank",
        ),
        ("from benchmarks.regression import tabular\ntabular.EPSILON = 0.5\n", "bench"),
    ],
    ids=["numpy", "rounding", "constant"],
)
def test_numbers_of_a_process_that_was_changed_from_inside_do_not_count(
    patch: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.py").write_text(SOURCE)
    Path("new.py").write_text(SOURCE + patch)
    sides = ["new.py"] if command == "bench" else ["old.py", "new.py"]
    clock = ["--no-clock"] if command == "compare" else []
    assert main([command, *sides, "--problem", "two states, per visit", *clock]) == 2
    assert "changed from inside" in capsys.readouterr().err


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.robust_core_slow] * (kind not in ("operator", "batch")))
        for kind in variants.MEASURED
    ],
)
def test_the_canary_of_every_kind_can_be_measured(kind: str) -> None:
    found = isolated.read_canary(kind)
    assert found == isolated.read_canary(kind)
    # Its reading is that of a wrong algorithm: another one than that of a right one.
    right = variants.measure(example(kind), variants.default_problems(kind)[0], None, isolated.CANARY, 0, 1)
    assert found.samples != right.samples
