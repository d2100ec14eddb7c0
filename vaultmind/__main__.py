"""`python -m vaultmind` is the program `vaultmind`."""

from __future__ import annotations

import sys

from vaultmind.entry import main

if __name__ == "__main__":
    sys.exit(main())
