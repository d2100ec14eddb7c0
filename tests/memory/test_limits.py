"""memory/limits: an oversized brain gives its least important facts to the archive."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind.errors import DamagedMemory
from vaultmind.memory.brain import add_fact, new_brain, parse_brain, render_fact
from vaultmind.memory.limits import Limits, Use, brain_tokens, importance, restore, shrink
from vaultmind.types import SECTIONS, Fact, MessageRef, Section
from vaultmind.vault.paths import VaultPaths

PATHS = VaultPaths(Path("/vault"))
TODAY = date(2026, 3, 1)
LIMITS = Limits(PATHS, "main", TODAY)
REF = MessageRef("main", "2026-02-20_001", "m7")
TOPICS = ("tea", "coffee", "jazz", "hiking", "chess", "Rust", "Kraków", "garden", "bicycle", "art")


def fact(number: int, section: Section = "user", days: int = 10) -> Fact:
    text = f"Fact {number} about {TOPICS[number % 10]} and what the user once said of it"
    written = (TODAY - timedelta(days=days)).isoformat()
    return Fact(text, section, f"b{number:03}", REF, written, "said")


def brain_of(facts: list[Fact], language: str = "en") -> str:
    text = new_brain("main", language)
    for one in facts:
        text = add_fact(text, render_fact(one, PATHS), one.section or "user", language)
    return text


FACTS = st.lists(
    st.tuples(st.sampled_from(SECTIONS), st.integers(0, 400)), min_size=0, max_size=70
).map(lambda rows: [fact(i, section, days) for i, (section, days) in enumerate(rows)])
TYPED = st.lists(
    st.sampled_from(
        [
            "- typed by hand", "prose of mine", "  - nested", "> quote", "- [x] done", "%% note %%",
            "- mine, dated %%2026-01-01 said%% ^mine", "  continued", "", "| a | b |", "1. first",
        ]
    ),
    max_size=12,
)  # fmt: skip


@st.composite
def brains(draw: st.DrawFn) -> str:
    lines = brain_of(draw(FACTS), draw(st.sampled_from(["en", "pl", "ru"]))).split("\n")
    for typed in draw(TYPED):
        lines.insert(draw(st.integers(0, len(lines))), typed)
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines)


def texts(*files: str) -> list[str]:
    return sorted(one.text for file in files for one in parse_brain(file).all())


def test_a_small_brain_is_left_alone() -> None:
    text = brain_of([fact(1)])
    assert shrink(text, "", LIMITS).brain is text
    assert shrink(text, "", LIMITS).archive == ""


@settings(max_examples=60, deadline=None)
@given(brains())
def test_nothing_vanishes_and_only_lines_of_ours_move(text: str) -> None:
    moved = shrink(text, "", LIMITS)
    assert texts(moved.brain, moved.archive) == texts(text)
    gone = {f"- {render_fact(one, PATHS)}" for one in moved.facts}
    stays = [line for line in text.split("\n") if line.rstrip("\r") not in gone]
    assert moved.brain.split("\n") == stays


@settings(max_examples=60, deadline=None)
@given(FACTS)
def test_a_brain_of_our_facts_ends_between_the_target_and_the_limit(facts: list[Fact]) -> None:
    text = brain_of(facts)
    size = brain_tokens(shrink(text, "", LIMITS).brain)
    assert size <= LIMITS.max_tokens
    assert size >= min(LIMITS.target_tokens, brain_tokens(text))


@settings(max_examples=40, deadline=None)
@given(brains(), brains())
def test_an_archive_keeps_what_it_had_line_for_line(text: str, archive: str) -> None:
    moved = shrink(text, archive, LIMITS)
    rest = iter(moved.archive.replace("\r", "").split("\n"))
    assert all(line in rest for line in archive.replace("\r", "").split("\n") if line)
    blocks = [one.block for one in parse_brain(moved.archive).all() if one in moved.facts]
    assert len(blocks) == len(set(blocks))


def test_provenance_and_block_id_move_along() -> None:
    facts = [fact(i) for i in range(60)]
    moved = shrink(brain_of(facts), "", LIMITS)
    assert moved.facts
    assert set(moved.facts) <= set(facts)
    assert set(parse_brain(moved.archive).all()) == set(moved.facts)


def test_the_archive_speaks_the_brains_language() -> None:
    limits = Limits(PATHS, "main", TODAY, language="pl")
    moved = shrink(brain_of([fact(i, "preferences") for i in range(60)], "pl"), "", limits)
    assert "## Preferencje" in moved.archive


def test_what_is_used_new_repeated_or_about_the_user_stays() -> None:
    def worth(section: Section, days: int, use: Use | None = None) -> float:
        return importance(fact(1, section, days), use or Use(), TODAY)

    assert worth("user", 10) > worth("preferences", 10) > worth("current", 10)
    assert worth("user", 10) > worth("user", 300)
    assert worth("user", 10, Use(recalled=4)) > worth("user", 10)
    assert worth("user", 10, Use(repeated=2)) > worth("user", 10)
    assert worth("user", 300, Use(last="2026-02-28")) > worth("user", 300)


def test_the_oldest_current_matter_goes_first_and_the_kept_one_never() -> None:
    facts = [fact(0, "current", 200), *(fact(i) for i in range(1, 60))]
    text = brain_of(facts)
    assert facts[0] in shrink(text, "", LIMITS).facts
    kept = Limits(PATHS, "main", TODAY, keep={"b000"})
    assert facts[0] not in shrink(text, "", kept).facts


@settings(max_examples=40, deadline=None)
@given(brains(), st.randoms(use_true_random=False))
def test_an_archived_fact_comes_back_whole(text: str, rng: object) -> None:
    moved = shrink(text, "", LIMITS)
    for one in moved.facts[:3]:
        back = restore(moved.brain, moved.archive, one.block, LIMITS)
        assert back is not None
        assert back.facts[0].text == one.text
        assert back.facts[0].evidence == one.evidence
        assert texts(back.brain, back.archive) == texts(text)


def test_only_a_known_line_of_ours_comes_back() -> None:
    assert restore("", "# A\n\n## User\n\n- typed ^abcd\n", "abcd", LIMITS) is None
    assert restore("", "", "abcd", LIMITS) is None


def test_a_fact_the_brain_knows_already_is_not_doubled() -> None:
    text = brain_of([fact(1)])
    back = restore(text, text, "b001", LIMITS)
    assert back is not None
    assert back.brain == text
    assert texts(back.archive) == []


def test_a_block_id_that_the_archive_holds_is_changed() -> None:
    text = brain_of([fact(i) for i in range(60)])
    archive = brain_of([Fact("Another", "user", f"b{i:03}", REF, "2026-01-01", "said")
                        for i in range(60)])  # fmt: skip
    moved = shrink(text, archive, LIMITS)
    blocks = [one.block for one in parse_brain(moved.archive).all()]
    assert len(blocks) == len(set(blocks))
    assert texts(moved.brain, moved.archive) == texts(text, archive)


def test_a_damaged_archive_takes_nothing_and_says_so() -> None:
    damaged = "<<<<<<< ours\n- a\n>>>>>>> theirs\n"
    with pytest.raises(DamagedMemory, match="merge markers"):
        shrink(brain_of([fact(i) for i in range(60)]), damaged, LIMITS)


def test_a_line_that_a_person_made_private_stays_between_its_tags() -> None:
    text = brain_of([fact(number, days=300) for number in range(40)])
    line = next(one for one in text.split("\n") if "Fact 3 " in one)
    text = text.replace(line, f"<private>\n{line}\n</private>")
    moved = shrink(text, "", LIMITS)
    assert moved.facts and f"<private>\n{line}\n</private>" in moved.brain
    assert "Fact 3 " not in moved.archive


def test_what_was_asked_for_is_not_pushed_out_by_what_an_old_conversation_says() -> None:
    read_today = Use(last=TODAY.isoformat())
    found = replace(fact(1, "user", 4000), how="extracted")
    asked = fact(2, "preferences", 10)
    assert importance(asked, Use(), TODAY) > importance(found, read_today, TODAY)
    newer = replace(fact(3, "user", 5), how="extracted")
    assert importance(newer, read_today, TODAY) > importance(found, read_today, TODAY)
    again = importance(found, Use(repeated=1, last=TODAY.isoformat()), TODAY)
    assert again > importance(found, read_today, TODAY)


@pytest.mark.parametrize(
    "text",
    [
        "I translate literary fiction into English, for Harrow & Finch",
        "Jan Kos, maritime lawyer",
        "Pracuję jako pielęgniarka",
        "Живу в Казани",
    ],
)
def test_who_the_person_is_and_what_they_do_goes_among_the_last(text: str) -> None:
    plain = Fact(
        "My spelling is older than my accent", "user", "b1", REF, "2026-03-01", "extracted"
    )
    assert importance(replace(plain, text=text, written="2026-01-01"), Use(), TODAY) > importance(
        plain, Use(), TODAY
    )
