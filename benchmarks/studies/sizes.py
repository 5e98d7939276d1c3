"""Plans and backups of every set from a hundred to ten million states, beside nominal ones on the same arrays.

    robust-core study sizes TV KL --states 1000000

The models and sets are those of `robust-core speed "set plans"`. Every point is a unit of work that is measured alone;
the nominal planner is timed in turns with the set's. The result is committed as `baselines/sizes.json`.
"""

import math
import os
import resource
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import thread_time
from typing import Any

from benchmarks.runner.progress import Show
from benchmarks.runner.schedule import run as run_units
from benchmarks.runner.store import Store
from benchmarks.runner.units import Unit
from benchmarks.speed.scale import GAMMA, SIZES, large_model
from benchmarks.speed.set_plans import ACCURACY, BALLS, PAIRS, QUICK
from robust_core import MDP, Contamination, UncertaintySet, json, plan
from robust_core.json import from_data, to_data
from robust_core.planning import Backups

BASELINE = Path(__file__).parents[1] / "baselines" / "sizes.json"
SETS = {name: make for name, make, _ in (*BALLS, *PAIRS)}
FEW = 100
"""States of the model on which kernels are compiled before anything is timed."""
ENOUGH, TURNS = 0.5, 9
"""Seconds of processor time after which a contest has no further turn, and the most turns."""
SHORT = 3_000
"""States of smaller models: so many are backed up at a time, since a clock does not tell single microseconds."""


@dataclass(frozen=True)
class Point:
    """Seconds of processor time: a plan and a backup of all pairs, of the set and of the nominal planner."""

    set: str
    states: int
    plan: float
    nominal_plan: float
    backup: float
    nominal_backup: float
    width: float
    """The certified distance of the bounds."""
    peak: float
    """The most bytes that the process had held by then."""
    load: float
    """The load average of the machine at the end."""


@dataclass(frozen=True)
class Sizes:
    """The committed result: a point for each set and number of states that was measured."""

    points: tuple[Point, ...] = ()

    def renew(self, today: "Sizes") -> "Sizes":
        """This result with the points of another in place of its own."""
        found = {(one.set, one.states): one for one in (*self.points, *today.points)}
        return Sizes(tuple(found[place] for place in places() if place in found))


def load(path: Path = BASELINE) -> Sizes:
    """A committed result; none is empty."""
    return from_data(Sizes, json.load(path), str(path)) if path.exists() else Sizes()


def places() -> list[tuple[str, int]]:
    """The points of the curve, small models first. Sets with a number for every pair of states end at 1,000."""
    large = [name for name, *_ in BALLS]
    return [(name, n) for n in SIZES for name in SETS if n <= QUICK or name in large]


def run(
    wanted: Sequence[tuple[str, int]], *, store: Store, budget_seconds: float, show: Show = lambda text: None
) -> Sizes:
    """Some points, as far as the budget goes."""
    units = [Unit(f"{__name__}:measure_point", {"name": name, "states": n}, repeatable=False) for name, n in wanted]
    values = run_units(units, store=store, budget_seconds=budget_seconds, show=show)
    return Sizes(tuple(from_data(Point, values[unit.key]) for unit in units if unit.key in values))


def measure_point(name: str, states: int) -> Any:
    """The data of one point: a unit of work."""
    few, mdp = large_model(FEW, GAMMA), _model(states)
    for chosen in (SETS[name](few), Contamination(0.0)):
        _time(few, chosen)
    ours, nominal, uncertainty_set = Times(), Times(), SETS[name](mdp)
    for _ in range(TURNS):
        ours = ours.best(_time(mdp, uncertainty_set))
        nominal = nominal.best(_time(mdp, Contamination(0.0)))
        if ours.spent + nominal.spent > ENOUGH:
            break
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
    times = ours.plan, nominal.plan, ours.backup, nominal.backup
    return to_data(Point(name, states, *times, ours.width, peak, os.getloadavg()[0]))


@dataclass(frozen=True)
class Times:
    """The best plan and backup of some turns, the width of the last plan, and the time of all."""

    plan: float = math.inf
    backup: float = math.inf
    width: float = math.inf
    spent: float = 0.0

    def best(self, turn: "Times") -> "Times":
        """With one more turn."""
        least = min(self.plan, turn.plan), min(self.backup, turn.backup)
        return Times(*least, turn.width, self.spent + turn.spent)


def _time(mdp: MDP, chosen: UncertaintySet) -> Times:
    """A plan, and backups of all pairs where it has ended."""
    began = thread_time()
    found = plan(mdp, chosen, accuracy=ACCURACY)
    planned, backups = thread_time(), max(1, SHORT // mdp.n_states)
    for _ in range(backups):
        Backups(mdp, found.solver, None)(found.v)
    ended = thread_time()
    return Times(planned - began, (ended - planned) / backups, found.width, ended - began)


@lru_cache(maxsize=1)
def _model(states: int) -> MDP:
    return large_model(states, GAMMA)
