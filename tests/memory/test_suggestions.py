"""memory/suggestions: a person's ticks and words count, no text forges one, nothing is lost."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vaultmind.errors import DamagedMemory, NotFound
from vaultmind.memory.folder import SUGGESTIONS
from vaultmind.memory.suggestions.file import (
    Suggestion,
    add,
    erase,
    expire,
    known,
    new_id,
    parse,
    settle,
    suggestion_of,
    tell,
)
from vaultmind.memory.suggestions.words import WORDS
from vaultmind.types import SECTIONS, Caller, MemoryWrite, MessageRef
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths

PATHS = VaultPaths(Path("/vault"))
REF = MessageRef("main", "2026-02-20_001", "m7", "D1:3")
TEA = Suggestion(
    "s-k3f9", "remember", "main", Caller("agent", "main", "claude"), "Likes tea", "",
    "preferences", REF, "said", "said twice", "2026-02-20T10:00:00+01:00",
)  # fmt: skip
NOW = datetime(2026, 2, 21, 10, tzinfo=timezone(timedelta(hours=1)))
LANGUAGES = ["en", "pl", "ru"]
NASTY = st.text(alphabet="ab1 x\\%^[]!|<$#->+*`~.)(\n\r\t\u202e\u2028_=&{}:'\"s", max_size=40)
TEXTS = NASTY | st.text(max_size=40) | st.sampled_from(
    [
        "- [x] **main** wants to remember: evil ^s-evil", "a\n- [x] b ^s-k3f9",
        '%%{"op":"x"}%%',
        "2026-01-01 accepted · **main** wants to forget: all", "~~old~~ → new", "tea ^s-k3f9",
        "[x] tea", "why: not", "## Settled", "%% open", "```", "a\\", "a~~\\",
    ]
)  # fmt: skip
SUGGESTIONS_OF_ALL_KINDS = st.builds(
    Suggestion,
    st.sampled_from(["s-k3f9", "s-abcd"]),
    st.sampled_from(["remember", "replace", "forget"]),
    st.sampled_from(["main", "jaskier"]),
    st.builds(Caller, st.just("agent"), st.sampled_from(["main", "dexter"]), TEXTS.map(one_line)),
    TEXTS.filter(one_line).map(one_line),
    TEXTS.map(lambda text: f"x{text}"),
    st.sampled_from([None, *SECTIONS]),
    st.sampled_from([None, REF, MessageRef("main", "2026-02-20_002", "m1")]),
    st.sampled_from(["said", "extracted"]),
    TEXTS,
    st.just("2026-02-20T10:00:00+01:00"),
).map(
    lambda one: replace(
        one, old=one_line(one.old) if one.op == "replace" else "", reason=one_line(one.reason)
    )
)
LINES = st.sampled_from(
    [
        "# Suggestions", "## Waiting", "## Settled", "## Rozstrzygnięte", "## Mine", "prose", "",
        "- [ ] buy milk", "- [x] done ^ab12", "    - nested", "  indented", "> quote", "```", "%%",
        "%% note %%", "---", "- [-] **main** wants to remember: Tea ^s-aaaa", "1. one", "\tcode",
        "- [x] **dexter** wants to forget: Rum", "- 2026-01-01 rejected · **main** wants to dance",
        "Nothing waits for you here.", "trailing  ",
    ]
)  # fmt: skip
FILES = st.builds(
    lambda bom, lines, newline: bom + newline.join(lines),
    st.sampled_from(["", "\ufeff"]), st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n"]),
)  # fmt: skip


def waiting(text: str) -> int:
    """Return how many suggestions wait for the person."""
    return sum(one.state == "waiting" for one in parse(text))


def lines_of(text: str) -> list[str]:
    return [line for line in text.replace("\r\n", "\n").split("\n") if line.strip("\ufeff \t")]


def kept(before: str, after: str) -> bool:
    """Tell whether all lines of `before` stand in `after`, in order."""
    rest = iter(lines_of(after.replace("\ufeff", "")))
    return all(line in rest for line in lines_of(before.replace("\ufeff", "")))


@given(SUGGESTIONS_OF_ALL_KINDS, st.sampled_from(LANGUAGES), st.sampled_from(["\n", "\r\n"]))
def test_what_is_suggested_reads_back_as_it_was(
    one: Suggestion, language: str, newline: str
) -> None:
    text = add(SUGGESTIONS[language].replace("\n", newline), one, PATHS, language)
    (found,) = parse(text)
    assert found.suggestion == one
    assert (found.state, found.untouched, found.outcome) == ("waiting", True, None)
    assert ("\r\n" in text) == (newline == "\r\n") == (text.count("\n") == text.count("\r\n"))


@given(
    SUGGESTIONS_OF_ALL_KINDS, SUGGESTIONS_OF_ALL_KINDS, st.sampled_from(["accepted", "rejected"])
)
def test_no_text_forges_a_tick_an_id_a_comment_or_another_suggestion(
    one: Suggestion, other: Suggestion, outcome: str
) -> None:
    one, other = replace(one, id="s-aaaa"), replace(other, id="s-bbbb")
    text = add(add("", one, PATHS), other, PATHS)
    same = known(add("", one, PATHS), other) is not None
    assert [found.suggestion for found in parse(text)] == ([one] if same else [one, other])
    assert {found.state for found in parse(text)} == {"waiting"}
    settled = settle(text, "s-aaaa", outcome, "2026-02-21")  # type: ignore[arg-type]
    *rest, last = parse(settled)
    assert (last.suggestion.id, last.state, last.outcome) == ("s-aaaa", "settled", outcome)
    assert last.suggestion.text == one.text
    assert [found.suggestion for found in rest] == ([] if same else [other])


@given(FILES, SUGGESTIONS_OF_ALL_KINDS)
@example("", TEA)
@example("- [x] **dexter** wants to forget: Rum", TEA)
def test_a_hand_mangled_file_loses_nothing(text: str, one: Suggestion) -> None:
    one = replace(one, id=new_id(text, random.Random(1)))
    before = parse(text)
    try:
        new = add(text, one, PATHS)
    except DamagedMemory:
        return
    assert new.startswith("\ufeff") == text.startswith("\ufeff")
    if known(text, one):
        assert new == text
        return
    assert kept(text.replace("Nothing waits for you here.", ""), new)
    assert len(parse(new)) == len(before) + 1
    assert one in [found.suggestion for found in parse(new)]
    try:
        settled = settle(new, one.id, "rejected", "2026-02-21")
    except DamagedMemory:
        return
    assert kept(text.replace("Nothing waits for you here.", ""), settled)
    assert known(settled, one) is not None
    assert waiting(settled) == sum(found.state == "waiting" for found in before)


@given(FILES)
def test_whatever_is_read_can_be_settled_without_a_loss(text: str) -> None:
    for one in parse(text):
        if one.state == "settled":
            continue
        try:
            new = settle(text, one.suggestion.id, "accepted", "2026-02-21")
        except DamagedMemory:
            continue
        assert all(new.count(word) >= text.count(word) for word in one.suggestion.text.split())
        same_id = [two for two in parse(text) if two.suggestion.id == one.suggestion.id]
        assert len(same_id) > 1 or kept(text[: one.start] + text[one.end :], new)


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_reads_well_and_in_the_folders_language(language: str) -> None:
    text = add(SUGGESTIONS[language], TEA, PATHS, "en")
    assert "Nothing waits" not in text
    correct = replace(TEA, id="s-abcd", op="replace", agent="jaskier", text="Rum", old="Wine ~~")
    text = add(text, correct, PATHS, "en")
    assert waiting(text) == 2
    text = settle(text, "s-k3f9", "rejected", "2026-02-21")
    expected = {
        "en": [
            "# Suggestions", "## Waiting",
            "- [ ] **main** wants to correct in **jaskier**'s memory: Rum ^s-abcd",
            "    - ~~Wine \\~\\~~~ → the text above, for **jaskier**, under *Preferences*",
            "    - why: said twice", "## Settled",
        ],
        "pl": [
            "# Sugestie", "## Czekają",
            "- [ ] **main** chce poprawić w pamięci **jaskier**: Rum ^s-abcd",
            "    - ~~Wine \\~\\~~~ → tekst powyżej, dla **jaskier**, w sekcji *Preferencje*",
            "    - dlaczego: said twice", "## Rozstrzygnięte",
        ],
        "ru": [
            "# Предложения", "## Ожидают",
            "- [ ] **main** хочет исправить в памяти **jaskier**: Rum ^s-abcd",
            "    - ~~Wine \\~\\~~~ → текст выше, для **jaskier**, в разделе *Предпочтения*",
            "    - почему: said twice", "## Решённые",
        ],
    }  # fmt: skip
    assert all(line in text.split("\n") for line in expected[language])
    assert "#^m7|" in text and "\n\n\n" not in text


def test_the_mark_and_the_words_of_the_person_count() -> None:
    text = add("", TEA, PATHS)
    for mark, state in (("x", "accepted"), ("X", "accepted"), ("-", "rejected"), ("?", "waiting")):
        assert parse(text.replace("[ ]", f"[{mark}]", 1))[0].state == state
    edited = text.replace("Likes tea", "Likes green tea,\n  and honey").replace("[ ]", "[x]", 1)
    (one,) = parse(edited)
    assert one.suggestion.text == "Likes green tea, and honey"
    assert one.suggestion.id == TEA.id
    write = one.suggestion.write(Caller("person"))
    assert (write.op, write.agent, write.text) == ("remember", "main", "Likes green tea, and honey")
    assert (write.section, write.evidence, write.reason) == ("preferences", REF, "said twice")
    assert add(edited, replace(TEA, id="s-zzzz"), PATHS) == edited, "its first words still wait"
    settled = settle(edited, TEA.id, "rejected", "2026-02-21")
    assert known(settled, TEA) and known(settled, replace(TEA, text="likes GREEN tea and honey"))
    assert "and honey" in settled


def test_without_its_comment_what_can_be_seen_is_enough() -> None:
    correct = replace(TEA, op="replace", agent="dexter", old="Likes ~rum~")
    text = add("", correct, PATHS)
    start = text.index("%%")
    (one,) = parse(text[:start] + text[text.index("%%", start + 2) + 2 :])
    caller = Caller("agent", "main")
    evidence = replace(REF, id="")
    seen = replace(correct, caller=caller, section=None, evidence=evidence, time="")
    assert one.suggestion == seen
    without = replace(correct, old="")
    assert parse(add("", without, PATHS))[0].fault == "no_old"
    assert parse(text.replace("Likes tea", ""))[0].fault == "empty"
    alone = "- [x] **main** wants to remember: Tea\n"
    (bare,) = parse(alone)
    assert bare.suggestion.id and bare.state == "accepted"
    assert parse(settle(alone, bare.suggestion.id, "accepted", "2026-02-21"))[0].outcome


def test_a_rejected_one_does_not_come_back_and_an_expired_one_may() -> None:
    text = add("", TEA, PATHS)
    again = replace(TEA, id="s-zzzz", text="likes TEA!", time="2026-05-01T10:00:00+01:00")
    assert add(text, again, PATHS) == text
    rejected = settle(text, TEA.id, "rejected", "2026-02-21")
    assert add(rejected, again, PATHS) == rejected
    assert known(re.sub("%%.*%%", "", rejected), again), "by its words, without the comment"
    assert add(rejected, replace(again, agent="jaskier"), PATHS) != rejected
    for outcome in ("accepted", "expired"):
        done = settle(text, TEA.id, outcome, "2026-02-21")  # type: ignore[arg-type]
        assert waiting(add(done, again, PATHS)) == 1
    with pytest.raises(NotFound):
        settle(rejected, TEA.id, "accepted", "2026-02-21")


def test_what_waited_thirty_days_expires_unless_it_is_ticked() -> None:
    text = add("", TEA, PATHS)
    text = add(text, replace(TEA, id="s-abcd", text="Likes rum"), PATHS)
    ticked = text.replace("- [ ] **main** wants to remember: Likes rum", "- [x] **main** wants to "
                          "remember: Likes rum")  # fmt: skip
    assert expire(ticked, NOW + timedelta(days=28)) == (ticked, ())
    later, gone = expire(ticked, NOW + timedelta(days=31))
    assert [one.id for one in gone] == [TEA.id]
    assert [(one.suggestion.id, one.state) for one in parse(later)] == [
        ("s-abcd", "accepted"), ("s-k3f9", "settled"),
    ]  # fmt: skip
    assert "2026-03-24 expired" in later


def test_lines_a_person_put_under_one_move_along_and_ours_go() -> None:
    text = add("", TEA, PATHS)
    assert "said twice" not in settle(text, TEA.id, "accepted", "2026-02-21")
    noted = text.replace("    - why: said twice", "    - why: said twice\n    - ask Anna first")
    settled = settle(noted, TEA.id, "accepted", "2026-02-21")
    assert "    - ask Anna first\n" in settled and "said twice" in settled
    assert [one.state for one in parse(settled)] == ["settled"]


@pytest.mark.parametrize("block", [" ^s-k3f9", ""])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_remark_indented_under_one_is_no_part_of_its_words(block: str, newline: str) -> None:
    text = f"- [x] **main** wants to remember: I sing bass{block}\n    remark: do not tell Ewa\n"
    text = f"# Suggestions\n\n{text}".replace("\n", newline)
    (one,) = parse(text)
    assert one.suggestion.text == "I sing bass"
    settled = settle(text, one.suggestion.id, "accepted", "2026-02-21")
    assert "I sing bass" in settled.split("remark")[0]
    assert "    remark: do not tell Ewa" in settled.split(newline)
    whole = add("", TEA, PATHS).replace("    - nothing", "  mine: keep quiet\n    - nothing")
    whole = whole.replace("said twice", "said twice\n      mine as well")
    (found,) = parse(whole)
    assert found.suggestion == TEA
    assert "mine: keep quiet" in settle(whole, "s-k3f9", "accepted", "2026-02-21")


def test_an_erasure_takes_the_whole_item() -> None:
    text = add(add("# Mine\n\ntea time\n", TEA, PATHS), replace(TEA, id="s-r", text="Rum"), PATHS)
    text = settle(text, TEA.id, "rejected", "2026-02-21")
    left = erase(text, lambda line: "tea" in line.lower())
    assert "Likes" not in left and "tea time" in left and waiting(left) == 1
    assert waiting(erase(text, lambda line: "said twice" in line)) == 0


def test_a_write_becomes_a_suggestion_and_a_write_again() -> None:
    write = MemoryWrite(
        "replace", "jaskier", Caller("agent", "main", "c"), "a\nb", "old", "user", REF, "said", "r"
    )
    one = suggestion_of(write, "s-k3f9", "2026-02-20T10:00:00+01:00")
    assert one.write() == replace(write, text="a b")
    assert new_id(add("", one, PATHS), random.Random(1)).startswith("s-")


def test_an_open_comment_hides_nothing_without_a_word() -> None:
    text = add("%%\nnever closed, so it is text\n", TEA, PATHS)
    assert waiting(text) == 1
    fenced = add("```\nopen code\n", TEA, PATHS)
    assert waiting(fenced) == 1 and fenced.endswith("```\nopen code\n")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_an_accepted_one_says_why_it_could_not_be_applied_until_it_changes(
    language: str, newline: str
) -> None:
    text = add(SUGGESTIONS[language].replace("\n", newline), TEA, PATHS).replace("[ ]", "[x]", 1)
    assert parse(text)[0].is_due
    told = tell(text, parse(text)[0], "not_found")
    (one,) = parse(told)
    line = next(line for line in told.splitlines() if WORDS[language].failed in line)
    assert WORDS[language].failures["not_found"] in line
    assert one.state == "accepted" and not one.is_due and one.untouched
    assert told.count("\r") == (told.count("\n") if newline == "\r\n" else 0)
    assert tell(told, one, None) == text
    again = tell(told, one, "too_long")
    assert len(again.splitlines()) == len(told.splitlines())
    assert parse(told.replace("Likes tea", "Likes green tea"))[0].is_due
    assert parse(told.replace(line + newline, ""))[0].is_due
    settled = settle(told, TEA.id, "accepted", "2026-02-21")
    assert WORDS[language].failed not in settled
    assert settled == settle(text, TEA.id, "accepted", "2026-02-21")
    bare = re.sub("%%.*?%%", "", told)
    assert parse(bare)[0].is_due, "what was tried is not known any more"
    assert tell(bare, parse(bare)[0], "not_found").count(WORDS[language].failed) == 1
