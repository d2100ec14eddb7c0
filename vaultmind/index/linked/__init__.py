"""Folders that the person linked: what is taken of them, how it is cut, how it is followed."""
