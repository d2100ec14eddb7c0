"""What holds for every test."""

from __future__ import annotations

import os
import sys

from hypothesis import settings

# How long one example may take is no promise: on a busy machine any of them may take long.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")

# What is tested is compiled once, and not by each of the hundred processes that tests start.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
