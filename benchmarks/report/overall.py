"""The overall verdict: what each part says, and the worst of it in one sentence."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from benchmarks.report.words import plural

SEVERITY = ("violated", "error", "undecided", "pending", "holds")
Data = dict[str, Any]
Part = dict[str, str]


def verdict(data: Data) -> Data:
    """The word for the whole, its sentence, and a line per part; parts that are only about the paper have no say."""
    parts = [*_deciding(data), *_informing(data)]
    words = {part["outcome"] for part in parts if part["decides"] == "yes"}
    word = next(word for word in SEVERITY if word in words | {"holds"})
    return {"outcome": word, "sentence": sentence(word, parts), "parts": parts}


def sentence(word: str, parts: Iterable[Part]) -> str:
    """One sentence that says why."""
    wrong = [part for part in parts if part["decides"] == "yes" and part["outcome"] == word and word != "holds"]
    if not wrong:
        return f"{'; '.join(part['brief'] for part in parts if part['brief'])}."
    return f"{'; '.join(part['short'] for part in wrong)}."


def _part(id_: str, name: str, outcome: str, short: str, *, brief: str = "", decides: bool = True) -> Part:
    """A line of the verdict; `brief` is what the one sentence says of it when all is well."""
    words = {"id": id_, "name": name, "outcome": outcome, "short": short, "brief": brief}
    return words | {"decides": "yes" if decides else "no"}


def _deciding(data: Data) -> list[Part]:
    found = [_gallery(data["gallery"]["variants"]), _kills(data["kills"]["records"]), _examples(data)]
    found += [_statistics(run) for run in data["statistics"]["runs"]]
    if data["regression"] is not None:
        found.append(_regression(data["regression"]))
    return found


def outcome_of(variant: Data) -> str:
    """The worst outcome of a variant's records; blocked laws follow their cause."""
    words = {record["outcome"] for record in variant["records"]}
    return next((word for word in SEVERITY if word in words), "holds")


def _gallery(variants: list[Data]) -> Part:
    wrong = [variant for variant in variants if outcome_of(variant) != variant["expected"]]
    negative = [variant for variant in variants if variant["expected"] == "violated"]
    if not wrong:
        brief = f"{plural(len(variants) - len(negative), 'variant')} obey the laws they claim to obey"
        short = f"{brief}; {len(negative)} that must not do not" if negative else brief
        return _part("variants", "Variants against laws", "holds", short, brief=brief)
    words = [outcome_of(variant) if variant["expected"] == "holds" else "violated" for variant in wrong]
    names = ", ".join(_described(variant) for variant in wrong)
    return _part("variants", "Variants against laws", next(w for w in SEVERITY if w in words), names)


def _described(variant: Data) -> str:
    if variant["expected"] == "violated":
        return f"{variant['name']} was to be caught and was not"
    laws = [record["law"] for record in variant["records"] if record["outcome"] == outcome_of(variant)]
    return f"{variant['name']}: {', '.join(laws)} {outcome_of(variant)}"


def survivors(records: Iterable[Data]) -> list[str]:
    """Mutants that no law catches, by name."""
    caught: dict[str, bool] = {}
    for record in records:
        name = f"{record['name']} ({record['kind']})"
        caught[name] = caught.get(name, False) or record["cases"] is not None
    return [name for name, dead in caught.items() if not dead]


def _kills(records: list[Data]) -> Part:
    count = len({record["mutant"] for record in records})
    alive = survivors(records)
    if not alive:
        short = f"all {count} wrong algorithms are caught"
        return _part("mutants", "Wrong algorithms", "holds", short, brief=short)
    short = f"{len(alive)} of {plural(count, 'wrong algorithm')} not caught: {', '.join(alive)}"
    return _part("mutants", "Wrong algorithms", "violated", short)


def _examples(data: Data) -> Part:
    kept = data["counterexamples"]["committed"]
    gone = [example["about"] for example in kept if example["outcome"] != "violated"]
    if gone:
        short = f"counterexamples that no longer are: {', '.join(gone)}"
        return _part("counterexamples", "Counterexamples to the paper", "violated", short)
    short = f"{plural(len(kept), 'counterexample')} to printed statements still stand"
    return _part("counterexamples", "Counterexamples to the paper", "holds", short)


def _statistics(run: Data) -> Part:
    gate, name = run["summary"], f"Statistical laws, {run['source']}"
    wrong = [*gate["violated"], *(f"control missed: {control}" for control in run["missed"])]
    if gate["outcome"] == "violated" or run["missed"]:
        return _part("statistics", name, "violated", ", ".join(wrong) or "the product of all evidence is against them")
    for word in ("undecided", "pending"):
        if gate[word]:
            return _part("statistics", name, word, f"{word}: {', '.join(gate[word])}")
    brief = f"{plural(len(run['cells']), 'statistical cell')} hold"
    short = f"{brief}, all {len(run['controls'])} controls are caught"
    return _part("statistics", name, "holds", short, brief=brief if run["today"] else "")


def _regression(comparison: Data) -> Part:
    counts = Counter(cell["verdict"] for cell in comparison["cells"])
    short = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
    word = {"worse": "violated", "changed": "violated", "undecided": "undecided"}.get(comparison["verdict"], "holds")
    return _part("regression", "Against the baseline", word, f"against the baseline: {short}", brief="nothing is worse")


def _informing(data: Data) -> list[Part]:
    """What the paper's claims and panels came to: findings, not failures."""
    statuses = Counter(claim["status"] for claim in data["claims"])
    claims = ", ".join(f"{count} {word}" for word, count in statuses.most_common())
    outcomes = Counter(panel["outcome"] for panel in data["panels"]["panels"])
    panels = ", ".join(f"{count} {word}" for word, count in outcomes.most_common())
    code = data["panels"].get("code", {})
    if code.get("made by") != code.get("present"):
        panels += f" (made {'with other libraries' if code.get('libraries') else 'by other code than the present'})"
    return [
        _part("claims", "Claims of the paper", "open" if statuses["open"] else "finding", claims, decides=False),
        _part("panels", "Panels of the paper", "finding", panels, decides=False),
    ]
