"""How commands tell that a variant takes long to load."""

from benchmarks.cli.conventions import progress


def report_loading(place: str) -> None:
    """Show the place that is loaded."""
    progress(f"loading {place}")
