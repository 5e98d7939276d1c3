"""Certificates: the checker accepts what certify writes, for every set, and nothing that is false.

Soundness is judged by oracles that share nothing with the checker: if a certificate that was changed at random is still
accepted, V* and the value of its policy, in exact rationals or enclosed, must lie within its bounds. Checkers that are
wrong in one line must be caught by the same test.
"""

import ast
import copy
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.cli.main import main
from oracles.planning import enclosed, rational, s_rectangular
from oracles.planning.truth import TooWide
from robust_core import json, models
from robust_core.certificates import checker, writer
from robust_core.mdp import MDP, SparseRows
from robust_core.prism import write_prism
from robust_core.sets import (
    L1,
    L2,
    BoundedDensity,
    ChiSquare,
    Contamination,
    Interval,
    KullbackLeibler,
    LInfinity,
    LocalAdversary,
    Restart,
    ReverseKullbackLeibler,
    SRectangular,
    SRectangularKullbackLeibler,
    SRectangularL1,
    SRectangularL2,
    SRectangularLInfinity,
    TotalVariation,
    UncertaintySet,
    Wasserstein,
)
from robust_core.validate import Floats

SOURCE = Path(checker.__file__)
GARNET = models.garnet(4, 2, 3, gamma=0.9)
SMALL = models.two_states()
STEEP = MDP([[[0.1, 0.2, 0.7]], [[0.3, 0.3, 0.4]], [[1.0, 0.0, 0.0]]], [[1e6], [-3.0], [0.1]], 0.99)
MODELS = (
    GARNET, STEEP, models.two_states(), models.river_swim(), models.machine_replacement(), models.ring(4),
    models.single_state(),
)  # fmt: skip


def line(n: int) -> Floats:
    """Points on a line, at distances that are not dyadic."""
    places: Any = np.arange(float(n)) * 0.3
    return np.abs(places[:, None] - places)


BURG, TRANSPORT, NEAR = ReverseKullbackLeibler(0.25), Wasserstein(0.25, line(4)), LocalAdversary(0.35, line(4))


NORMS = (SRectangularL1, SRectangularL2, SRectangularLInfinity)


def sets_by_state(S: int) -> Iterator[UncertaintySet]:
    by_state: Any = np.linspace(0.0, 2.0, S)
    for budget in (0.0, 1e-300, 1e-12, 0.25, 1.0, 1e4, by_state):
        yield from (kind(budget, within) for kind in NORMS for within in (False, True))
        yield SRectangularKullbackLeibler(budget)


def sets_for(mdp: MDP) -> Iterator[UncertaintySet]:
    S, A = mdp.n_states, mdp.n_actions
    first = np.eye(S)[0]
    for R in (0.0, 1e-12, 0.25, 1.0):
        yield from (Contamination(R), TotalVariation(R), Restart(R, first), L1(R), L1(R, True), LInfinity(R))
        yield from (LInfinity(R, True), ChiSquare(R), KullbackLeibler(R), BoundedDensity(R * 0.9))
        yield from (L2(R), L2(R, True), ReverseKullbackLeibler(R), ReverseKullbackLeibler(R, True))
        yield from (Wasserstein(R, line(S)), LocalAdversary(R, line(S)))
    yield from (ChiSquare(1e4), KullbackLeibler(1e4), ReverseKullbackLeibler(50.0), L2(5.0), Wasserstein(1e4, line(S)))
    yield from (Interval.around(mdp.P, 0.0), Interval.around(mdp.P, 0.1))
    yield from (Interval(np.zeros(S), np.ones(S)), Interval(first, first))
    by_pair: Any = np.arange(1, S * A + 1).reshape(S, A) / (S * A + 1)
    yield from (
        kind(by_pair) for kind in (Contamination, TotalVariation, ChiSquare, KullbackLeibler, BoundedDensity, L2)
    )
    yield from (ReverseKullbackLeibler(by_pair), LocalAdversary(by_pair, line(S)), Wasserstein(by_pair, line(S)))
    yield from sets_by_state(S)


@pytest.mark.parametrize("mdp", MODELS, ids=repr)
def test_the_checker_accepts_what_is_certified(mdp: MDP) -> None:
    scale = float(np.abs(mdp.cost).max()) / (1.0 - mdp.gamma)
    kinds = set()
    for uncertainty_set in sets_for(mdp):
        found = writer.certify(mdp, uncertainty_set, width=1e-6 * max(scale, 1.0))
        accepted, line = checker.verdict(found.to_json())
        assert accepted, line
        assert found.width <= 1e-9 * max(scale, 1.0), uncertainty_set
        kinds.add(uncertainty_set.kind)
    assert kinds == set(checker.SETS)


def test_values_that_are_nearly_equal_do_not_widen_the_bounds() -> None:
    """A chain with a cheap end, whose values differ in the last bits: sums of them hide which level is the best."""
    S = 8
    P = np.zeros((S, 1, S))
    P[np.arange(S), 0, [0, 1, 2, 3, 4, 5, 7, 7]] = 1.0
    mdp = MDP(P, [[1.0 + k * 2.0**-52] for k in range(6)] + [[1.0], [5.0]], 0.9)
    for uncertainty_set in sets_for(mdp):
        assert writer.certify(mdp, uncertainty_set).width <= 1e-10, uncertainty_set


def test_the_bounds_contain_the_exact_optimum() -> None:
    for uncertainty_set in (Contamination(0.25), TotalVariation(0.25), Contamination(0.0), TotalVariation(1.0)):
        found = writer.certify(GARNET, uncertainty_set)
        V = [min(row) for row in rational.solve(GARNET, uncertainty_set).Q]
        assert all(low <= v <= high for low, v, high in zip(found.lower, V, found.upper, strict=True))


def model_of(data: Any) -> tuple[MDP, UncertaintySet]:
    return MDP(SparseRows(**data["kernel"]), data["cost"], data["gamma"]), UncertaintySet.from_dict(data["set"])


def policy_of(data: Any) -> Floats:
    """The randomised policy of a certificate, whose rows the checker divides by their sums."""
    weights: Floats = np.array([[float(Fraction(x)) for x in row] for row in data["policy"]])
    return weights / weights.sum(axis=1, keepdims=True)


@cache
def true_bounds(text: str) -> tuple[Floats, Floats] | None:
    """A lower bound of V^policy and an upper one of V*, of a model, set and policy; None if no oracle can tell."""
    data = json.loads(text)
    try:
        mdp, uncertainty_set = model_of(data)
    except ValueError:
        return None  # a row that the core takes for a typing error; the checker divides it by its sum
    try:
        if isinstance(uncertainty_set, SRectangular):
            best = s_rectangular.solve(mdp, uncertainty_set)
            value = s_rectangular.evaluate(mdp, uncertainty_set, policy_of(data))
            return value.value - value.error_bound, best.value + best.error_bound
        optimum = enclosed.solve(mdp, uncertainty_set)
        value, _ = enclosed.evaluate(mdp, uncertainty_set, np.eye(mdp.n_actions)[data["policy"]])
    except (TooWide, rational.NoExactSupport):
        return None
    return value.value - value.error_bound, optimum.value.min(axis=1) + optimum.error_bound


def is_true(data: Any) -> bool | None:
    """Whether lower <= V* and V^policy <= upper with the stated width; None if no oracle can tell."""
    bounds = true_bounds(json.dumps({name: data[name] for name in ("kernel", "cost", "gamma", "set", "policy")}))
    if bounds is None:
        return None
    low, high = np.array(data["lower"], dtype=float), np.array(data["upper"], dtype=float)
    return bool((low <= bounds[1]).all() and (bounds[0] <= high).all() and (high - low <= data["width"]).all())


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from leaves(member, (*path, name))
    if not isinstance(value, dict | list) or not value:
        yield path


def tamper(certificate: Any, rng: random.Random) -> Any:
    """The certificate with one to three entries changed, every field as often as the others."""
    data = copy.deepcopy(certificate)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        field = rng.choice(sorted(data))
        path = rng.choice(list(leaves(data[field], (field,))))
        holder = data
        for name in path[:-1]:
            holder = holder[name]
        old, size = holder[path[-1]], rng.choice((1e-15, 1e-13, 1e-11, 1e-9, 1e-6, 1e-3, 0.1, 1.0, 10.0))
        if isinstance(old, float):
            new: tuple[Any, ...] = (
                old + size,
                old - size,
                old * (1 + size),
                old * (1 - size),
                -old,
                0.0,
                1.0,
                old * 1e9,
                1e-300,
            )
        else:
            new = (None, True, -1, 0, 1, 2, "1/2", "0/1", [], [0.5], float("nan"), float("inf"), 10**400)
        if isinstance(holder, list) and rng.random() < 0.25:
            other = rng.randrange(len(holder))
            holder[path[-1]], holder[other] = holder[other], old
        elif rng.random() < 0.04:
            del holder[path[-1]]
        else:
            holder[path[-1]] = rng.choice(new)
    return data


def lies(check: Callable[[Any], str], certificate: Any, rng: random.Random, count: int) -> tuple[int, int]:
    """How many changed certificates a checker accepts though they are false, and how many it rejects."""
    wrong = rejected = 0
    for _ in range(count):
        data = tamper(certificate, rng)
        try:
            check(data)
        except Exception:  # the class Rejected of a mutant is another; `verdict` has a test of its own
            rejected += 1
        else:
            wrong += data != certificate and is_true(data) is False
    return wrong, rejected


def certificates(*sets: UncertaintySet, mdp: MDP = GARNET) -> list[Any]:
    return [json.to_data(writer.certify(mdp, uncertainty_set)) for uncertainty_set in sets]


def one_of_each(S: int) -> tuple[UncertaintySet, ...]:
    return (
        Contamination(0.25), TotalVariation(0.25), L1(0.3), L1(0.3, True), LInfinity(0.1), Restart(0.25, np.eye(S)[0]),
        BoundedDensity(0.25), ChiSquare(0.25), KullbackLeibler(0.25), L2(0.2), L2(0.2, True),
        ReverseKullbackLeibler(0.25), ReverseKullbackLeibler(0.25, True), Wasserstein(0.2, line(S)),
        LocalAdversary(0.35, line(S)), SRectangularL1(0.3), SRectangularL1(0.3, True), SRectangularL2(0.2),
        SRectangularLInfinity(0.1), SRectangularKullbackLeibler(0.25),
    )  # fmt: skip


def test_nothing_false_is_accepted() -> None:
    rng = random.Random(1)
    for certificate in certificates(*one_of_each(2), Interval.around(SMALL.P, 0.1), mdp=SMALL):
        wrong, rejected = lies(checker.check, certificate, rng, 40)
        assert wrong == 0, certificate["set"]
        assert rejected >= 15, certificate["set"]


def test_one_of_each_set_is_tampered_with() -> None:
    assert {each.kind for each in one_of_each(2)} | {"interval"} == set(checker.SETS)


@pytest.mark.robust_core_slow
@pytest.mark.parametrize("place", range(len(one_of_each(2)) + 1))
def test_nothing_false_is_accepted_of_any_set(place: int) -> None:
    """10,000 changes of the certificate of each set: 9,000 of a small model, 1,000 of a larger one."""
    rng = random.Random(2)
    for mdp, count in ((SMALL, 9_000), (GARNET, 1_000)):
        chosen = (*one_of_each(mdp.n_states), Interval.around(mdp.P, 0.1))[place]
        certificate = certificates(chosen, mdp=mdp)[0]
        wrong, rejected = lies(checker.check, certificate, rng, count)
        assert wrong == 0, chosen
        assert rejected >= count // 3, chosen


def false_certificates(certificate: Any) -> Iterator[Any]:
    """Certificates with one value beyond what the true one proves."""
    for s in range(len(certificate["lower"])):
        for name, other, sign in (("lower", "upper", 1), ("upper", "lower", -1)):
            data = copy.deepcopy(certificate)
            data[name][s] = data[other][s] = certificate[other][s] + sign * 1e-9
            yield data


REASON = re.compile(r"rejected: state \d, action \d: (lower <= cost|cost \+ gamma).* fails: \S+ > \S+, by \S+")


def test_messages_name_state_action_and_inequality() -> None:
    for certificate in certificates(TotalVariation(0.25), ChiSquare(0.25), KullbackLeibler(0.25), LInfinity(0.1)):
        for data in false_certificates(certificate):
            accepted, line = checker.verdict(json.dumps(data))
            assert not accepted
            assert REASON.fullmatch(line), line
        data = copy.deepcopy(certificate)
        data["upper"][0] += 1e-6
        assert "state 0: upper − lower <= width fails: " in checker.verdict(json.dumps(data))[1]
        data = copy.deepcopy(certificate)
        successors, data["worst"] = data["kernel"]["successors"], copy.deepcopy(data["kernel"])
        data["worst"]["successors"][0:3] = [1, 2, 3] if successors[0:3] == [0, 1, 2] else [0, 1, 2]
        assert "state 0, action 0: worst is not in the set: " in checker.verdict(json.dumps(data))[1]


# A line of the checker, and what a wrong checker has instead.
MUTANTS = (
    ("objection = over(upper.at[s] - lower[s], width,", "objection = over(lower[s] - upper.at[s], width,"),
    ("uncertainty.admit(s, p[rows], worst[rows])", "pass"),
    ('objection = over(lower[s], value, "lower', 'objection = over(lower[s] - Fraction(1, 10), value, "lower'),
    ("for a, q in enumerate(worst[rows]):", "for a, q in [(a, worst[s * A + a]) for a in policy[s]]:"),
    ("objection = over(value, upper.at[s],", "objection = over(value - Fraction(1, 10), upper.at[s],"),
    ("(1 - R) * mean(p, u.at.__getitem__) + R * self.reach(s, a, u)", "mean(p, u.at.__getitem__)"),
    ("keep = 1 - self.radius(s, a)", "keep = (1 - self.radius(s, a)) / 2"),
    ("/ self.factor * (top - t)", "/ (2 * self.factor) * (top - t)"),
    ("size * self.factor / 2", "size * self.factor / 4"),
)


OF_ONE_SET = (
    ('over(size, self.radius(s, a) ** 2, "Σ(q', 'over(size / 4, self.radius(s, a) ** 2, "Σ(q', L2(0.2)),
    ("t + scale * self.radius(s, a) ** 2 / 2", "t + scale * self.radius(s, a) ** 2 / 4", L2(0.2)),
    ("result += (u.excess_squares(t) - inside)", "result += 0 * (u.excess_squares(t) - inside)", L2(0.2)),
    ("size = mean(p, lambda i: log(p[i] / q[i]", "size = mean(q, lambda i: log(p.get(i, q[i]) / q[i]", BURG),
    ("up=False)) - self.radius(s, a)", "up=False)) - self.radius(s, a) / 2", BURG),
    ('over(cost, self.radius(s, a), "Σ plan', 'over(cost / 2, self.radius(s, a), "Σ plan', TRANSPORT),
    ("return y[0] * self.radius(s, a) + best", "return best", TRANSPORT),
    ('over(self.metric(s, a, i)[j], self.radius(s, a), f"d', 'over(self.radius(s, a), self.radius(s, a), f"d', NEAR),
    ("strict=True) if d <= r] for i in p}", "strict=True) if d == 0] for i in p}", NEAR),
    ("total += self.distance(p[a], q[a])", "total = max(total, self.distance(p[a], q[a]))", SRectangularL1(0.3)),
    ("t = self.top(p, u) - 2 * price / x", "t = self.top(p, u) - 4 * price / x", SRectangularL1(0.3)),
    ("return price * k + sum(terms", "return sum(terms", SRectangularL1(0.3)),
    ("slope, r = value + slope * (m - r), slope - x * gap, m", "slope, r = value, zero, m", SRectangularLInfinity(0.1)),
    ("k * max(x * root(squares) - price, zero)", "0 * squares", SRectangularL2(0.2)),
    ("root(sum((x * x for x in differences", "root(sum((x * x / 9 for x in differences", SRectangularL2(0.2)),
    ("max(x * (u.at[i] - top) / price,", "max(2 * x * (u.at[i] - top) / price,", SRectangularKullbackLeibler(0.25)),
)


@pytest.mark.robust_core_slow
@pytest.mark.parametrize(("line", "wrong", "of"), [(*each, None) for each in MUTANTS] + list(OF_ONE_SET))
def test_wrong_checkers_are_caught(line: str, wrong: str, of: UncertaintySet | None) -> None:
    text = SOURCE.read_text(encoding="utf-8")
    assert line in text
    namespace: dict[str, Any] = {"__name__": "mutant"}
    exec(compile(text.replace(line, wrong), "mutant", "exec"), namespace)
    for seed in range(2):
        rng = random.Random(seed)
        found = certificates(*((Contamination(0.25), TotalVariation(0.25)) if of is None else (of, of)))
        # Values that move together satisfy more of the inequalities than single ones.
        starts = [moved(data, rng) for data in found for _ in range(12 if of is None else 30)]
        starts += [of_another_policy(data) for data in found if of is None]
        starts += [of_a_budget_for_each_action(data) for data in found if isinstance(of, SRectangular)]
        assert sum(lies(namespace["check"], data, rng, 60)[0] for data in starts) > 0


def of_another_policy(certificate: Any) -> Any:
    """The values of the policy that never does what the best one does, as if they were optimal: false."""
    mdp, uncertainty_set = model_of(certificate)
    other = [1 - a for a in certificate["policy"]]
    states = np.arange(mdp.n_states)
    alone = MDP(mdp.P[states, other][:, None], mdp.cost[states, other][:, None], mdp.gamma)
    found = writer.certify(alone, uncertainty_set)
    data = copy.deepcopy(certificate)
    data |= {"policy": other, "lower": found.lower, "upper": found.upper, "width": found.width, "duals": found.duals}
    # The worst rows of the policy, and the nominal ones, members as well, of the other action.
    rows = [(found.worst if a == other[s] else None, s * 2 + a, s) for s in range(mdp.n_states) for a in range(2)]
    offsets, successors, probabilities = [0], list[int](), list[float | str]()
    for given, row, s in rows:
        source, i = (json.to_data(given), s) if given is not None else (certificate["kernel"], row)
        part = slice(source["offsets"][i], source["offsets"][i + 1])
        successors += source["successors"][part]
        probabilities += source["probabilities"][part]
        offsets.append(len(successors))
    data["worst"] = {"offsets": offsets, "successors": successors, "probabilities": probabilities}
    return data


def of_a_budget_for_each_action(certificate: Any) -> Any:
    """Rows and values of the ball with the whole budget for each action, as if the actions shared it: false."""
    mdp, given = model_of(certificate)
    assert isinstance(given, SRectangular)
    found = json.to_data(writer.certify(mdp, given.ball(given.radius)))
    high = [x + 10.0 for x in found["upper"]]  # an upper bound for any policy: only `lower` is false
    return certificate | {"lower": found["lower"], "worst": found["worst"], "upper": high, "width": 11.0}


def test_a_budget_for_each_action_is_rejected() -> None:
    chosen = (*(kind(0.2) for kind in NORMS), SRectangularKullbackLeibler(0.2))
    for certificate in certificates(*chosen):
        data = of_a_budget_for_each_action(certificate)
        assert is_true(data) is False
        with pytest.raises(checker.Rejected, match=r"Σ over the actions of D\(q, p\) <= k fails"):
            checker.check(data)


def test_the_values_of_a_worse_policy_are_rejected_as_optimal() -> None:
    for certificate in certificates(Contamination(0.25), TotalVariation(0.25)):
        data = of_another_policy(certificate)
        assert is_true(data) is False
        with pytest.raises(checker.Rejected, match=r"lower <= cost \+ gamma q·lower fails"):
            checker.check(data)


def moved(certificate: Any, rng: random.Random) -> Any:
    """The certificate with all values, or all rows of the worst kernel, changed at once."""
    data = copy.deepcopy(certificate)
    shift = rng.choice((0.0, 0.0, 1.0, -1.0)) * rng.choice((1e-6, 1e-3, 0.1, 1.0))
    for name in rng.choice((("lower",), ("upper",), ("lower", "upper"))):
        data[name] = [x + shift for x in data[name]]
    if rng.random() < 0.3:
        data["set"]["radius"] = rng.choice((0.0, 0.125, 0.2, 0.3, 0.5))
    if rng.random() < 0.3:
        data["width"] = 10.0
    return data


def test_the_checker_stands_alone(tmp_path: Path) -> None:
    """It imports the standard library, no more, has at most 200 lines and 40 per set, and runs as a script."""
    text = SOURCE.read_text(encoding="utf-8")
    tree = ast.parse(text)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {f"{'.' * node.level}{node.module}" for node in imports if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names
    assert not {"importlib", "ctypes", "pickle"} & names
    assert "__import__" not in text
    own = {kind.__name__ for kind in checker.SETS.values()}
    spans = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name in own]
    lengths = [(node.end_lineno or 0) - node.lineno + 1 for node in spans]
    assert max(lengths) <= 40
    assert len(text.splitlines()) <= 200 + 40 * len(own)
    path, alone = tmp_path / "certificate.json", tmp_path / "checker.py"
    path.write_text(writer.certify(GARNET, L1(0.5)).to_json(), encoding="utf-8")
    alone.write_text(text, encoding="utf-8")
    command = [sys.executable, "-I", "-S", str(alone), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, timeout=60)
    assert (done.returncode, done.stdout[:9], done.stderr) == (0, "accepted:", "")


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"format": 1}', '{"a": 1, "a": 2}', "[" * 100_000, "NaN", b"\xff\xfe", '"x"']
)
def test_other_files_are_rejected(text: str | bytes) -> None:
    accepted, line = checker.verdict(text)
    assert not accepted
    assert line.startswith("rejected: ")


def test_interval_models_of_prism_are_certified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_prism(Path("model.tra"), SMALL, intervals=Interval.around(SMALL.P, 0.125))
    assert main(["certify", "model.tra", "--set", "model", "--gamma", "0.5"]) == 0
    assert main(["check", "certificate.json", "--about", "model.tra"]) == 0
    data = json.load(Path("certificate.json"))
    V = [
        min(row) for row in rational.solve(SMALL, TotalVariation(0.125)).Q
    ]  # two states: one set, up to 16 EPS of rounding
    assert all(
        low <= v + 1e-13 and v - 1e-13 <= high for low, v, high in zip(data["lower"], V, data["upper"], strict=True)
    )


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.json").write_text(GARNET.to_json(), encoding="utf-8")
    np.savez("model.npz", P=GARNET.P, cost=GARNET.cost)
    Path("set.json").write_text(json.dumps(Restart(0.5, np.array([1.0, 0.0, 0.0, 0.0])).to_dict()), encoding="utf-8")
    spelled = (
        "contamination:0.1",
        "total_variation:0.1",
        "l1:0.1:within-support",
        "l2:0.1",
        "interval:0.05",
        "set.json",
    )
    for model in (["model.json"], ["model.npz", "--gamma", "0.9"]):
        for uncertainty_set in spelled:
            assert main(["certify", *model, "--set", uncertainty_set]) == 0
            assert main(["check", "certificate.json", "--about", "model.json"]) == 0
    capsys.readouterr()
    data = json.load(Path("certificate.json"))
    data["lower"][2] += 0.5
    Path("certificate.json").write_text(json.dumps(data), encoding="utf-8")
    assert main(["check", "certificate.json"]) == 1
    assert capsys.readouterr().out.startswith("rejected: state ")
    assert main(["certify", "model.json", "--set", "l1:0.1", "--output", "other.json", "--gamma", "0.5"]) == 0
    capsys.readouterr()
    assert main(["check", "other.json", "--about", "model.npz"]) == 0
    Path("two.json").write_text(models.two_states().to_json(), encoding="utf-8")
    assert main(["check", "other.json", "--about", "two.json"]) == 1
    assert "is about MDP(S=4, A=2, gamma=0.5" in capsys.readouterr().out
    assert main(["certify", "model.json", "--set", "l1:0.1", "--quiet"]) == 0
    assert main(["check", "certificate.json", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["certify", "model.json", "--set", "l1:0.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["states"] == 4
    assert main(["check", "certificate.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accepted"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model.npz", "--set", "l1:0.1"], "model.npz: gamma must be given: the file has none"),
        (["model.json", "--set", "model"], "--set model must come with a .tra file"),
        (["model.json", "--set", "l9:0.1"], "--set must be NAME:RADIUS"),
        (["model.json", "--set", "l1"], "--set must be NAME:RADIUS"),
        (["model.json", "--set", "contamination:0.1:within-support"], "--set must be NAME:RADIUS"),
        (["model.json", "--set", "l1:-1"], "radius must"),
        (["model.json", "--set", "l1:0.1", "--gamma", "1"], "gamma must"),
        (["model.json", "--set", "l1:0.1", "--width", "0"], "width must"),
        (["model.json", "--set", "l1:0.1", "--width", "1e-300"], "width must be at least"),
        (["absent.json", "--set", "l1:0.1"], "absent.json: no such file"),
        (["broken.npz", "--set", "l1:0.1", "--gamma", "0.5"], "broken.npz: "),
        (["model.json", "--set", "set.json"], "metric of Wasserstein must"),
        (["model.json", "--set", "l1:0.1", "--output", "absent/file"], "the folder absent does not exist"),
    ],
)
def test_bad_input(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.json").write_text(GARNET.to_json(), encoding="utf-8")
    Path("broken.npz").write_bytes(b"PK\x03\x04 no archive")
    Path("set.json").write_text(
        '{"kind": "wasserstein", "radius": 0.5, "metric": [[0.0, 1.0], [1.0, 0.0]]}', encoding="utf-8"
    )
    np.savez("model.npz", P=GARNET.P, cost=GARNET.cost)
    assert main(["certify", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not Path("certificate.json").exists()


def test_values_beyond_the_range_of_floats_and_files_without_end_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match="costs are too large"), np.errstate(all="ignore"):
        writer.certify(MDP([[[1.0]]], [[1e308]], 0.99), Contamination(0.1))
    os.mkfifo(tmp_path / "pipe.json")
    assert main(["check", str(tmp_path / "pipe.json")]) == 2
    assert capsys.readouterr().err == f"robust-core: {tmp_path / 'pipe.json'}: must be a regular file\n"
