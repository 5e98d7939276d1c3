"""Differences in words: a percentage where they are relative, a unit where they are absolute, open ends as infinite."""

from typing import Any

from benchmarks.report.scales import number

BETTER = {"lower": "lower is better", "higher": "higher is better"}

ORDER = ("worse", "changed", "undecided", "better", "equivalent")
"""What somebody must look at first."""


def urgency(verdict: str) -> int:
    """The place of a verdict in ORDER; an unknown one comes first."""
    return ORDER.index(verdict) if verdict in ORDER else 0


def direction(cell: dict[str, Any]) -> str:
    """Which way is better.

    >>> direction({"direction": "exact"})
    'must not change'
    """
    return BETTER.get(cell["direction"], "must not change")


def effect(cell: dict[str, Any]) -> str:
    """The effect of a cell of a comparison, with its interval where there is one.

    >>> effect({"scale": "relative", "kind": "ratio", "unit": "times", "effect": 0.02, "lower": -0.01, "upper": None})
    '+2\\xa0% [−1\\xa0%, +∞]'
    """
    if cell["effect"] is None:
        return ""
    ends = f" [{_signed(cell, 'lower', '−∞')}, {_signed(cell, 'upper', '+∞')}]"
    shown = _signed(cell, "effect", "") + ("" if cell["kind"] == "deterministic" else ends)
    return shown if cell["scale"] == "relative" else f"{shown} {cell['unit']}"


def margin(cell: dict[str, Any]) -> str:
    """The margin in the same form.

    >>> margin({"scale": "absolute", "unit": "‖Q*‖", "margin": 0.005}), margin({"scale": "absolute", "margin": 0.0})
    ('0.005 ‖Q*‖', 'exact')
    """
    if not cell["margin"]:
        return "exact"
    return percent(cell["margin"]) if cell["scale"] == "relative" else f"{number(cell['margin'], 3)} {cell['unit']}"


def percent(share: float, digits: int = 3) -> str:
    """A share of one hundred.

    >>> percent(-0.0125)
    '−1.25\\xa0%'
    """
    # The space does not break: the sign belongs to its number.
    return f"{number(float(f'{100.0 * share:.{digits}g}'), digits)}\u00a0%"


def signed(text: str) -> str:
    """A number in words with its sign, if it is one that has one.

    >>> signed("2 %"), signed("−2 %"), signed("0")
    ('+2 %', '−2 %', '0')
    """
    return text if text.startswith(("−", "0\u00a0")) or text == "0" else f"+{text}"


def _signed(cell: dict[str, Any], name: str, missing: str) -> str:
    if cell[name] is None:
        return missing
    return signed(percent(cell[name]) if cell["scale"] == "relative" else number(cell[name], 3))
