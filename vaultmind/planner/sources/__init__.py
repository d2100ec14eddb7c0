"""Folders that can be planned over: the vault and linked ones, opened, as they stand on disk."""
