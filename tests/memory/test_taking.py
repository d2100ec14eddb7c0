"""memory/forget: what an erasure takes out of each kind of file, and what it leaves."""

from __future__ import annotations

from vaultmind.memory.forget.erasing import (
    without_bullets,
    without_messages,
    without_sentences,
)
from vaultmind.memory.match import Wanted
from vaultmind.types import Message
from vaultmind.vault.transcript import SessionMeta, parse_session, render_header, render_message

TODAY = "2026-11-22"
HAZELNUTS = Wanted(["allergic to hazelnuts"], today=TODAY)
PATH = "VaultMind/agents/main/memory/sessions/2026-02-20_001.md"


def session(*texts: str, speaker: str = "Anna", topics: tuple[str, ...] = ()) -> str:
    meta = SessionMeta("2026-02-20_001", "main", "2026-02-20T10:00:00+01:00", topics=topics)
    messages = [
        Message("user", text, "2026-02-20T10:00:03+01:00", f"D1:{n}", speaker, block=f"m{n}")
        for n, text in enumerate(texts, 1)
    ]
    return render_header(meta) + "".join(map(render_message, messages))


def test_speakers_topics_and_lines_between_messages_go_too() -> None:
    text = session("Hi.", speaker="Anna Kowalska", topics=("Anna Kowalska", "tea"))
    text += "Anna Kowalska said hi. A note of mine.\n"
    new = without_messages(text, PATH, Wanted(["Anna Kowalska"]))
    assert "Kowalska" not in new
    parsed = parse_session(new)
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
    new = without_sentences(SUMMARY, PATH, HAZELNUTS)
    assert "azelnut" not in new
    assert "topics: [oven]" in new
    assert "Anna came home. The shawl is green.\n" in new
    assert "- The oven gets a brick dome\n- Two. Three. ^abcd\n" in new
    assert "> A quotation\n" in new and "The end." in new
    assert "^zzzz" not in new


def test_a_sentence_goes_with_the_characters_that_nobody_sees() -> None:
    text = "Bee\u00ads are fine. Aller\u00adgic to ha\u200bzelnuts\ufeff. The oven\u200b works.\n"
    new = without_sentences(text, PATH, HAZELNUTS)
    assert new == "Bee\u00ads are fine. The oven\u200b works.\n"
    fact = "- Aller\u00adgic to hazel\u2060nuts ^k3f9\n  - and badly\n- Bees\n"
    new = without_bullets(fact, PATH, HAZELNUTS)
    assert new == "- Bees\n"
