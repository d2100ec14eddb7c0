"""No expression of the package takes more than linear time, whatever text it is given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WALK = Path(__file__).with_name("expressions.py")


@pytest.mark.timeout(900)
def test_every_compiled_expression_is_linear_in_its_text() -> None:
    done = subprocess.run(
        [sys.executable, str(WALK)], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[-2]) > 100, "the package's expressions were found"
