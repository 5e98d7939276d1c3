"""Counterexamples as files: small, readable, replayed by judging them again."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from properties.codec import decode, encode
from properties.law import Case
from robust_core.mdp import MDP

FORMAT = "robust-core/counterexample/1"
LARGEST_FILE = 1 << 24


@dataclass(frozen=True)
class Counterexample:
    """A case that breaks a law for a variant, named as it is loaded."""

    law: str
    variant: str
    case: Case
    finding: str

    def to_json(self) -> str:
        """Indented JSON, keys sorted: the same counterexample always has the same text."""
        data = {
            "format": FORMAT,
            "law": self.law,
            "variant": self.variant,
            "finding": self.finding,
            "case": {name: encode(value) for name, value in self.case.items()},
        }
        return json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False) + "\n"

    def save(self, folder: Path) -> Path:
        """Write it to a file named for the law and the content."""
        text = self.to_json()
        digest = hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.law.replace(' ', '-')}-{digest}.json"
        path.write_text(text, encoding="utf-8")
        return path

    @staticmethod
    def load(path: Path) -> "Counterexample":
        """Read a file that `save` wrote; anything else is refused with the reason."""
        if path.stat().st_size > LARGEST_FILE:
            raise ValueError(f"{path}: larger than {LARGEST_FILE} bytes")
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ValueError(f"{path}: not JSON: {error}") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ValueError(f"{path}: format must be {FORMAT!r}")
        fields = {"format", "law", "variant", "finding", "case"}
        if data.keys() != fields or not isinstance(data["case"], dict):
            raise ValueError(f"{path}: fields must be {sorted(fields)}, got {sorted(data)}")
        texts = {name: data[name] for name in ("law", "variant", "finding")}
        if not all(isinstance(text, str) for text in texts.values()):
            raise ValueError(f"{path}: law, variant and finding must be text")
        try:
            case = {name: decode(value) for name, value in data["case"].items()}
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        return Counterexample(**texts, case=case)


def described(case: Case) -> str:
    """The case as a person reads it: models as tables, the rest as name = value."""
    lines = []
    for name, value in case.items():
        if isinstance(value, MDP):
            lines.append(f"{name} = {value}")
        else:
            lines.append(f"{name} = {_plain(value)}")
    return "\n".join(lines)


def _plain(value: Any) -> str:
    return repr(value.tolist()) if isinstance(value, np.ndarray) else repr(value)
