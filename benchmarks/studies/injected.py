"""Does a comparison find a defect, and nothing else? Injected defects, and fresh seeds without a defect.

Every defect is compared with the undisturbed code on the same seeds, in several seed sets; the share of the error
budget of a measure is that of a whole comparison. The control compares seed sets with each other, seed against other
seed, without a defect: every verdict other than equivalent or undecided there is a false alarm.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks.regression.bench import PINNED
from benchmarks.regression.compare import SEVERITY, Comparison, Verdict, compare
from benchmarks.regression.defects import DEFECTS
from benchmarks.regression.measures import Measurements

COLUMNS = ("defect", "what it is", "found in seed sets", "in the first seed set by (number of measures)")
Measure = Callable[..., Measurements]
"""measure(seed_set=…, only=…, injected=…): one side of a comparison."""


@dataclass(frozen=True)
class Finding:
    """In how many seed sets a defect was found, and by which metrics in the first one."""

    defect: str
    text: str
    found: int
    seed_sets: int
    by: str

    def row(self) -> list[str]:
        """A line of the table."""
        return [self.defect, self.text, f"{self.found}/{self.seed_sets}", self.by]


@dataclass(frozen=True)
class Control:
    """Two seed sets compared without a defect: false alarms, and the number of measures by verdict."""

    first: str
    second: str
    false_alarms: int
    counts: dict[Verdict, int]

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items())
        return f"{self.first} against {self.second}, no defect: {self.false_alarms} false alarms ({counts})"


def seed_sets(count: int) -> list[str]:
    """The pinned seeds and so many others."""
    return [PINNED, *(f"injected {number}" for number in range(1, count))]


def with_defect(name: str, reference: Measurements, measure: Measure) -> Measurements:
    """The reference with the measures of a defective learner in place of the right ones."""
    touched = [f"/ {variant} /" for variant in DEFECTS[name].variants] or ["time ratio /", "speed-up /"]
    measures = {one.name: one for one in reference.measures}
    for only in touched:
        found = measure(seed_set=reference.seed_set, only=only, injected=name)
        measures |= {one.name: one for one in found.measures}
    return replace(reference, measures=tuple(measures.values()))


def count_verdicts(comparison: Comparison) -> Counter[tuple[str, str]]:
    """How many measures of each metric have each verdict; hashes and other deterministic measures are left out."""
    return Counter((row.verdict, row.metric) for row in comparison.rows if row.kind != "deterministic")


def alarms(comparison: Comparison) -> int:
    """Statistical measures and ratios that are better, worse or changed."""
    counts = count_verdicts(comparison)
    return sum(count for (verdict, _), count in counts.items() if verdict in ("better", "worse", "changed"))


def summarize(name: str, comparisons: Sequence[Comparison]) -> Finding:
    """The finding on a defect from its comparisons, one per seed set."""
    caught = sum(alarms(comparison) > 0 for comparison in comparisons)
    counts = count_verdicts(comparisons[0])
    words = []
    for verdict in SEVERITY[:4]:
        seen = [f"{metric} ({count})" for (word, metric), count in sorted(counts.items()) if word == verdict]
        words += [f"*{verdict}*: {', '.join(seen)}"] if seen else []
    return Finding(name, DEFECTS[name].text, caught, len(comparisons), "; ".join(words))


def study_defects(names: Sequence[str], references: Sequence[Measurements], measure: Measure) -> Iterator[Finding]:
    """Every defect against the undisturbed code in every seed set."""
    for name in names:
        yield summarize(name, [compare(side, with_defect(name, side, measure)) for side in references])


def study_controls(references: Sequence[Measurements]) -> Iterator[Control]:
    """Every seed set against every later one."""
    for place, first in enumerate(references):
        for second in references[place + 1 :]:
            found = compare(first, second)
            yield Control(first.seed_set, second.seed_set, alarms(found), found.counts)
