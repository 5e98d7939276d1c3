"""Counterexamples as files: small, readable, replayed by judging them again."""

import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from properties.cases.case import Case
from properties.cases.codec import decode, encode
from properties.judging.verdict import FOLDER, Finding
from properties.laws.law import Law
from robust_core import json as strict_json
from robust_core.json import blame_on
from robust_core.mdp import MDP
from robust_core.problem import Variant

FORMAT = "robust-core/counterexample/1"
LONGEST_LIST = 32
# A long run as it is, where a variant is too slow to make it smaller, takes seventeen megabytes.
LARGEST_FILE = 1 << 25
OLD_NAMES = {
    ", sized": ", large",
    "conduct": "run purity",
    " respelling": " invariance",
    ", respelled": " invariance",
}
"""Parts of names of laws that were changed."""
FIELDS = {"format", "law", "variant", "finding", "case"}


@dataclass(frozen=True)
class Counterexample:
    """A case that breaks a law for a variant, named as it is loaded.

    >>> from properties import verify
    >>> from properties.variants.gallery.bellman import VARIANT
    >>> from properties.variants.mutants.operator import NO_DISCOUNT
    >>> example = verify(NO_DISCOUNT, examples=20, statistics=False).violated[0].counterexample
    >>> example.law, example.replay() is None, example.replay(VARIANT) is None
    ('bellman backup', False, True)
    """

    law: str
    variant: str
    case: Case
    finding: str

    def to_data(self) -> dict[str, Any]:
        """Plain data, which `from_data` reads."""
        return {
            "format": FORMAT,
            "law": self.law,
            "variant": self.variant,
            "finding": _shown(self.finding),
            "case": {name: encode(value) for name, value in self.case.items()},
        }

    def to_json(self) -> str:
        """Indented JSON, keys sorted: the same counterexample always has the same text."""
        return to_file(self.to_data())[1]

    def save(self, folder: Path = FOLDER) -> Path:
        """Write it to a file named for the law and the content, which `robust-core replay` reads."""
        name, text = to_file(self.to_data())
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        try:
            path.write_text(text, encoding="utf-8")
        except OSError:
            # On a full disk a part of it is there, which nothing could read.
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            raise
        return path

    def replay(self, variant: Variant | None = None) -> Finding | None:
        """Judge the case again: what is wrong with it, None if nothing is.

        `variant` is another one to judge, a repaired one say; the default is the one the counterexample names. A case
        that the law does not speak of, or the variant is not for, is refused: nothing would follow from it.
        """
        from properties.cases import law_schema
        from properties.judging.search import judge_case
        from properties.process.loading import load

        law = law_named(self.law)
        if law is None:
            raise ValueError(f"no law {self.law!r}: a counterexample to a claim is judged by robust-core replay")
        if variant is None:
            (variant,) = load(self.variant).values()
        return judge_case(law, variant, law_schema.read(law, self.case, variant))

    def __str__(self) -> str:
        return f"{self.variant}: {self.law}: {self.finding}\n{describe(self.case)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """What is broken and how, then the case; everything is escaped."""
        head = f"<b>{escape(self.variant)}: {escape(self.law)}</b><br>{escape(_shown(self.finding))}"
        return f"<div>{head}<pre>{escape(describe(self.case))}</pre></div>"

    @staticmethod
    def load(path: Path) -> "Counterexample":
        """Read a file that `save` wrote; anything else, and what is no case of its law, is refused with the reason."""
        data = strict_json.load(path, infinite=True, largest=LARGEST_FILE)
        with blame_on(path):
            return Counterexample.from_data(data)

    @staticmethod
    def from_data(data: Any) -> "Counterexample":
        """The counterexample of plain data; anything else, and a case that is not one of its law, is refused."""
        texts, case = _texts(data), {}
        for name, value in data["case"].items():
            with blame_on(f"case: {name}"):
                case[name] = decode(value)
        example = Counterexample(**texts, case=case)
        with blame_on("case"):
            example._check()
        return example

    def _check(self) -> None:
        """Refuse a case of which the law or the claim does not speak; of one that nobody knows nothing is said."""
        from properties.cases import claim_schema, law_schema

        law = law_named(self.law)
        if law is not None:
            law_schema.read(law, self.case)
            return
        now = self.law
        for old, new in OLD_NAMES.items():
            now = now.replace(old, new)
        if law_named(now) is not None:
            raise ValueError(f"the law {self.law!r} is now called {now!r}: change the name in the file")
        from properties.claims import AMENDED, claim_named

        claim = claim_named(self.law)
        if claim is None:
            return
        statement = claim.amended if self.variant == AMENDED else claim.printed
        if statement is not None:
            claim_schema.check(statement, claim.id, self.case)


def to_file(data: Mapping[str, Any]) -> tuple[str, str]:
    """The name of the file of a counterexample, made of the law and a digest of the content, and its text."""
    text = json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    digest = hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
    return f"{data['law'].replace(',', '').replace(' ', '-')}-{digest}.json", text


def law_named(name: str) -> Law | None:
    """The law of that name; None if the name is that of a claim, or unknown."""
    from properties.laws.catalogue import LAWS

    return next((law for law in LAWS if law.name == name), None)


def names(path: Path) -> tuple[str, str]:
    """The law and the variant of a saved counterexample, without its case.

    The case may hold an uncertainty set that only the variant's own module defines.
    """
    data = strict_json.load(path, infinite=True, largest=LARGEST_FILE)
    with blame_on(path):
        texts = _texts(data)
    return texts["law"], texts["variant"]


def _texts(data: Any) -> dict[str, str]:
    """The fields of a counterexample that are text, if the form of the whole is right."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"format must be {FORMAT!r}")
    if data.keys() != FIELDS:
        raise ValueError(f"fields must be {sorted(FIELDS)}, got {sorted(data)}")
    texts = {name: data[name] for name in ("law", "variant", "finding")}
    for name, text in texts.items():
        if not isinstance(text, str) or not _is_printable(text):
            raise ValueError(f"{name} must be printable text, got {text!r:.80}")
    case = data["case"]
    if not isinstance(case, dict) or not all(name.isidentifier() for name in case):
        raise ValueError(f"case must be an object whose keys are names of arguments, got {case!r:.80}")
    return texts


def _is_printable(text: str) -> bool:
    """Neither lone surrogates nor characters that steer a terminal."""
    return all(character.isprintable() or character == "\n" for character in text)


def describe(case: Case) -> str:
    """The case as a person reads it: models as tables, the rest as name = value."""
    lines = []
    for name, value in case.items():
        if isinstance(value, MDP):
            lines.append(f"{name} = {_shown(str(value))}")
        else:
            lines.append(f"{name} = {_plain(value)}")
    return "\n".join(lines)


def _shown(table: str) -> str:
    """Names of states come from files: what would steer the terminal is spelled out."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in table)


def _plain(value: Any) -> str:
    """A value in full, or the two ends of a list that nobody would read to the end.

    >>> _plain(list(range(100)))
    '[0, 1, 2, 3, 4, 5, 6, 7, … 84 more …, 92, 93, 94, 95, 96, 97, 98, 99]'
    """
    items = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(items, list) or len(items) <= LONGEST_LIST:
        return repr(items)
    end = LONGEST_LIST // 4
    first, last = (", ".join(map(repr, part)) for part in (items[:end], items[-end:]))
    return f"[{first}, … {len(items) - 2 * end} more …, {last}]"
