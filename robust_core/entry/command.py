"""The console script `robust-core`."""

import importlib
import sys

from robust_core.entry import suite

USAGE, INTERRUPTED = 2, 130


def main() -> int:
    """Run the command line; where it cannot be loaded, say why in one line.

    Help needs `benchmarks` only, so it is there also where another package of the suite is hidden.
    """
    try:
        suite.require_posix()
        suite.require_own("benchmarks")
        program = importlib.import_module("benchmarks.cli.main")
    except ImportError as error:
        sys.stderr.write(f"robust-core: {error}\n")
        return USAGE
    except KeyboardInterrupt:
        # Ctrl-C right after Enter: nothing has begun, and a traceback would tell nothing.
        sys.stderr.write("\nrobust-core: interrupted\n")
        return INTERRUPTED
    return int(program.main())
