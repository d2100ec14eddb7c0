"""What a person says is done once, to the fact they mean, and answered in their language."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from tests.session.samples import EveryMessage, Marked
from vaultmind.language.reader import Intent, Reader
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.forget.hiding import Tombstones
from vaultmind.memory.gate import Gate, GateSettings
from vaultmind.memory.rights import Authority
from vaultmind.session.files import messages_said, read_text, session_ids
from vaultmind.session.log import SessionLog
from vaultmind.session.voice import Heard, Voice, recalled
from vaultmind.types import PERSON, Caller, Hit, MemoryWrite, Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

NOON = datetime(2026, 2, 20, 12, 0, 0, tzinfo=UTC)
MAIN = Caller("agent", "main", "test")


@dataclass
class Desk:
    """A voice with its gate and sessions over a real vault."""

    paths: VaultPaths
    reader: VaultReader

    def __post_init__(self) -> None:
        reader = self.reader
        authority = Authority(reader, self.paths.root.parent / "grants.json")
        kinds = (partial(messages_said, EveryMessage(reader)),)
        settings = GateSettings("test", rng=random.Random(1))

        def clock() -> datetime:
            return NOON

        def shows(path: str, caller: Caller) -> bool:
            return authority.lets_read(caller, self.paths.agent_of(path))

        gate = Gate(self.paths, settings, kinds, Marked(), authority, clock)
        self.sessions = SessionLog(gate, reader, clock, idle_minutes=30)
        folder = self.paths.root / "VaultMind" / "phrases"
        words = Reader(folder, self.paths.agent_names)
        self.voice = Voice(words, self.sessions, shows)

    def say(self, words: str, message_id: str = "", caller: Caller = MAIN) -> Heard:
        return self.voice.hear(caller, "main", words, message_id)

    def capture(self, words: str, message_id: str, role: str = "user") -> None:
        """Log a message as a hook that reads the transcript does."""
        message = Message(role, words, "", id=message_id)  # type: ignore[arg-type]
        self.sessions.log("main", message)

    def facts(self) -> list[str]:
        text = read_text(self.reader, self.paths.brain("main"))[0]
        return [fact.text for fact in parse_brain(text).all()]

    def messages(self) -> list[Message]:
        ids = session_ids(self.paths, "main")
        return [m.message for s in ids for m in self.sessions.read("main", s).messages]

    def hidden(self) -> list[str]:
        tombstones, day = Tombstones(self.paths), "2026-02-20_001"
        return [m.text for m in self.messages() if tombstones.hides("main", day, m.block)]


@pytest.fixture
def desk(paths: VaultPaths, reader: VaultReader) -> Desk:
    identity(paths, 2)
    return Desk(paths, reader)


def identity(paths: VaultPaths, autonomy: int) -> None:
    path = paths.root / paths.identity("main")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nautonomy: {autonomy}\n---\n# main\n", "utf-8")


# --- several requests in one message ------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        ("Remember that I'm 50. What do you know about me?", ["I have a dog", "I'm 50"]),
        ("Forget about my dog, and remember that I have a cat.", ["I have a cat"]),
        (
            "Remember that I'm 42. Also remember that I have two kids.",
            ["I have a dog", "I'm 42", "I have two kids"],
        ),
    ],
)
@pytest.mark.parametrize("how", ["bare", "with an id", "captured"])
def test_each_request_of_a_message_is_done_once_in_turn_and_answered(
    desk: Desk, words: str, facts: list[str], how: str
) -> None:
    desk.say("Remember that I have a dog")
    if how == "captured":
        desk.capture(words, "u9")
    heard = desk.say(words, "" if how == "bare" else "u9")
    assert desk.facts() == facts
    assert "\n" in heard.message or heard.facts
    if how != "bare":
        desk.say(words, "u9")
        assert desk.facts() == facts


def test_forget_everything_deletes_no_fact_that_was_not_just_told(desk: Desk) -> None:
    desk.sessions.ask(MemoryWrite("remember", "main", MAIN, "I have a dog"))
    for words in ("Forget everything", "Wipe your memory", "Zapomnij wszystko", "Wyczyść pamięć"):
        desk.say(words)
    assert desk.facts() == ["I have a dog"]


# --- a message acts once ------------------------------------------------------------------


def test_a_captured_message_that_is_relayed_is_the_evidence_and_acts_once(desk: Desk) -> None:
    desk.capture("Remember that I row on Sundays", "u1")
    assert desk.say("Remember that I row on Sundays", "u1").outcome.outcome == "written"
    assert [message.id for message in desk.messages()] == ["u1"]
    again = desk.say("Remember that I row on Sundays", "u1")
    assert again.outcome.outcome == "unchanged"
    assert "already" in again.message
    assert desk.facts() == ["I row on Sundays"]


# --- that ---------------------------------------------------------------------------------


def test_one_of_a_list_is_forgotten_by_its_place(desk: Desk) -> None:
    for fact in ("I have a dog", "I row on Sundays", "I'm 42"):
        desk.say(f"Remember that {fact}")
    assert desk.say("Delete the first one").intent.intent == "none", "no list was shown"
    assert len(desk.say("What do you know about me?").facts) == 3
    assert desk.say("Forget that").outcome.outcome == "not_found", "that may be any of them"
    assert desk.say("Delete the first line of the file").intent.intent == "none"
    desk.say("What do you know about me?")
    assert desk.say("Delete the fifth one").intent.intent == "none"
    desk.say("What do you know about me?")
    assert desk.say("Usuń pierwszy").outcome.outcome == "written"
    assert desk.facts() == ["I row on Sundays", "I'm 42"]


def test_all_about_somebody_is_forgotten_after_one_yes(desk: Desk) -> None:
    facts = ("Basia mieszka w Berlinie", "Basia ma psa", "Lubię herbatę", "Mieszkam z Basią")
    for fact in facts:
        desk.say(f"Zapamiętaj, że {fact}")
    offered = desk.say("Zapomnij wszystko o Basi")
    assert len(offered.outcome.nearest) == 3 and len(desk.facts()) == 4
    assert desk.say("tak").outcome.outcome == "written"
    assert desk.facts() == ["Lubię herbatę"]
    assert desk.say("tak").intent.intent == "none"
    assert desk.facts() == ["Lubię herbatę"]


def test_dont_keep_that_takes_back_what_was_just_learned(desk: Desk) -> None:
    desk.say("Remember that I row on Sundays")
    desk.say("Remember that I am quitting my job")
    skipped = desk.say("Actually, don't keep that in memory")
    assert skipped.intent.intent == "skip" and skipped.outcome.outcome == "written"
    assert desk.facts() == ["I row on Sundays"]


def test_dont_keep_that_hides_what_was_said_before_and_the_answer(desk: Desk) -> None:
    desk.capture("The weather is fine", "c1")
    desk.capture("I am thinking of leaving my job", "c2")
    desk.capture("You think of leaving your job? Tell me more.", "c3", role="assistant")
    desk.capture("Nie zapisuj tego, proszę", "c4")
    assert desk.say("Nie zapisuj tego, proszę", "c4").outcome.outcome == "written"
    assert [text[:12] for text in desk.hidden()] == ["I am thinkin", "You think of", "Nie zapisuj "]
    assert desk.say("Nie zapisuj tego, proszę", "c4").outcome.outcome == "unchanged"


def test_off_the_record_words_hide_themselves_and_nothing_before(desk: Desk) -> None:
    said = "Off the record: I can't stand my boss"
    desk.capture("I have a new bike", "c1")
    desk.capture(said, "c2")
    desk.say(said, "c2")
    assert desk.hidden() == [""]  # and not written down


# --- correcting ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "said", "after"),
    [
        (["The dentist is on Tuesday at five"], "No, it's Thursday, not Tuesday",
         ["The dentist is on Thursday at five"]),
        (["My sister lives in Bath", "I work in Bath every Monday"],
         "Actually, my sister lives in Leeds, not in Bath",
         ["My sister lives in Leeds", "I work in Bath every Monday"]),
        (["Mój lekarz nazywa się Nowak"], "Nie, nazywa się Sowa, nie Nowak",
         ["Mój lekarz nazywa się Sowa"]),
        (["I have two cats"], "That's wrong, I have three cats", ["I have three cats"]),
        (["The schema registry uses Avro"], "We use Protobuf for the schema registry, not Avro",
         ["We use Protobuf for the schema registry"]),
        (["I have a dog", "The dentist is on Tuesday"], "No, it's Thursday",
         ["The dentist is on Thursday", "I have a dog"]),
        (["The plumber comes on 3 March at 10"], "No, it's 4 March, not 3 March.",
         ["The plumber comes on 4 March (2026-03-04) at 10"]),
        (["The plumber comes on 3 March at 10"], "No, the plumber comes on Friday.",
         ["The plumber comes on Friday at 10"]),
        (["My blood test is on 14 May"], "No, the blood test is on 15 May, not the 14th",
         ["My blood test is on 15 May (2026-05-15)"]),
        (["I'm vegetarian since October"], "No, it was September, not October.",
         ["I'm vegetarian since September (2025-09)"]),
        (["Wywiadówka jest 10 marca o 17"], "Nie, wywiadówka jest 11 marca, nie 10.",
         ["Wywiadówka jest 11 marca (2026-03-11) o 17"]),
    ],
)  # fmt: skip
def test_a_correction_changes_the_words_that_were_wrong(
    desk: Desk, facts: list[str], said: str, after: list[str]
) -> None:
    for fact in facts:
        write = MemoryWrite("remember", "main", MAIN, fact)
        desk.voice.note(MAIN, "remember", desk.sessions.ask(write))
    assert desk.say(said).outcome.outcome == "written"
    assert sorted(desk.facts()) == sorted(after)


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        ("I have 2 dogs", "no, 4 cats, not 2"),
        ("Timur is allergic to hazelnuts; almonds are fine",
         "actually my daughter is allergic to walnuts, not hazelnuts"),
        ("Timur is allergic to hazelnuts", "actually I am allergic to walnuts, not hazelnuts"),
        ("Bulka waży 4 kilo", "nie, mój pies waży 5 kilo, nie 4"),
        ("Тимур пьёт две таблетки", "нет, моя дочь пьёт три таблетки, а не две"),
    ],
)  # fmt: skip
def test_a_correction_that_may_lose_words_or_mean_somebody_else_asks(
    desk: Desk, fact: str, words: str
) -> None:
    desk.sessions.ask(MemoryWrite("remember", "main", MAIN, fact))
    heard = desk.say(words)
    assert desk.facts() == [fact]
    assert heard.outcome.outcome == "not_found"
    assert fact in heard.message


def test_a_correction_of_one_half_keeps_the_other_half_of_a_fact(desk: Desk) -> None:
    desk.say("Remember that my wife is called Ewa and my daughter is called Zosia")
    assert desk.say("No, my wife is called Anna").outcome.outcome == "written"
    assert desk.facts() == ["my wife is called Anna and my daughter is called Zosia"]
    assert desk.say("No, my daughter is called Ola").outcome.outcome == "written"
    assert desk.facts() == ["my wife is called Anna and my daughter is called Ola"]


def test_a_correction_in_words_destroys_no_secret_that_the_person_typed(desk: Desk) -> None:
    typed = "# Main\n\n- Swims on Tuesday, locker password: hunter2x9\n"
    path = typed_brain(desk, typed)
    heard = desk.say("No, it's Thursday, not Tuesday")
    assert heard.outcome.outcome == "not_found"
    assert "never stored. Edit it yourself" in heard.message
    assert desk.paths.brain("main") in heard.message
    assert "hunter2x9" not in str(heard)
    assert path.read_text("utf-8") == typed


def typed_brain(desk: Desk, text: str) -> Path:
    path = desk.paths.root / desk.paths.brain("main")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


SECRETS = "- Wifi password: hunter2x9\n- A cat <private>and\n- owes zebras\n- x</private>\n- Rows"


def test_what_that_may_be_is_told_without_secrets(desk: Desk) -> None:
    typed_brain(desk, SECRETS)
    assert len(desk.say("Show your memory").facts) > 1
    heard = desk.say("Forget that")
    assert heard.outcome.outcome == "not_found"
    assert "Wifi password: ‹password›" in heard.outcome.nearest and "Rows" in heard.message
    assert "hunter2x9" not in str(heard) and "zebra" not in str(heard)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("Forget that Ola likes coffee", "Ola likes coffee"),
        ("Delete the note about our Terraform from your memory", "We use Terraform"),
        ("Zapomnij o mojej alergii", "Mam alergię na orzechy"),
        ("Забудь про Олю", "Оля живёт в Твери"),
        ("Forget about my dog", ""),
        ("Forget that I live in Paris", ""),
        ("Delete the Terraform folder", ""),
        ("I always forget my coffee", ""),
        ("Don't forget that Ola likes coffee", ""),
        ("Forget about coffee for now", ""),
        ("Zapomniałem o alergii", ""),
    ],
)
def test_a_wish_to_forget_takes_the_one_fact_it_means(desk: Desk, words: str, meant: str) -> None:
    facts = ("Ola likes coffee", "I'm left-handed", "We use Terraform", "Mam alergię na orzechy")
    facts += ("Оля живёт в Твери", "My dog Pepper fears fireworks", "My dog Salt is old")
    for fact in facts:
        desk.sessions.ask(MemoryWrite("remember", "main", PERSON, fact))
    desk.say(words, caller=PERSON)
    left = read_text(desk.reader, desk.paths.brain("main"))[0]
    assert {fact for fact in facts if fact not in left} == ({meant} if meant else set())


# --- asked for by name ---------------------------------------------------------------------


def test_a_request_that_comes_to_nothing_leaves_no_words_behind(desk: Desk) -> None:
    writes = (
        ("written", MemoryWrite("remember", "main", MAIN, "Has a cat called Bułka")),
        ("not_found", MemoryWrite("forget", "main", MAIN, "the quarrel with Miriam")),
        ("unchanged", MemoryWrite("remember", "main", MAIN, "has a cat called Bułka")),
        ("not_found", MemoryWrite("replace", "main", MAIN, "Has a dog", old="Has a parrot")),
    )
    for outcome, write in writes:
        assert desk.sessions.ask(write).outcome == outcome
    assert [message.text for message in desk.messages()] == ["Has a cat called Bułka"]


def test_a_read_only_agent_keeps_no_record_of_the_request(desk: Desk) -> None:
    identity(desk.paths, 0)
    outcome = desk.sessions.ask(MemoryWrite("remember", "main", MAIN, "Likes tea"))
    assert outcome.outcome == "denied"
    assert desk.messages() == []


# --- what is known -------------------------------------------------------------------------

HIT = Hit("i", "brain.md", "#^a1b2", "fact", "main", "t", "as it was indexed", 0.6)
BRAIN = """# Main - Brain

Marek fixes our roof every spring.

## User

- Basia mieszka teraz w Hamburgu %%2026-03-02 said%% ^hh12
- Basia lives in Berlin %%2026-02-20 said%% ^ba11

## Cars

- The blue van
"""
ARCHIVE = "## Current\n\n- Celina ran the bakery %%2025-05-01 said%% ^cc11\n"
NOTE = replace(HIT, path="Garden.md", kind="note", anchor="", text="The well is nine metres deep")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("Marek", ("Marek fixes our roof every spring.",)),
        ("my cars", ("The blue van",)),
        ("Celina", ("Celina ran the bakery (said 2025-05-01)",)),
        ("Basia", ("Basia mieszka teraz w Hamburgu (said 2026-03-02)",)),
        ("the well", ("Garden.md: The well is nine metres deep",)),
    ],
)
def test_the_whole_memory_and_the_notes_are_looked_at_before_nothing_is_known(
    words: str, told: tuple[str, ...]
) -> None:
    known = recalled(BRAIN, ARCHIVE, words, lambda kind: [NOTE] if kind == "note" else [])
    assert (known.lines, known.names) == (told, ("known",))
    nothing = recalled("", "", words, lambda kind: [])
    assert (nothing.lines, nothing.names) == ((), ("nothing_known",))


def test_a_long_message_that_corrects_nothing_known_is_a_story(desk: Desk) -> None:
    said = "We don't use Redis any more, it's Valkey now. Can you write the compose file?"
    intent = Intent("correct", "en", "it's Valkey now", old="Redis")
    desk.voice.words.understand = lambda *_, **__: intent  # type: ignore[method-assign]
    heard = desk.say(said)
    assert (heard.outcome.outcome, heard.intent.intent) == ("unchanged", "none")
