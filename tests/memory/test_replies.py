"""memory/replies: the person is answered in their own language, with fact and file."""

from __future__ import annotations

from vaultmind.memory.replies import told
from vaultmind.types import Outcome


def test_what_was_done_names_the_facts_and_the_file() -> None:
    outcome = Outcome("written", "main", fact="Lubi sernik", path="VaultMind/x/brain.md")
    said = told("pl", "remember", outcome, "lubi sernik")
    assert "Lubi sernik" in said and "brain.md" in said and "Zapamiętałem" in said
    outcome = Outcome("written", "main", fact="Lives in Gdańsk", before="Lives in Kraków")
    assert "“Lives in Kraków”" in told("en", "remember", outcome, "Lives in Gdańsk")
