"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

# How long one example may take is no promise: on a busy machine any of them may take long.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")
