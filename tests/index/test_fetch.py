"""index/search/fetch: the whole text behind a hit or a path, fresh from disk."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.index.vault import Vault
from vaultmind import tokens
from vaultmind.errors import BadArgument, NotFound, PathRefused
from vaultmind.index.search.fetch import Fetch
from vaultmind.types import PERSON, Message, SearchRequest
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

TIME = "2026-02-20T10:00:00+01:00"
SESSION = "VaultMind/agents/main/memory/sessions/2026-02-20_001.md"
BRAIN = "VaultMind/agents/main/memory/brain.md"
NOTE = (
    "---\ntitle: Clay oven\n---\n# Door\nHigh. %%private%%\n## Hinge\nIron.\n# Roof\nClay ^roof\n"
)


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path)
    made.put("Projects/Oven.md", NOTE)
    text = render_header(SessionMeta("2026-02-20_001", "main", TIME))
    text += render_message(Message("user", "The heron came", TIME, "D1:1", "Anna", block="m1"))
    text += render_message(Message("assistant", "A fine bird.", TIME, "D1:2", block="m2"))
    made.put(SESSION, text)
    made.put(BRAIN, "# user\n- Likes herons %%2026-02-20 said [[x]]%% ^k3f9\n- Typed\n")
    yield made
    made.close()


@pytest.mark.parametrize(
    "name", ["Projects/Oven.md", "Projects/Oven", "Oven", "[[Oven]]", "oven.md"]
)
def test_a_note_is_found_by_path_and_by_name(vault: Vault, name: str) -> None:
    found = vault.fetch(name, PERSON)
    assert (found.path, found.title, found.kind) == ("Projects/Oven.md", "Clay oven", "note")
    assert "Iron." in found.text
    assert found.next_offset is None


def test_a_comment_stays_in_the_vault(vault: Vault) -> None:
    assert "private" not in vault.fetch("Oven", PERSON).text
    assert vault.fetch(BRAIN, PERSON).text == "# user\n- Likes herons\n- Typed"


def test_a_heading_is_fetched_with_all_below_it(vault: Vault) -> None:
    found = vault.fetch("Oven#Door", PERSON)
    assert "Iron." in found.text
    assert "Roof" not in found.text
    assert vault.fetch("Oven#Door#Hinge", PERSON).text == "## Hinge\nIron."
    assert "Clay" in vault.fetch("Oven#^roof", PERSON).text


def test_a_hits_id_gives_its_section_message_or_fact(vault: Vault) -> None:
    assert "Iron." in vault.fetch(vault.ids("Projects/Oven.md")[0], PERSON).text
    message = vault.fetch(vault.ids(SESSION)[0], PERSON)
    assert message.text == f"Anna · {TIME}\nThe heron came"
    assert (message.anchor, message.time) == ("#^m1", TIME)
    assert vault.fetch(vault.ids(BRAIN)[0], PERSON).text == "Likes herons"


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


def test_a_long_text_comes_in_pieces_that_make_the_whole(vault: Vault) -> None:
    text = "\n".join(f"Line {number} about the oven and its dome." for number in range(200))
    vault.put("Long.md", text + "\n")
    pieces, offset = [], 0
    while True:
        found = vault.fetch("Long.md", PERSON, max_tokens=300, offset=offset)
        assert found.tokens <= 300
        pieces.append(found.text)
        if found.next_offset is None:
            break
        offset = found.next_offset
    assert len(pieces) > 3
    assert " ".join(" ".join(pieces).split()) == " ".join(text.split())
    assert tokens.count(text) > 1000


def test_pages_of_a_big_note_are_read_once_until_it_changes(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(f"Line {n} of the log.   \n\n" for n in range(20_000)) + " " * 60_000 + "End.\n"
    vault.put("Log.md", text)
    read: list[str] = []
    reader = vault.outlet.reader
    whole = VaultReader.read

    def counted(self: VaultReader, relative: str) -> FileText:
        read.append(relative)
        return whole(self, relative)

    monkeypatch.setattr(VaultReader, "read", counted)
    assert reader.exists("Log.md")
    pages, offset = [], 0
    while offset is not None:
        page = vault.fetch("Log.md", PERSON, max_tokens=40_000, offset=offset)
        assert page.tokens <= 40_000
        pages.append(page.text)
        offset = page.next_offset  # type: ignore[assignment]
    assert read == ["Log.md"]
    assert " ".join(pages).split() == text.split()
    vault.write("Log.md", text.replace("Line 0 ", "Line zero "))
    assert vault.fetch("Log.md", PERSON, max_tokens=50).text.startswith("Line zero")


def test_secrets_are_masked(vault: Vault) -> None:
    vault.put("Router.md", "password: Tr0ub4dor&3xyz\n")
    assert "Tr0ub4dor" not in vault.fetch("Router", PERSON).text


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


@pytest.mark.parametrize("name", ["../x.md", "/etc/passwd", "a/../../b.md"])
def test_a_path_that_leads_outside_is_refused(vault: Vault, name: str) -> None:
    with pytest.raises((PathRefused, NotFound)):
        vault.fetch(name, PERSON)


def test_bad_numbers_are_named(vault: Vault) -> None:
    with pytest.raises(BadArgument, match="offset"):
        vault.fetch("Oven", PERSON, offset=-1)
    with pytest.raises(BadArgument, match="max_tokens"):
        vault.fetch("Oven", PERSON, max_tokens=0)


def test_a_forgotten_paragraph_of_a_summary_is_in_no_way_out(vault: Vault) -> None:
    record = "VaultMind/agents/main/memory/summaries/L1/L1_001"
    long = " ".join(["Anna told at length of her allergy to hazelnuts and of nothing else."] * 12)
    vault.put(f"{record}.md", f"# January\n\nThe oven is ready.\n\n{long} ^hz11\n\nShawls.\n")
    request = SearchRequest("allergy to hazelnuts", limit=20, per_note=20, apart=True)
    found = vault.search(request, PERSON).hits
    said = [hit.anchor for hit in found if "hazelnuts" in hit.text]
    assert len(said) > 1 and set(said) == {"#^hz11"}
    vault.hidden.names.add(("main", record, "hz11"))
    assert not [hit for hit in vault.search(request, PERSON).hits if "hazel" in hit.text]
    whole = vault.fetch(f"{record}.md", PERSON).text
    assert "oven" in whole and "Shawls" in whole and "hazelnuts" not in whole
    for name in (found[0].id, f"{record}.md#^hz11"):
        with pytest.raises(NotFound):
            vault.fetch(name, PERSON)


def test_a_hit_whose_text_was_edited_since_is_read_where_it_stood(vault: Vault) -> None:
    fetch = Fetch(vault.database, vault.outlet)
    long = NOTE + "\n# Chimney\n" + "Bricks stand on bricks here.\n" * 30
    vault.put("Projects/Oven.md", long)
    hit = vault.search(SearchRequest("iron hinge"), PERSON).hits[0]
    fetch.note([hit])
    vault.put("Projects/Oven.md", long.replace("Iron.", "Brass."))
    assert hit.id not in vault.ids("Projects/Oven.md")
    assert "Brass." in fetch.fetch(hit.id, PERSON).text
    vault.put("Projects/Oven.md", "# Kiln\nBricks.\n")
    assert hit.anchor == "#Door"
    with pytest.raises(NotFound, match=r"'#Door'.*changed since.*'Projects/Oven.md'"):
        fetch.fetch(hit.id, PERSON)


def test_the_id_of_a_message_that_was_forgotten_since_brings_nothing_back(vault: Vault) -> None:
    fetch = Fetch(vault.database, vault.outlet)
    hit = vault.search(SearchRequest("heron came", kinds=("message",)), PERSON).hits[0]
    fetch.note([hit])
    vault.write(
        SESSION, vault.reader.read(SESSION).text.replace("The heron came", "The heron left")
    )
    vault.refresh([SESSION])
    assert "left" in fetch.fetch(hit.id, PERSON).text
    vault.hidden.names.add(("main", "2026-02-20_001", "m1"))
    with pytest.raises(NotFound):
        fetch.fetch(hit.id, PERSON)
