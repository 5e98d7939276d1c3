"""`python -m robust_core` is `robust-core`, for where the script is not on the path."""

import sys

from robust_core.entry.command import main

if __name__ == "__main__":
    sys.exit(main())
