"""The small real model of the minion's tests."""

from tests.minion.conftest import careful, smol

__all__ = ["careful", "smol"]
