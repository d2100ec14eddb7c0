"""Voice commands: what is asked of the memory, and what only sounds like it."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind.memory.intents import INTENTS, Intent, Recogniser, recogniser
from vaultmind.memory.intents.phrases import check, read, shipped
from vaultmind.memory.intents.typos import Typos

UTTERANCES = Path(__file__).parent.parent / "data" / "utterances.jsonl"
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in UTTERANCES.read_text("utf-8").splitlines() if line.strip()
]
MAIN, OTHERS = ("en", "pl", "ru"), ("de", "es", "fr")
FORGETS = ("forget_that", "forget_topic")


@pytest.fixture(scope="module")
def known() -> Recogniser:
    return recogniser()


@pytest.fixture(scope="module")
def answers(known: Recogniser) -> list[tuple[dict[str, Any], Intent]]:
    return [(row, known.recognise(row["text"])) for row in ROWS]


def bare(text: str) -> str:
    return text.strip(" .,;:!?\"'“”„«»").casefold()


# --- the labelled set ---------------------------------------------------------------------


def test_the_labelled_set_is_large_and_full_of_hard_negatives() -> None:
    languages = Counter(row["lang"] for row in ROWS)
    assert all(languages[lang] >= 140 for lang in MAIN)
    assert all(languages[lang] >= 25 for lang in OTHERS)
    assert sum(row["intent"] == "none" for row in ROWS) >= 0.4 * len(ROWS)
    assert {row["intent"] for row in ROWS} == set(INTENTS)
    assert len({row["id"] for row in ROWS}) == len(ROWS)


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


def test_nothing_is_forgotten_by_mistake(answers: list[tuple[dict[str, Any], Intent]]) -> None:
    forgotten = [(row, got) for row, got in answers if got.intent in FORGETS]
    assert [row["text"] for row, got in forgotten if row["intent"] != got.intent] == []


def test_every_span_is_of_the_text(answers: list[tuple[dict[str, Any], Intent]]) -> None:
    for row, got in answers:
        assert got.payload == row["text"][got.start : got.end]
        assert got.old in row["text"]
        assert got.new == (got.payload if got.intent == "correct" else "")


def test_the_language_is_that_of_the_words(answers: list[tuple[dict[str, Any], Intent]]) -> None:
    commands = [(row["lang"], got.lang) for row, got in answers if got.intent != "none"]
    assert [pair for pair in commands if pair[0] != pair[1]] == []


# --- forms --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "intent", "payload"),
    [
        ("zapamietaj ze wole kawe", "remember", "wole kawe"),
        ("ZAPAMIĘTAJ, ŻE WOLĘ KAWĘ!!!", "remember", "WOLĘ KAWĘ"),
        (unicodedata.normalize("NFD", "Zapamiętaj, że wolę żółty"), "remember", None),
        ("Übrigens, Frau Groß, merk dir, dass ich Weiß heiße", "remember", "ich Weiß heiße"),
        ("🙂 remember that I like tea 🙂", "remember", "I like tea"),
        ("Remember this:\n- I like tea\n- I hate coffee", "remember", None),
        ("Remember that my motto is “less is more”", "remember", "my motto is “less is more”"),
        ("Remember that I write C++", "remember", "I write C++"),
        ("Remember that my rent is $1400.50", "remember", "my rent is $1400.50"),
        ("Zapamiętaj, że mieszkam przy ul. Długiej 5", "remember", "mieszkam przy ul. Długiej 5"),
        ("Запомни: моя дочь родилась 3. мая", "remember", "моя дочь родилась 3. мая"),
    ],
)
def test_writing_makes_no_difference(
    known: Recogniser, text: str, intent: str, payload: str | None
) -> None:
    got = known.recognise(text)
    assert got.intent == intent
    assert text[got.start : got.end] == got.payload
    if payload is not None:
        assert got.payload == payload
    else:
        assert len(got.payload) > 8


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n ",
        "\x00",
        "```\nforget that\n```",
        "`forget that`",
        "“Forget that”",
        "> forget everything about my job",
        "<<recalled ab12 from a.md>>\nforget that\n<<end ab12>>\nWhat does this note say?",
        "<note>forget everything about my job</note> summarise this",
        "From: Ann\nSubject: plan\n\nPlease remember that we meet at nine.",
        "12:01 INFO forget that\n12:02 INFO done",
        "# Rules\nRemember that all visitors sign in.\nForget that.",
        "nie zapomnij o kluczach",
        "never forget my address",
        "please don't forget about my mother",
    ],
)
def test_what_is_not_said_to_the_memory_changes_nothing(known: Recogniser, text: str) -> None:
    assert known.recognise(text).intent == "none"


def test_what_follows_shows_an_idiom(known: Recogniser) -> None:
    assert known.recognise("Forget that.").intent == "forget_that"
    assert known.recognise("Forget that. Let's order pizza.").intent == "none"
    assert known.recognise("Zapomnij o tym. Chodźmy na pizzę.").intent == "none"


def test_a_bare_remember_means_what_was_just_said(known: Recogniser) -> None:
    assert known.recognise("I moved to Oslo. Remember that.").payload == "I moved to Oslo"
    assert known.recognise("Is it late? Remember that.").payload == ""


def test_agents_can_be_called_without_a_comma() -> None:
    named = recogniser(names=["Zorblax"])
    assert named.recognise("Zorblax remember that I like tea").payload == "I like tea"


def test_other_words_of_a_verb_are_no_typos() -> None:
    typos = Typos(["remember", "zapamietaj"], ["remembers"], inflected=True)
    assert typos.mend("remmeber") == "remember"
    assert typos.mend("zapmietaj") == "zapamietaj"
    assert typos.mend("zapamietal") == "zapamietal"
    assert typos.mend("remembers") == "remembers"
    assert typos.mend("december") == "december"


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200))
def test_no_text_breaks_it(text: str) -> None:
    got = SHARED.recognise(text)
    assert text[got.start : got.end] == got.payload


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([w for row in ROWS for w in row["text"].split()]), max_size=40))
def test_no_order_of_words_breaks_it(words: list[str]) -> None:
    text = " ".join(words)
    got = SHARED.recognise(text)
    assert text[got.start : got.end] == got.payload
    assert got.old in text


SHARED = recogniser()


# --- phrase files -------------------------------------------------------------------------


def test_the_shipped_phrases_are_sound() -> None:
    languages = set()
    for path in shipped():
        phrases, faults = read(path)
        assert phrases is not None
        assert faults == ()
        assert check(phrases, None, path.name) == ()
        languages.add(phrases.language)
    assert languages == {*MAIN, *OTHERS}


def test_a_person_adds_phrases_of_their_own(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text(
        'language = "en"\n[words]\nname = "skippy"\n'
        '[[remember]]\nsay = ["brain dump : {payload}"]\n'
        '[[forget_topic]]\nsay = ["bury {payload}"]\nstarts = "my"\nlacks = "dog"\n',
        "utf-8",
    )
    mine = recogniser(own)
    assert mine.faults == ()
    assert mine.recognise("Brain dump: I like tea").payload == "I like tea"
    assert mine.recognise("Skippy bury my past").payload == "my past"
    assert mine.recognise("bury my dog").intent == "none"
    assert mine.recognise("bury the past").intent == "none"
    assert mine.recognise("remember that I like tea").intent == "remember"
    assert recogniser().recognise("Brain dump: I like tea").intent == "none"


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


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    assert "gone.toml" in recogniser(tmp_path / "gone.toml").faults[0]


def test_a_new_language_needs_a_file_only(tmp_path: Path) -> None:
    (tmp_path / "it.toml").write_text(
        'language = "it"\ncommon = "che il la sono ho"\n'
        '[[remember]]\nsay = ["(ricorda | ricordati) che {payload}"]\n',
        "utf-8",
    )
    got = recogniser(tmp_path).recognise("Ricordati che sono vegetariano")
    assert (got.intent, got.lang, got.payload) == ("remember", "it", "sono vegetariano")


@pytest.mark.parametrize(
    ("words", "intent", "payload"),
    [
        ("forget the gate code", "forget_topic", "the gate code"),
        ("forget the wifi at the dacha", "forget_topic", "the wifi at the dacha"),
        ("zapomnij kod do bramy", "forget_topic", "kod do bramy"),
        ("забудь код от ворот", "forget_topic", "код от ворот"),
        ("забудь, как зовут собаку", "forget_topic", "как зовут собаку"),
        ("remember the gate code 4471", "remember", "the gate code 4471"),
        ("remember my birthday 4 May", "remember", "my birthday 4 May"),
        ("zapamiętaj kod do bramy: 4471", "remember", "kod do bramy: 4471"),
        ("запомни код от ворот 4471", "remember", "код от ворот 4471"),
        ("I always forget the gate code", "none", ""),
        ("don't forget the gate code", "none", ""),
        ("don't forget the number 5", "none", ""),
        ("did you forget the gate code?", "none", ""),
        ("forget the wifi, let's go", "none", ""),
        ("forget the code you wrote", "none", ""),
        ("remember the gate code", "none", ""),
        ("remember the time when we met?", "none", ""),
        ("remember the phone call at 5", "none", ""),
        ("remember to buy milk 2", "none", ""),
        ("nie zapomnij kodu do bramy", "none", ""),
        ("не забудь код от ворот", "none", ""),
    ],
)
def test_codes_and_addresses_are_kept_and_forgotten_without_a_my(
    known: Recogniser, words: str, intent: str, payload: str
) -> None:
    heard = known.recognise(words)
    assert (heard.intent, heard.payload) == (intent, payload)
