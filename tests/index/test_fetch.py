"""index/search/fetch: the whole text behind a hit or a path, fresh from disk."""

import pytest

from tests.index.vault import Vault
from vaultmind.errors import NotFound
from vaultmind.types import PERSON, Message
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

TIME = "2026-02-20T10:00:00+01:00"
SESSION = "VaultMind/agents/main/memory/sessions/2026-02-20_001.md"
BRAIN = "VaultMind/agents/main/memory/brain.md"
NOTE = (
    "---\ntitle: Clay oven\n---\n# Door\nHigh. %%private%%\n## Hinge\nIron.\n# Roof\nClay ^roof\n"
)


@pytest.fixture
def vault(vault: Vault) -> Vault:
    vault.put("Projects/Oven.md", NOTE)
    text = render_header(SessionMeta("2026-02-20_001", "main", TIME))
    text += render_message(Message("user", "The heron came", TIME, "D1:1", "Anna", block="m1"))
    text += render_message(Message("assistant", "A fine bird.", TIME, "D1:2", block="m2"))
    vault.put(SESSION, text)
    vault.put(BRAIN, "# user\n- Likes herons %%2026-02-20 said [[x]]%% ^k3f9\n- Typed\n")
    return vault


def test_a_comment_stays_in_the_vault(vault: Vault) -> None:
    assert "private" not in vault.fetch("Oven", PERSON).text
    assert vault.fetch(BRAIN, PERSON).text == "# user\n- Likes herons\n- Typed"


def test_a_heading_is_fetched_with_all_below_it(vault: Vault) -> None:
    found = vault.fetch("Oven#Door", PERSON)
    assert "Iron." in found.text
    assert "Roof" not in found.text
    assert vault.fetch("Oven#Door#Hinge", PERSON).text == "## Hinge\nIron."
    assert "Clay" in vault.fetch("Oven#^roof", PERSON).text


def test_the_text_is_that_on_disk_not_that_in_the_index(vault: Vault) -> None:
    vault.write("Projects/Oven.md", "# Door\nLow.\n")
    assert vault.fetch("Oven#Door", PERSON).text == "# Door\nLow."


def test_a_forgotten_message_is_in_no_session(vault: Vault) -> None:
    hidden = vault.ids(SESSION)[0]
    vault.hidden.names.add(("main", "2026-02-20_001", "m1"))
    text = vault.fetch(SESSION, PERSON).text
    assert "heron" not in text
    assert "A fine bird." in text
    for name in (hidden, f"{SESSION}#^m1"):
        with pytest.raises(NotFound):
            vault.fetch(name, PERSON)


def test_pages_of_a_big_note_make_all_of_it(vault: Vault) -> None:
    text = "".join(f"Line {n} of the log.   \n\n" for n in range(20_000)) + " " * 60_000 + "End.\n"
    vault.put("Log.md", text)
    pages, offset = [], 0
    while offset is not None:
        page = vault.fetch("Log.md", PERSON, max_tokens=40_000, offset=offset)
        assert page.tokens <= 40_000
        pages.append(page.text)
        offset = page.next_offset  # type: ignore[assignment]
    assert " ".join(pages).split() == text.split()
    vault.write("Log.md", text.replace("Line 0 ", "Line zero "))
    assert vault.fetch("Log.md", PERSON, max_tokens=50).text.startswith("Line zero")


@pytest.mark.parametrize(
    "name",
    [
        *("", "Nowhere.md", "0123456789abcdef0123", "Oven#No such heading"),
        *("VaultMind/README.md", "VaultMind/agents/main/identity.md", "VaultMind/Suggestions.md"),
    ],
)
def test_what_is_not_there_or_not_shown_is_not_found(vault: Vault, name: str) -> None:
    for path in ("VaultMind/README.md", "VaultMind/agents/main/identity.md"):
        vault.write(path, "# Secret\n")
    with pytest.raises(NotFound):
        vault.fetch(name, PERSON)
