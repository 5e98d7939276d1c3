"""Spans of time as people write them on a command line; the standard library only, so that help stays quick."""

import argparse
import re

UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """A span of time: 90s, 30min, 2h.

    >>> seconds("30min")
    1800.0
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|min|h)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"must look like 90s, 30min or 2h, got {text!r}")
    return float(match[1]) * UNITS[match[2]]
