"""index/search/results: places joined, copies once, messages in their talk, a budget, pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.index.vault import Vault
from vaultmind import redact, tokens
from vaultmind.index.search.places import MOST_JOINED
from vaultmind.index.search.results import LEAST_TOKENS, Answered, Ranked, answer, shares
from vaultmind.index.storage.found import chunks_beside
from vaultmind.types import PERSON, Chunk, Message, Role, SearchRequest
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

TALK = "VaultMind/agents/main/memory/sessions/2026-02-20_001.md"
BRAIN = "VaultMind/agents/main/memory/brain.md"


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path)
    yield made
    made.close()


def chunks(vault: Vault, path: str) -> list[Chunk]:
    """Return the chunks of a file, in order."""
    with vault.database.read() as connection:
        found = []
        for name in vault.ids(path):
            near = chunks_beside(connection, Chunk(name, path, "note", "", "", "", "", 0, 0))
            found.append(next(one for one in near if one.id == name))
    return found


def answered(vault: Vault, ranked: Sequence[Chunk], **wanted: object) -> Answered:
    """Return what becomes of chunks that were found in this order."""
    request = SearchRequest("heron", **wanted)  # type: ignore[arg-type]

    def beside(chunk: Chunk) -> Sequence[Chunk]:
        with vault.database.read() as connection:
            return chunks_beside(connection, chunk)

    def shows(chunk: Chunk) -> bool:
        return vault.outlet.shows_chunk(chunk, PERSON)

    scored = [Ranked(one, 1.0 - at / 100) for at, one in enumerate(ranked)]
    return answer(scored, request, beside, shows, lambda text: redact.mask(text).text)


def sections(*numbers: int, words: int = 90) -> str:
    return "".join(f"# Part {n}\n\n{f'heron{n} ' * words}\n\n" for n in numbers)


def talk(*said: tuple[Role, str]) -> str:
    text = render_header(SessionMeta("2026-02-20_001", "main", "2026-02-20T10:00:00+01:00"))
    for number, (role, words) in enumerate(said, 1):
        time = f"2026-02-20T10:{number:02}:00+01:00"
        speaker = "Anna" if role == "user" else ""
        text += render_message(
            Message(role, words, time, f"D1:{number}", speaker, block=f"m{number}")
        )
    return text


# --- places -------------------------------------------------------------------------------


def test_chunks_that_stand_together_are_one_hit_with_their_texts_in_order(vault: Vault) -> None:
    vault.put("a.md", sections(1, 2, 3, 4, 5))
    one, two, three, _, five = chunks(vault, "a.md")
    hits = answered(vault, [two, five, three, one], max_tokens=9000).hits
    assert [hit.anchor for hit in hits] == ["#Part 2", "#Part 5"]
    assert hits[0].id == two.id
    assert [word for word in hits[0].text.split() if word.isdigit()] == ["1", "2", "3"]
    assert hits[0].text.split() == f"{one.text} {two.text} {three.text}".split()


def test_what_fills_a_gap_joins_both_sides(vault: Vault) -> None:
    vault.put("a.md", sections(1, 2, 3))
    one, two, three = chunks(vault, "a.md")
    (hit,) = answered(vault, [three, one, two], max_tokens=9000).hits
    assert hit.id == three.id
    assert hit.text.index("Part 1") < hit.text.index("Part 2") < hit.text.index("Part 3")


def test_a_hit_does_not_grow_without_end(vault: Vault) -> None:
    vault.put("a.md", sections(*range(1, 8)))
    found = answered(vault, chunks(vault, "a.md"), max_tokens=9000).hits
    assert [hit.text.count("# Part") for hit in found] == [MOST_JOINED, 7 - MOST_JOINED]


def test_per_note_counts_places(vault: Vault) -> None:
    vault.put("a.md", sections(*range(1, 10)))
    every = chunks(vault, "a.md")
    apart = [every[0], every[1], every[3], every[5], every[7]]
    assert len(answered(vault, apart, max_tokens=9000, per_note=3).hits) == 3
    assert len(answered(vault, apart[:3], max_tokens=9000, per_note=2).hits) == 2


def test_facts_and_messages_are_hits_of_their_own(vault: Vault) -> None:
    vault.put(BRAIN, "# user\n- Saw a heron in May\n- Feeds a heron\n")
    vault.put(TALK, talk(("user", "A heron is here."), ("user", "The heron has gone.")))
    found = answered(vault, [*chunks(vault, BRAIN), *chunks(vault, TALK)]).hits
    assert len(found) == 4


def test_the_pieces_of_a_long_message_are_one_hit(vault: Vault) -> None:
    long = " ".join(f"The heron number {n} stood in the river." for n in range(60))
    vault.put(TALK, talk(("user", "Listen."), ("user", long)))
    pieces = chunks(vault, TALK)[1:]
    assert len(pieces) > 2
    (hit,) = answered(vault, pieces, max_tokens=9000).hits
    assert hit.text.split() == long.split()


def test_each_chunk_is_a_hit_of_its_own_where_that_is_asked(vault: Vault) -> None:
    vault.put("a.md", sections(1, 2))
    vault.put("b.md", sections(1))
    vault.put(TALK, talk(("user", "Where is the heron?"), ("assistant", "In the river.")))
    every = [*chunks(vault, "a.md"), *chunks(vault, "b.md"), chunks(vault, TALK)[0]]
    found = answered(vault, every, max_tokens=9000, apart=True).hits
    assert [hit.id for hit in found] == [one.id for one in every]
    assert not any(hit.after for hit in found)


# --- copies -------------------------------------------------------------------------------


def test_a_copy_is_told_with_the_hit_and_is_none(vault: Vault) -> None:
    text = (
        "The heron built its nest on the old chimney, and in May there were three young ones. It "
        "stood in the river every evening until the mill was closed for the winter.\n"
    )
    vault.put("Heron.md", f"# Nest\n\n{text}")
    vault.put("Archive/Heron copy.md", f"# Nest\n\n{text.replace('young', 'yuong')}")
    vault.put("Heron 2.md", f"# Nest\n\n{text.replace('three', '3')}")
    found = answered(vault, [chunks(vault, one)[0] for one in
                             ("Heron.md", "Archive/Heron copy.md", "Heron 2.md")])  # fmt: skip
    assert [(hit.path, hit.also) for hit in found.hits] == [
        ("Heron.md", ("Archive/Heron copy.md",)),
        ("Heron 2.md", ()),
    ]
    assert found.paths == {"Heron.md", "Heron 2.md", "Archive/Heron copy.md"}


def test_what_was_said_or_noted_on_another_day_is_no_copy_for_a_word_in_common(
    vault: Vault,
) -> None:
    day = "Rain all day, a walk with the dog along the river, and the heron stood there again.\n"
    for number in (1, 2):
        vault.put(f"Daily/2026-02-0{number}.md", day)
    likes = "- Has fed the heron behind the mill each morning since the first winter in the {}\n"
    vault.put(BRAIN, "# user\n" + likes.format("village") + likes.format("town"))
    vault.put(TALK, talk(("user", day), ("user", day), ("user", f"{day.strip()} Yes.")))
    files = ("Daily/2026-02-01.md", "Daily/2026-02-02.md", BRAIN, TALK)
    found = answered(vault, [one for path in files for one in chunks(vault, path)], limit=9).hits
    assert [(hit.path, hit.anchor, hit.also) for hit in found if hit.kind == "note"] == [
        ("Daily/2026-02-01.md", "", ()),
        ("Daily/2026-02-02.md", "", ()),
    ]
    assert [hit.kind for hit in found].count("fact") == 2
    assert [hit.also for hit in found if hit.kind == "message"] == [(f"{TALK}#^m2",), ()]


def test_what_another_agent_knows_is_no_copy(vault: Vault) -> None:
    other = BRAIN.replace("main", "other")
    for path in (BRAIN, other):
        vault.put(path, "# user\n- Saw a heron\n")
    vault.put("a.md", "Saw a heron\n")
    every = [chunks(vault, path)[0] for path in (BRAIN, other, "a.md")]
    assert len(answered(vault, every).hits) == 3


# --- messages in their talk ---------------------------------------------------------------


def test_a_message_comes_with_what_was_said_before_and_after(vault: Vault) -> None:
    vault.put(
        TALK,
        talk(
            ("user", "What stood there?"),
            ("tool", "search: 3 hits"),
            ("assistant", "A heron."),
            ("user", "Since when?\nTell me."),
            ("assistant", "Since May."),
        ),
    )
    (hit,) = answered(vault, [chunks(vault, TALK)[2]]).hits
    assert (hit.before, hit.after) == ("Anna: What stood there?", "Anna: Since when? Tell me.")


def test_of_long_neighbours_the_near_ends_are_shown(vault: Vault) -> None:
    long = " ".join(f"Word {n} was said." for n in range(300))
    vault.put(TALK, talk(("user", long), ("assistant", "A heron."), ("user", long)))
    heron = next(one for one in chunks(vault, TALK) if one.text == "A heron.")
    (hit,) = answered(vault, [heron]).hits
    assert hit.before.startswith("Anna: … ") and hit.before.endswith("Word 299 was said.")
    assert hit.after.startswith("Anna: Word 0 was said.") and hit.after.endswith(" …")


def test_a_forgotten_neighbour_is_not_shown(vault: Vault) -> None:
    vault.put(TALK, talk(("user", "My pin is 1."), ("user", "A heron."), ("user", "Bye.")))
    vault.hidden.names.add(("main", "2026-02-20_001", "m1"))
    (hit,) = answered(vault, [chunks(vault, TALK)[1]]).hits
    assert (hit.before, hit.after) == ("", "Anna: Bye.")


def test_a_secret_in_a_neighbour_is_masked(vault: Vault) -> None:
    vault.put(TALK, talk(("user", "password: Tr0ub4dor&3xyz"), ("user", "A heron.")))
    (hit,) = answered(vault, [chunks(vault, TALK)[1]]).hits
    assert hit.before and "Tr0ub4dor" not in hit.before


def test_neighbours_obey_the_filters_and_are_not_shown_twice(vault: Vault) -> None:
    vault.put(TALK, talk(*(("user", f"The heron number {n}.") for n in range(5))))
    every = chunks(vault, TALK)
    first, second = answered(vault, every[1:3]).hits
    assert (first.before, first.after) == ("Anna: The heron number 0.", "")
    assert (second.before, second.after) == ("", "Anna: The heron number 3.")
    (hit,) = answered(vault, every[1:2], running=TALK, since="m3").hits
    assert (bool(hit.before), hit.after) == (True, "")
    (hit,) = answered(vault, every[1:2], before="2026-02-19").hits
    assert (hit.before, hit.after) == ("", "")


def test_neighbours_take_what_the_hits_leave_of_the_budget(vault: Vault) -> None:
    vault.put(
        TALK,
        talk(*(("user", f"The heron number {n} flew. " + "So it is. " * 30) for n in range(9))),
    )
    every = chunks(vault, TALK)
    for budget in (60, 150, 400, 800):
        hits = answered(vault, every[1:9:3], max_tokens=budget).hits
        assert (
            sum(tokens.count(part) for hit in hits for part in (hit.text, hit.before, hit.after))
            <= budget
        )
    assert hits[0].before and hits[0].after


# --- the budget ---------------------------------------------------------------------------


def test_one_long_hit_does_not_take_all(vault: Vault) -> None:
    vault.put("long.md", "log entry " * 400 + "the heron " + "log entry " * 400)
    long = max(chunks(vault, "long.md"), key=lambda one: "heron" in one.text)
    big = Chunk(
        long.id,
        "long.md",
        "note",
        "",
        "",
        "Long",
        "log entry " * 900 + "heron. " + "log entry " * 900,
        0,
        9,
    )
    short = []
    for n in range(6):
        vault.put(f"{n}.md", f"A heron, number {n}, stood here.\n")
        short += chunks(vault, f"{n}.md")
    found = answered(vault, [big, *short])
    assert len(found.hits) == 7 and not found.omitted
    assert "heron" in found.hits[0].text and found.hits[0].truncated
    assert tokens.count(found.hits[0].text) > 1000
    assert not any(hit.truncated for hit in found.hits[1:])


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=30), st.integers(1, 5000))
def test_a_budget_is_shared_well(costs: list[int], most: int) -> None:
    given_ = shares(costs, most)
    assert 1 <= len(given_) <= len(costs)
    assert sum(given_) <= most
    assert all(0 < got <= cost for got, cost in zip(given_, costs, strict=False))
    if sum(costs) <= most:
        assert given_ == costs
    if len(given_) > 1:
        assert all(
            got >= min(cost, LEAST_TOKENS) for got, cost in zip(given_[:-1], costs, strict=False)
        )


def test_a_better_hit_gets_more() -> None:
    first, second, third = shares([900, 900, 900], 1000)
    assert first > second > third
    assert 990 <= first + second + third <= 1000
    assert shares([900, 50, 900], 1000)[1] == 50


# --- pages --------------------------------------------------------------------------------


def pages(vault: Vault, ranked: Sequence[Chunk], **wanted: object) -> list[str]:
    """Return the ids of the hits of all pages, one after the other."""
    ids: list[str] = []
    offset: int | None = 0
    while offset is not None:
        found = answered(vault, ranked, offset=offset, **wanted)
        assert found.hits
        assert found.next_offset is None or found.next_offset > offset
        ids += [hit.id for hit in found.hits]
        offset = found.next_offset
    return ids


@pytest.mark.parametrize(
    ("limit", "max_tokens"), [(1, 900), (3, 9000), (4, 200), (8, 500), (50, 900)]
)
def test_pages_hold_every_place_once_and_in_the_same_order(
    vault: Vault, limit: int, max_tokens: int
) -> None:
    for name in "abcde":
        vault.put(f"{name}.md", sections(*range(1, 7)).replace("heron", f"heron{name}"))
    every = [one for name in "abcde" for one in chunks(vault, f"{name}.md")]
    mixed = [every[at * 7 % 30] for at in range(30)]
    got = pages(vault, mixed, limit=limit, max_tokens=max_tokens, per_note=100)
    assert len(got) == len(set(got))
    again = pages(vault, mixed, limit=limit, max_tokens=9000, per_note=100)
    assert got == again


def test_a_chunk_is_on_one_page_whatever_was_asked_for_before(vault: Vault) -> None:
    vault.put("a.md", sections(*range(1, 7)))
    vault.put("b.md", sections(*range(1, 7)).replace("heron", "egret"))
    a, b = chunks(vault, "a.md"), chunks(vault, "b.md")
    ranked = [a[0], b[0], a[2], b[2], a[1], b[1], a[3], b[5], a[5]]
    texts = []
    offset: int | None = 0
    while offset is not None:
        found = answered(vault, ranked, limit=2, offset=offset, max_tokens=9000, per_note=9)
        texts += [hit.text for hit in found.hits]
        offset = found.next_offset
    shown = " ".join(texts)
    assert all(one.text.split("\n")[-1] in shown for one in ranked)
    assert shown.count("# Part") == len(ranked)


def test_an_offset_behind_the_end_is_an_empty_page(vault: Vault) -> None:
    vault.put("a.md", sections(1))
    found = answered(vault, chunks(vault, "a.md"), offset=8)
    assert found == Answered()


# --- through a search ---------------------------------------------------------------------


def test_a_search_goes_on_where_its_last_page_ended(vault: Vault) -> None:
    birds = [f"{first}{second}" for first in "abcdefgh" for second in "uvwxyz"]
    for bird in birds:
        vault.put(f"{bird}.md", f"The heron called {bird} lives on the {bird} river.\n")
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        request = SearchRequest("heron on a river", limit=7, offset=offset)
        found = vault.search(request, PERSON)
        seen += [hit.path for hit in found.hits]
        offset = found.next_offset
    assert sorted(seen) == sorted(f"{bird}.md" for bird in birds)
