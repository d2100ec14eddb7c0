"""triggers: what points back in six languages, and what says nothing."""

from __future__ import annotations

from vaultmind.session.recall.triggers import (
    language_of,
    phrases,
)


def test_an_unknown_language_gets_english() -> None:
    assert phrases("xx").header == "From earlier in this conversation:"
    assert language_of("Wczoraj byłem w sklepie i kupiłem świeży chleb.") == "pl"
    assert language_of("", "ru") == "ru"
    assert language_of("12", "xx") == "en"
