"""Forgetting: what said a thing, how it is hidden, how it is erased."""
