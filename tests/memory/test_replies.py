"""memory/replies: the person is answered in their own language, with fact and file."""

from __future__ import annotations

import string

from vaultmind.memory.replies import told
from vaultmind.types import Outcome


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_what_was_done_names_the_fact_and_the_file() -> None:
    outcome = Outcome("written", "main", fact="Lubi sernik", path="VaultMind/x/brain.md")
    said = told("pl", "remember", outcome, "lubi sernik")
    assert "Lubi sernik" in said and "brain.md" in said and "Zapamiętałem" in said


def test_what_was_not_found_offers_the_nearest() -> None:
    outcome = Outcome("not_found", "main", nearest=("Tea with milk", "Tea shop closes at six"))
    said = told("en", "forget", outcome, "tea")
    assert "“tea”" in said and "- Tea with milk" in said


def test_a_fact_that_took_anothers_place_names_both() -> None:
    outcome = Outcome("written", "main", fact="Lives in Gdańsk", before="Lives in Kraków")
    said = told("en", "remember", outcome, "Lives in Gdańsk")
    assert "instead of" in said.lower() or "“Lives in Kraków”" in said
    waiting = Outcome("suggested", "main", fact="Lives in Gdańsk", before="Lives in Kraków")
    assert "Lives in Kraków → Lives in Gdańsk" in told("pl", "remember", waiting, "")
