"""The words of time of each language."""
