"""Models in the explicit files of PRISM: transitions (.tra), rewards of states and transitions (.srew, .trew), labels.

The files are those of `prism -exportmodel` and `-importmodel`. A line that begins with # is a comment.

    .tra    `states choices transitions`, then `source choice target probability [action]` for a model with choices;
            `states transitions`, then `source target probability` for a chain. A probability is a number, a fraction
            such as 2/5, or an interval such as [0.1,0.3]: then every one is, and the model has an `Interval` set.
    .srew   `states entries`, then `state reward`: for every step from the state
    .trew   `states choices entries`, then `source choice target reward`: for every step by that transition
    .lab    `0="init" 1="deadlock" …`, then `state: label label …`

Rewards are costs, as for Rmin: the cost of a pair is that of the state and the mean of those of its transitions. A
state with fewer choices than another repeats its last one, which changes no optimal value.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

from robust_core import json, validate
from robust_core.mdp import MDP, SparseRows
from robust_core.sets import Interval
from robust_core.validate import Floats

LARGEST_FILE = 1 << 28
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_LABEL = re.compile(r'([0-9]+)="([^"]+)"')
Key = tuple[int, int, int]


@dataclass(frozen=True)
class PrismModel:
    """A model, the set of its intervals if it has some, and the states of each label."""

    mdp: MDP
    intervals: Interval | None = None
    labels: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Transitions:
    n_states: int
    is_chain: bool
    bounds: dict[Key, tuple[float, float]]
    actions: dict[tuple[int, int], str]
    has_intervals: bool


def read_prism(path: Path, gamma: float) -> PrismModel:
    """The model whose transitions are in a file .tra; files .srew, .trew and .lab of the same name are read too.

    Anything else is a `ValueError` that names the file, the line and the rule.
    """
    path = Path(path)
    gamma = validate.discount("gamma", gamma)
    found = _read_transitions(path)
    rewards = {suffix: path.with_suffix(suffix) for suffix in (".srew", ".trew")}
    if not any(each.exists() for each in rewards.values()):
        raise ValueError(f"{path}: there must be rewards beside it, {path.stem}.srew or {path.stem}.trew")
    state, move = {}, {}
    if rewards[".srew"].exists():
        state = _read_rewards(rewards[".srew"], found, 1)
    if rewards[".trew"].exists():
        move = _read_rewards(rewards[".trew"], found, 2 if found.is_chain else 3)
    with json.blame_on(path):
        return _model(found, state, move, gamma, _read_labels(path.with_suffix(".lab"), found.n_states))


def _lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The place and the words of every line that is not a comment."""
    for count, line in enumerate(json.text_of(path, largest=LARGEST_FILE).splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield f"{path}, line {count}", line.split()


def _whole(place: str, name: str, text: str, size: int | None = None) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise ValueError(f"{place}: {name} must be a whole number, got {text!r:.40}")
    if size is not None and int(text) >= size:
        raise ValueError(f"{place}: {name} must be below {size}, got {text}")
    return int(text)


def _number(place: str, name: str, text: str) -> float:
    top, slash, bottom = text.partition("/")
    if len(text) > 400 or not all(_NUMBER.fullmatch(part) for part in (top, bottom if slash else "1")):
        raise ValueError(f"{place}: {name} must be a number or a fraction, got {text!r:.40}")
    if slash and Fraction(bottom) == 0:
        raise ValueError(f"{place}: {name} must not have the denominator 0, got {text!r:.40}")
    value = float(Fraction(top) / Fraction(bottom)) if slash else float(top)
    return validate.real(f"{place}: {name}", value)


def _header(path: Path, lines: Iterator[tuple[str, list[str]]], counts: Sequence[int], names: str) -> list[int]:
    place, words = next(lines, (str(path), []))
    if len(words) not in counts:
        raise ValueError(f"{place}: the first line must be {names}, got {' '.join(words)!r:.60}")
    return [_whole(place, "a count", word) for word in words]


def _read_transitions(path: Path) -> _Transitions:
    lines = _lines(path)
    header = _header(path, lines, (2, 3), "`states choices transitions`, or `states transitions` of a chain")
    is_chain, S, bounds = len(header) == 2, header[0], dict[Key, tuple[float, float]]()
    actions: dict[tuple[int, int], str] = {}
    kinds: set[bool] = set()
    for place, words in lines:
        if len(words) not in ((3,) if is_chain else (4, 5)):
            form = "source target probability" if is_chain else "source choice target probability [action]"
            raise ValueError(f"{place}: a transition must be `{form}`, got {' '.join(words)!r:.60}")
        source = _whole(place, "the source", words[0], S)
        choice = 0 if is_chain else _whole(place, "the choice", words[1])
        target = _whole(place, "the target", words[1 if is_chain else 2], S)
        low, high, is_interval = _bounds(place, words[2 if is_chain else 3])
        kinds.add(is_interval)
        if (source, choice, target) in bounds:
            raise ValueError(f"{place}: the transition {source} {choice} {target} is there twice")
        bounds[source, choice, target] = low, high
        if len(words) == 5 and actions.setdefault((source, choice), words[4]) != words[4]:
            raise ValueError(f"{place}: choice {choice} of state {source} must have one action, got {words[4]!r:.40}")
    if len(kinds) > 1:
        raise ValueError(f"{path}: either all probabilities must be intervals or none")
    choices = {key[:2] for key in bounds}
    wanted = header[1:] if is_chain else header[2:]
    if [len(bounds)] != wanted or (not is_chain and len(choices) != header[1]):
        raise ValueError(f"{path}: the first line says {header}, but there are {len(choices)} choices and "
                         f"{len(bounds)} transitions")  # fmt: skip
    return _Transitions(S, is_chain, bounds, actions, True in kinds)


def _bounds(place: str, text: str) -> tuple[float, float, bool]:
    if not text.startswith("["):
        value = _number(place, "the probability", text)
        return value, value, False
    low, comma, high = text.removeprefix("[").removesuffix("]").partition(",")
    if not (comma and text.endswith("]")):
        raise ValueError(f"{place}: an interval must be [low,high], got {text!r:.40}")
    ends = _number(place, "the lower end", low), _number(place, "the upper end", high)
    if not 0.0 <= ends[0] <= ends[1] <= 1.0:
        raise ValueError(f"{place}: an interval must have 0 <= low <= high <= 1, got {text!r:.40}")
    return *ends, True


def _read_rewards(path: Path, model: _Transitions, length: int) -> dict[tuple[int, ...], float]:
    """Rewards by state, or by source, choice and target."""
    lines = _lines(path)
    header = _header(
        path, lines, (length if length > 1 else 2,), "the numbers of states, choices (of a model) and entries"
    )
    found: dict[tuple[int, ...], float] = {}
    for place, words in lines:
        if len(words) != length + 1:
            raise ValueError(f"{place}: must be {length} whole numbers and a reward, got {' '.join(words)!r:.60}")
        key = tuple(_whole(place, "a state or choice", word) for word in words[:-1])
        key = (key[0], 0, key[1]) if length == 2 else key
        if key in found or (length == 1 and key[0] >= model.n_states) or (length > 1 and key not in model.bounds):
            raise ValueError(f"{place}: must be a state or transition of the model, and once, got {words[:-1]}")
        found[key] = _number(place, "the reward", words[-1])
    if header[0] != model.n_states or header[-1] != len(found):
        raise ValueError(
            f"{path}: the first line says {header}; there are {model.n_states} states and {len(found)} entries"
        )
    return found


def _read_labels(path: Path, n_states: int) -> dict[str, tuple[int, ...]]:
    if not path.exists():
        return {}
    lines = _lines(path)
    place, words = next(lines, (str(path), []))
    names = {int(match[1]): match[2] for word in words if (match := _LABEL.fullmatch(word))}
    if len(names) != len(words) or len(set(names.values())) != len(names):
        raise ValueError(f'{place}: the first line must be 0="name" 1="name" …, got {" ".join(words)!r:.60}')
    found: dict[str, tuple[int, ...]] = dict.fromkeys(names.values(), ())
    for place, (state, *labels) in lines:
        s = _whole(place, "the state", state.removesuffix(":"), n_states)
        for label in labels:
            number = _whole(place, "a label", label)
            if number not in names or not state.endswith(":"):
                raise ValueError(f"{place}: must be `state: label label …` with labels of the first line, got {label}")
            found[names[number]] += (s,)
    return found


def _model(
    found: _Transitions,
    state: Mapping[tuple[int, ...], float],
    move: Mapping[tuple[int, ...], float],
    gamma: float,
    labels: Mapping[str, tuple[int, ...]],
) -> PrismModel:
    rows: list[list[dict[int, tuple[float, float]]]] = [[] for _ in range(found.n_states)]
    for (s, choice, target), ends in sorted(found.bounds.items()):
        if choice > len(rows[s]):
            raise ValueError(f"the choices of state {s} must be 0, 1, …, got {choice} without {len(rows[s])}")
        if choice == len(rows[s]):
            rows[s].append({})
        rows[s][choice][target] = ends
    if [] in rows:
        raise ValueError(f"state {rows.index([])} must have a transition (PRISM adds a loop to a deadlock with -fixdl)")
    A = max(map(len, rows))
    cost, offsets = np.zeros((found.n_states, A)), [0]
    successors, probabilities = list[int](), list[float]()
    low, high = (np.zeros((found.n_states, A, found.n_states) if found.has_intervals else 0) for _ in range(2))
    for s, choices in enumerate(rows):
        for a in range(A):
            row = choices[min(a, len(choices) - 1)]
            p = _nominal(s, a, row)
            rewards = [move.get((s, min(a, len(choices) - 1), target), 0.0) for target in row]
            cost[s, a] = state.get((s,), 0.0) + _mean(s, a, p, rewards, found.has_intervals)
            successors += row
            probabilities += p
            offsets.append(len(successors))
            if found.has_intervals:
                low[s, a, list(row)], high[s, a, list(row)] = zip(*row.values(), strict=True)
    kernel = SparseRows(np.array(offsets), np.array(successors), np.array(probabilities))
    return PrismModel(MDP(kernel, cost, gamma), Interval(low, high) if found.has_intervals else None, labels)


def _nominal(s: int, a: int, row: Mapping[int, tuple[float, float]]) -> list[float]:
    """The probabilities, or the same share of every interval, such that they sum to 1."""
    low, high = (np.array(ends) for ends in zip(*row.values(), strict=True))
    if (low == high).all():
        return [float(x) for x in low]
    if not low.sum() <= 1.0 <= high.sum():
        raise ValueError(
            f"the intervals of (s={s}, a={a}) must contain a distribution, got sums {low.sum()}, {high.sum()}"
        )
    p = low + (high - low) * ((1.0 - low.sum()) / (high - low).sum())
    return [float(x) for x in p / p.sum()]


def _mean(s: int, a: int, p: Sequence[float], rewards: Sequence[float], has_intervals: bool) -> float:
    """The mean reward of a choice; with intervals it depends on nature's choice unless all are equal."""
    if len(set(rewards)) == 1:
        return rewards[0]
    if has_intervals:
        raise ValueError(
            f"all transitions of (s={s}, a={a}) must have one reward, for their probabilities are intervals"
        )
    return float(np.dot(p, rewards))


def write_prism(
    path: Path, mdp: MDP, *, intervals: Interval | None = None, labels: Mapping[str, Sequence[int]] | None = None
) -> None:
    """Write a model as .tra and .trew, with labels as .lab; with an interval set as an interval model.

    Numbers survive bit for bit. The cost of a pair is the reward of all its transitions.
    """
    path = Path(path)
    low, high = _interval_rows(mdp, intervals) if intervals is not None else (None, None)
    rows, lines, rewards = mdp.rows, list[str](), list[str]()
    for row in range(mdp.n_states * mdp.n_actions):
        s, a = divmod(row, mdp.n_actions)
        part = slice(rows.offsets[row], rows.offsets[row + 1])
        entries = {int(t): repr(float(x)) for t, x in zip(rows.successors[part], rows.probabilities[part], strict=True)}
        if low is not None and high is not None:
            reached = np.flatnonzero(high[s, a] > 0.0).tolist()
            entries = {t: f"[{float(low[s, a, t])!r},{float(high[s, a, t])!r}]" for t in reached}
        action = f" {mdp.action_names[a]}" if mdp.action_names and not re.search(r"\s", mdp.action_names[a]) else ""
        lines += [f"{s} {a} {t} {text}{action}" for t, text in entries.items()]
        cost = float(mdp.cost[s, a])
        rewards += [f"{s} {a} {t} {cost!r}" for t in entries if cost != 0.0]
    pairs = mdp.n_states * mdp.n_actions
    _write(path.with_suffix(".tra"), [f"{mdp.n_states} {pairs} {len(lines)}", *lines])
    _write(path.with_suffix(".trew"), [f"{mdp.n_states} {pairs} {len(rewards)}", *rewards])
    if labels is not None:
        _write(path.with_suffix(".lab"), _label_lines(labels, mdp.n_states))


def _interval_rows(mdp: MDP, intervals: Interval) -> tuple[Floats, Floats]:
    intervals.require_fit(mdp.n_states, (mdp.n_states, mdp.n_actions))
    shape = (mdp.n_states, mdp.n_actions, mdp.n_states)
    return np.broadcast_to(intervals.low, shape), np.broadcast_to(intervals.high, shape)


def _label_lines(labels: Mapping[str, Sequence[int]], n_states: int) -> list[str]:
    for name, states in labels.items():
        if '"' in name or not name or re.search(r"\s", name):
            raise ValueError(f"labels must be words without quotes, got {name!r:.40}")
        for s in states:
            validate.index(f"labels[{name!r:.40}]", s, n_states)
    of = {s: [str(k) for k, states in enumerate(labels.values()) if s in states] for s in range(n_states)}
    first = " ".join(f'{k}="{name}"' for k, name in enumerate(labels))
    return [first, *(f"{s}: {' '.join(numbers)}" for s, numbers in of.items() if numbers)]


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
