"""Temporary: the old rules under the new name."""

from vaultmind.memory.contradictions.contradict import contradicted, relation

__all__ = ["contradicted", "relation"]
