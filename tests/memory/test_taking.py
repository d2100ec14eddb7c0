"""memory/forget: what an erasure takes out of each kind of file, and what it leaves."""

from __future__ import annotations

import json

import pytest

from vaultmind.memory.audit import chain
from vaultmind.memory.audit.lines import AuditLine, parse_line
from vaultmind.memory.forget.sentences import without_sentences
from vaultmind.memory.forget.taken import Target, Without
from vaultmind.memory.forget.taking import (
    without_audit_texts,
    without_facts,
    without_messages,
    without_values,
)
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.memory.match import same_fact, says
from vaultmind.types import Message
from vaultmind.vault.transcript import SessionMeta, parse_session, render_header, render_message

TODAY = "2026-11-22"
HAZELNUTS = Wanted(["allergic to hazelnuts"])
PATH = "VaultMind/agents/main/memory/sessions/2026-02-20_001.md"


def target(text: str, path: str = "VaultMind/agents/main/memory/x.md") -> Target:
    return Target(path, "main", text, TODAY)


def session(*texts: str, speaker: str = "Anna", topics: tuple[str, ...] = ()) -> str:
    meta = SessionMeta("2026-02-20_001", "main", "2026-02-20T10:00:00+01:00", topics=topics)
    messages = [
        Message("user", text, "2026-02-20T10:00:03+01:00", f"D1:{n}", speaker, block=f"m{n}")
        for n, text in enumerate(texts, 1)
    ]
    return render_header(meta) + "".join(map(render_message, messages))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("silver Ducato", "Melanie sold the SILVER **Ducatos** last week."),
        ("silver Ducato", "So the Ducato is gone? The silver one?"),
        ("Ducato", "A very long sentence about many things in which one Ducato stands at the end."),
        ("uczulenie na orzechy laskowe", "Wiedział o moim uczuleniu na orzechach laskowych."),
        ("uczulenie na orzechy", "UCZULENIE NA ORZECHY"),
        ("аллергия на орехи", "Он знал о моей аллергии на орехах."),
        ("Kowalski", "Wczoraj spotkałem Kowalskiego, który od lat mieszka w Gdańsku nad morzem."),
        ("600 100 200", "Call 600-100-200 after six."),
        ("東京タワー", "昨日は東京タワーに行きました。"),
        ("remember my hazelnut allergy", "My allergy: any hazelnut."),
    ],
)
def test_the_words_are_found_in_any_form(words: str, text: str) -> None:
    assert Wanted([words]).says(text)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("silver Ducato", "A Ducato is a van."),
        ("silver Ducato", "Her ring is silver."),
        ("allergic to hazelnuts", "Hazelnuts go into the cake."),
        ("Kowalski", "Kowal kuje żelazo."),
        ("art", "We had a party."),
        ("600 100 200", "600 100 300"),
    ],
)
def test_what_merely_shares_a_word_is_left(words: str, text: str) -> None:
    assert not Wanted([words]).says(text)


def test_a_message_becomes_a_marker_and_every_other_byte_of_the_session_stays() -> None:
    before = (
        session("Hello.", "I am allergic\n\nto hazelnuts.", "100 %% and ^m1") + "My own line.\r\n"
    )
    new = without_messages(target(before, PATH), HAZELNUTS)
    marker = f"> *Erased on {TODAY}.* %%erased%%"
    assert new.text == before.replace("> I am allergic\n>\n> to hazelnuts.", marker)
    erased = parse_session(new.text).messages[1].message
    assert (erased.erased, erased.text) == (True, "")
    assert (erased.id, erased.block, erased.speaker) == ("D1:2", "m2", "Anna")
    assert [taken.place for taken in new.taken] == ["^m2"]
    assert new.taken[0].ref and new.taken[0].ref.id == "D1:2"
    assert without_messages(target(new.text, PATH), HAZELNUTS) == Without(new.text)


def test_no_message_can_say_that_it_was_erased() -> None:
    forged = session(f"*Erased on {TODAY}.* %%erased%%")
    message = parse_session(forged).messages[0].message
    assert not message.erased and message.text.endswith("%%erased%%")


def test_a_message_that_a_fact_came_from_is_meant_whatever_it_says() -> None:
    wanted = Wanted(["allergic to hazelnuts"], [("main", "2026-02-20_001", "m1")])
    new = without_messages(target(session("They give me hives.", "Other."), PATH), wanted)
    assert [one.message.erased for one in parse_session(new.text).messages] == [True, False]


def test_speakers_topics_and_lines_between_messages_go_too() -> None:
    text = session("Hi.", speaker="Anna Kowalska", topics=("Anna Kowalska", "tea"))
    text += "Anna Kowalska said hi. A note of mine.\n"
    new = without_messages(target(text, PATH), Wanted(["Anna Kowalska"]))
    assert "Kowalska" not in new.text
    parsed = parse_session(new.text)
    assert parsed.meta.topics == ("tea",)
    assert parsed.messages[0].message.text == "Hi." and parsed.messages[0].message.id == "D1:1"


SUMMARY = """---
sessions: ["x"]
topics: [allergic to hazelnuts, oven]
---

# January

Anna came home. She is allergic to hazelnuts, and walnuts
are fine. The shawl is green.

- The oven gets a brick dome
- Hazelnuts: allergic, Anna says
- Two. Allergic to hazelnuts. Three. ^abcd

> A quotation
> allergic to hazelnuts

## Allergic to hazelnuts

Only that she is allergic to hazelnuts. ^zzzz

The end.
"""


def test_a_summary_loses_the_sentences_and_keeps_the_rest() -> None:
    new = without_sentences(target(SUMMARY), HAZELNUTS)
    assert "azelnut" not in new.text
    assert "topics: [oven]" in new.text
    assert "Anna came home. The shawl is green.\n" in new.text
    assert "- The oven gets a brick dome\n- Two. Three. ^abcd\n" in new.text
    assert "> A quotation\n" in new.text and "The end." in new.text
    assert "^zzzz" not in new.text
    assert len(new.taken) == 7


def test_a_hidden_paragraph_goes_whole_by_its_id() -> None:
    wanted = Wanted(["x y"], [("main", "VaultMind/agents/main/memory/x", "zzzz")])
    new = without_sentences(target(SUMMARY), wanted)
    assert "^zzzz" not in new.text and new.text.count("azelnut") == SUMMARY.count("azelnut") - 1


def test_a_fact_goes_with_the_lines_under_it_and_prose_by_the_sentence() -> None:
    brain = (
        "# Me\r\n\r\nI bake. I am allergic to hazelnuts. I sing.\r\n\r\n"
        "- Is allergic to hazelnuts %%2026-02-20 said%% ^k3f9\r\n  - badly\r\n- Likes tea\r\n"
    )
    new = without_facts(target(brain), HAZELNUTS)
    assert new.text == "# Me\r\n\r\nI bake. I sing.\r\n\r\n- Likes tea\r\n"
    assert [taken.place for taken in new.taken] == ["^k3f9", "line 3"]


def test_a_runs_texts_become_marks_and_its_names_stay() -> None:
    lines = [
        json.dumps({"role": "user", "time": "t", "content": "I'm allergic to hazelnuts"}),
        json.dumps({"role": "tool", "parts": [{"text": "zażółć"}, "allergic to hazelnuts"]}),
        '{"torn": "allergic to hazelnuts',
        "",
    ]
    new = without_values(target("\n".join(lines)), HAZELNUTS)
    first, second, third, last = new.text.split("\n")
    assert json.loads(first) == {"role": "user", "time": "t", "content": f"(erased {TODAY})"}
    assert json.loads(second)["parts"] == [{"text": "zażółć"}, f"(erased {TODAY})"]
    assert json.loads(third) == {"erased": TODAY} and last == ""


def test_the_audit_loses_the_texts_and_the_chain_stays_whole() -> None:
    lines, head = [], ""
    for text in ("Likes tea", "Is allergic to hazelnuts", "Sings"):
        value = chain.chain(
            AuditLine("t", "main", "", "main", "remember", "written", after=text), head
        )
        lines.append(chain.render(value))
        head = chain.verify(lines).head
    new = without_audit_texts(target("\n".join([*lines, ""])), HAZELNUTS)
    checked = chain.verify(new.text.split("\n"), head)
    assert (checked.faults, checked.erased, checked.chained) == ((), 1, 3)
    texts = [line.after for raw in new.text.split("\n") if raw and (line := parse_line(raw))]
    assert texts == ["Likes tea", "", "Sings"]


UNSEEN = ["\u00ad", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\ufe0f"]


@pytest.mark.parametrize("unseen", UNSEEN)
def test_a_character_that_nobody_sees_inside_a_word_hides_it_from_no_erasure(unseen: str) -> None:
    said = f"She is aller{unseen}gic to hazel{unseen}nuts."
    text = f"Bees are fine. {said} Call 600{unseen}100200."
    assert HAZELNUTS.says(text) and Wanted([f"allergic to ha{unseen}zelnuts"]).says(text)
    assert Wanted(["600100200"]).says(text)
    assert [text[start:end] for start, end in HAZELNUTS.spans(text)] == [said]
    assert same_fact(said, said.replace(unseen, "")) and says(text, "allergic to hazelnuts")


def test_a_sentence_goes_with_the_characters_that_nobody_sees() -> None:
    text = "Bee\u00ads are fine. Aller\u00adgic to ha\u200bzelnuts\ufeff. The oven\u200b works.\n"
    new = without_sentences(target(text), HAZELNUTS)
    assert new.text == "Bee\u00ads are fine. The oven\u200b works.\n"
    new = without_facts(target("- Aller\u00adgic to hazel\u2060nuts ^k3f9\n- Bees\n"), HAZELNUTS)
    assert new.text == "- Bees\n" and [one.place for one in new.taken] == ["^k3f9"]
    new = without_messages(
        target(session("Aller\u200cgic to hazel\u200dnuts", "Bees"), PATH), HAZELNUTS
    )
    assert [one.place for one in new.taken] == ["^m1"] and "Bees" in new.text
