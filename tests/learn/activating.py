"""A process that puts one of two models into use after the other until it is killed."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.learn.made import opened
from vaultmind.types import PERSON


def main() -> None:
    """Say that it is ready, and go on until killed."""
    app = opened(Path(sys.argv[1]))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        for name in ("code-a", "code-b"):
            app.learning.models.activate(name, PERSON)


if __name__ == "__main__":
    main()
