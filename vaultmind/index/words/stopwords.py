"""The lists of words in words.toml: of those that say nothing, and of irregular English."""

from __future__ import annotations

from vaultmind.tables import table

LISTS = table(__file__)
BY_LANGUAGE: dict[str, frozenset[str]] = {
    code: frozenset(text.split()) for code, text in LISTS["stop"].items()
}
"""Words that say nothing about a subject, folded, as `terms.fold` leaves them."""


def _bases() -> dict[str, tuple[str, ...]]:
    both = LISTS["irregular"]["both"].split()
    entries = [entry.split() for entry in LISTS["irregular"]["forms"].split(",")]
    return {
        form: (form, base) if form in both else (base,)
        for base, *forms in entries
        for form in forms
    }


BASES = _bases()
"""Irregular form → the words that are stemmed in its place."""
