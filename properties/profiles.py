"""How hard Hypothesis searches: the profiles robust-core-quick, robust-core-oracles and robust-core-nightly.

When Hypothesis sees that it runs in continuous integration it loads a profile of its own (derandomized, no
database). A profile that left anything to the defaults would mean one thing on a desk and another there, so
ours spell out everything that matters: quick and oracles can never flake, nightly never repeats itself.

`pytest --hypothesis-profile robust-core-nightly` finds them; a script calls `load` first.
"""

import math
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis.database import DirectoryBasedExampleDatabase

QUICK, ORACLES, NIGHTLY = NAMES = ("robust-core-quick", "robust-core-oracles", "robust-core-nightly")
QUICK_EXAMPLES = 200
NIGHTLY_DATABASE = Path(".hypothesis") / "nightly"


def register(*, nightly_database: Path | str = NIGHTLY_DATABASE) -> None:
    """Register the profiles with Hypothesis; nightly keeps what it finds in the given directory.

    >>> register()
    >>> settings.get_profile(QUICK).derandomize, settings.get_profile(NIGHTLY).derandomize
    (True, False)
    """
    base = settings.get_profile("default")
    common: dict[str, Any] = {
        # The explain phase traces every line of the code under test and makes a failure several times slower to
        # shrink; what explains a failure here is the shrunk model itself.
        "phases": tuple(phase for phase in Phase if phase is not Phase.explain),
        # Both depend on the speed of the machine: a loaded one must not turn a check red.
        "deadline": None,
        "suppress_health_check": (HealthCheck.too_slow,),
    }
    # The same examples in every run of the same code: what is green stays green until the code changes.
    repeatable: dict[str, Any] = {"derandomize": True, "database": None, "print_blob": False, **common}
    database = DirectoryBasedExampleDatabase(nightly_database)
    settings.register_profile(QUICK, base, max_examples=QUICK_EXAMPLES, **repeatable)
    settings.register_profile(ORACLES, base, max_examples=2_000, **repeatable)
    settings.register_profile(
        NIGHTLY, base, max_examples=20_000, derandomize=False, database=database, print_blob=True, **common
    )


def load(name: str = QUICK, *, nightly_database: Path | str = NIGHTLY_DATABASE) -> None:
    """Make a profile the default of every test defined from now on.

    >>> load("lazy")
    Traceback (most recent call last):
    ValueError: profile must be one of robust-core-quick, robust-core-oracles, robust-core-nightly, got 'lazy'
    """
    if name not in NAMES:
        raise ValueError(f"profile must be one of {', '.join(NAMES)}, got {name!r}")
    register(nightly_database=nightly_database)
    settings.load_profile(name)


def examples(quick: int) -> settings:
    """Settings for a test that needs `quick` examples in the quick profile, and more in the deeper ones.

    A test with a fixed `max_examples` would be no deeper at night; this one keeps its proportion.

    >>> examples(50).max_examples == settings().max_examples // 4
    True
    """
    return settings(max_examples=math.ceil(quick * settings().max_examples / QUICK_EXAMPLES))
