"""`python -m benchmarks` is `robust-core`, for where the script is not on the path."""

import sys

from benchmarks.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
