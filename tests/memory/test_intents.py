"""Voice commands: what is asked of the memory, and what only sounds like it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vaultmind.memory.intents import Intent, Recogniser, recogniser

UTTERANCES = Path(__file__).parent.parent / "data" / "utterances.jsonl"
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in UTTERANCES.read_text("utf-8").splitlines() if line.strip()
]
MAIN, OTHERS = ("en", "pl", "ru"), ("de", "es", "fr")


@pytest.fixture(scope="module")
def known() -> Recogniser:
    return recogniser()


@pytest.fixture(scope="module")
def answers(known: Recogniser) -> list[tuple[dict[str, Any], Intent]]:
    return [(row, known.recognise(row["text"])) for row in ROWS]


def bare(text: str) -> str:
    return text.strip(" .,;:!?\"'“”„«»").casefold()


# --- the labelled set ---------------------------------------------------------------------


@pytest.mark.parametrize("lang", [*MAIN, *OTHERS])
def test_commands_are_found_and_nothing_else_is(
    lang: str, answers: list[tuple[dict[str, Any], Intent]]
) -> None:
    mine = [(row, got) for row, got in answers if row["lang"] == lang]
    found = [(row, got) for row, got in mine if got.intent != "none"]
    right = [(row, got) for row, got in found if row["intent"] == got.intent]
    asked = [row for row, _ in mine if row["intent"] != "none"]
    payloads = [
        (row, got)
        for row, got in right
        if (bare(got.payload), bare(got.old))
        == (bare(row.get("payload", row.get("new", ""))), bare(row.get("old", "")))
    ]
    assert len(right) >= 0.97 * len(found)
    assert len(right) >= 0.92 * len(asked)
    assert len(payloads) >= 0.90 * len(right)


# --- forms --------------------------------------------------------------------------------


def test_what_follows_shows_an_idiom(known: Recogniser) -> None:
    assert known.recognise("Forget that.").intent == "forget_that"
    assert known.recognise("Forget that. Let's order pizza.").intent == "none"
    assert known.recognise("Zapomnij o tym. Chodźmy na pizzę.").intent == "none"


def test_agents_can_be_called_without_a_comma() -> None:
    named = recogniser(names=["Zorblax"])
    assert named.recognise("Zorblax remember that I like tea").payload == "I like tea"


# --- phrase files -------------------------------------------------------------------------


def test_a_bad_entry_is_reported_and_the_rest_works(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(
        'language = "en"\nfoo = 1\n[words]\nloop = "<loop>"\nbad = 3\n'
        '[[remember]]\nsay = ["stash : {payload}", "(broken", "<nowhere> {payload}", "x {what}"]\n'
        '[[remember]]\nsay = "text"\n[[recall]]\nsay = ["a"]\nplace = "moon"\n'
        '[[skip]]\nsay = ["b"]\nsurprise = "c"\n[[correct]]\nsay = ["d"]\nquestion = "who"\n',
        "utf-8",
    )
    (tmp_path / "b.toml").write_text("language = [", "utf-8")
    (tmp_path / "c.toml").write_text('[[remember]]\nsay = ["x {payload}"]\n', "utf-8")
    mine = recogniser(tmp_path)
    assert mine.recognise("Stash: I like tea").payload == "I like tea"
    text = "\n".join(mine.faults)
    for part in ("foo", "<loop>", "words.bad", "(broken", "<nowhere>", "{what}", "'say'", "place"):
        assert part in text
    for part in ("surprise", "question", "b.toml: cannot be read", "c.toml: 'language'"):
        assert part in text


def test_a_new_language_needs_a_file_only(tmp_path: Path) -> None:
    (tmp_path / "it.toml").write_text(
        'language = "it"\ncommon = "che il la sono ho"\n'
        '[[remember]]\nsay = ["(ricorda | ricordati) che {payload}"]\n',
        "utf-8",
    )
    got = recogniser(tmp_path).recognise("Ricordati che sono vegetariano")
    assert (got.intent, got.lang, got.payload) == ("remember", "it", "sono vegetariano")
