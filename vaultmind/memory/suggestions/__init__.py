"""Suggestions.md: what waits for the person, and how they settle it."""
