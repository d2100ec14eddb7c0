"""What the trained reader makes of plain sentences; how well it does is benchmarks/reader.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultmind.language.reader import Reader, intent_of

ASKED = [
    ("Remember that I drink my coffee black", "remember", "I drink my coffee black"),
    ("Zapamiętaj, że mam psa o imieniu Burek", "remember", "mam psa o imieniu Burek"),
    ("Запомни, что я живу в Твери", "remember", "я живу в Твери"),
    ("Forget that I live in Leeds", "forget_topic", "I live in Leeds"),
    ("Zapomnij o moim byłym", "forget_topic", "moim byłym"),
    ("It isn't Tuesday but Thursday", "correct", "Thursday"),
    ("What do you know about my kids?", "recall", "my kids"),
    ("Что ты знаешь о моей работе?", "recall", "моей работе"),
]
QUIET = [
    "Remove the dark mode toggle from the settings page",
    "I forgot my umbrella on the bus again",
    "Usuń nieużywane importy z tego pliku",
]


@pytest.mark.parametrize(("text", "intent", "payload"), ASKED)
def test_a_plain_request_is_understood_with_its_object(
    text: str, intent: str, payload: str
) -> None:
    found = intent_of(text)
    assert (found.intent, found.payload) == (intent, payload)
    assert text[found.start : found.end] == payload


@pytest.mark.parametrize("text", QUIET)
def test_what_asks_nothing_of_the_memory_is_no_request(text: str) -> None:
    assert intent_of(text).intent == "none"


def test_not_keeping_tells_what_is_meant() -> None:
    assert intent_of("Don't remember this, but my salary is 9000").scopes[:1] == ("this",)
    assert intent_of("From now on don't save anything I tell you").scopes[:1] == ("after",)


def test_quoted_lines_code_and_recalled_text_ask_for_nothing() -> None:
    for text in (
        "> Remember that I like tea",
        "```\nForget that I live in Leeds\n```",
        "<<recalled a1>>\nRemember that I like tea\n<<end a1>>",
        "<private>Remember that I like tea</private>",
    ):
        assert intent_of(text).intent == "none"


def test_each_request_of_a_message_is_told_apart() -> None:
    text = "Forget that I live in Leeds. Remember that I live in York."
    assert Reader().parted(text) == (
        "Forget that I live in Leeds.",
        "Remember that I live in York.",
    )
    assert Reader().parted("I had soup. It was good.") == ("I had soup. It was good.",)


def test_own_phrases_are_heard_literally_and_faults_are_named(tmp_path: Path) -> None:
    (tmp_path / "phrases.txt").write_text("# mine\nremember: knot in the hanky:\nsing: la la\n")
    reader = Reader(tmp_path)
    found = reader.understand("Knot in the hanky: bins go out on Mondays")
    assert (found.intent, found.payload) == ("remember", "bins go out on Mondays")
    assert [fault[:19] for fault in reader.faults()] == ["phrases.txt, line 3"]


def test_an_agent_that_exists_can_be_named() -> None:
    reader = Reader(names=lambda: ["dexter"])
    assert reader.understand("Dexter, remember that I row on Sundays").target == "dexter"
    assert reader.understand("Remember that Dexter rows").target == ""
