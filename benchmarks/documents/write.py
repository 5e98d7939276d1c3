"""The generated documents: each is what the function `document` of its module here returns.

All of them come from committed results, except the gallery, which is verified for it (about a minute).
"""

import importlib
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs"
GENERATED = (
    "claims", "command-line", "experiments", "gallery", "hit-rates", "real-faults", "set-claims", "sets", "statistics",
    "variants",
)  # fmt: skip
WITH_TABLE = ("regression", "speed")
"""Documents written by hand in which some tables are generated."""
DOCUMENTS = (*GENERATED, *WITH_TABLE)


def render(name: str) -> str:
    """The text of a document as the present code writes it."""
    return str(importlib.import_module(f"{__package__}.{name.replace('-', '_')}").document())


def read(name: str) -> str | None:
    """The text of a document as it is, None if there is none (an installed package has no documents)."""
    path = FOLDER / f"{name}.md"
    return path.read_text(encoding="utf-8") if path.is_file() else None


def write(name: str, text: str) -> None:
    """Replace a document."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.md").write_text(text, encoding="utf-8")
