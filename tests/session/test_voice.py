"""What a person says is done once, to the fact they mean, and answered in their language."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread

import pytest

from tests.session.samples import EveryMessage, Marked
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.forget.kinds import Evidence, Messages
from vaultmind.memory.forget.tombstones import Tombstones
from vaultmind.memory.gate.gate import Gate, GateSettings
from vaultmind.memory.intents import Ears
from vaultmind.memory.rights.authority import Authority
from vaultmind.memory.rights.granted import Grants
from vaultmind.session.lifecycle.lifecycle import SessionLog
from vaultmind.session.records.reading import read_text
from vaultmind.session.records.store import session_ids
from vaultmind.session.voice.requests import Requests
from vaultmind.session.voice.spoken import Heard
from vaultmind.session.voice.touched import Touched
from vaultmind.session.voice.voice import Parts, Voice
from vaultmind.types import PERSON, Caller, Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

NOON = datetime(2026, 2, 20, 12, 0, 0, tzinfo=UTC)
MAIN = Caller("agent", "main", "test")


@dataclass
class Clock:
    now: datetime = NOON

    def __call__(self) -> datetime:
        return self.now

    def pass_minutes(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)


@dataclass
class Desk:
    """A voice with its gate and sessions over a real vault; a new one is a restart."""

    paths: VaultPaths
    reader: VaultReader
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        reader, clock = self.reader, self.clock
        self.grants = grants = Grants(self.paths.root.parent / "grants.json", self.paths.root)
        self.authority = Authority(reader, grants)
        kinds = (Evidence(), Messages(EveryMessage(reader)))
        settings = GateSettings("test", rng=random.Random(1))
        gate = Gate(self.paths, settings, kinds, Marked(), self.authority, clock)
        self.sessions = SessionLog(gate, reader, self.paths, clock, idle_minutes=30)
        self.requests = Requests(gate, self.sessions, clock)
        folder = self.paths.root / "VaultMind" / "phrases"
        ears = Ears(folder, self.paths.agent_names)
        touched = Touched(reader, clock, 30)
        self.voice = Voice(Parts(ears, self.requests, gate, reader, self._shows, touched, clock))

    def _shows(self, path: str, caller: Caller) -> bool:
        return self.authority.lets_read(caller, self.paths.agent_of(path))

    def restarted(self) -> Desk:
        return Desk(self.paths, self.reader, self.clock)

    def say(self, words: str, message_id: str = "", caller: Caller = MAIN) -> Heard:
        return self.voice.hear(caller, "main", words, message_id)

    def capture(self, words: str, message_id: str, role: str = "user") -> None:
        """Log a message as a hook that reads the transcript does."""
        message = Message(role, words, "", id=message_id)  # type: ignore[arg-type]
        self.sessions.log("main", message)

    def facts(self, agent: str = "main") -> list[str]:
        text = read_text(self.reader, self.paths.brain(agent))[0]
        return [fact.text for fact in parse_brain(text).all()]

    def messages(self, agent: str = "main") -> list[Message]:
        ids = session_ids(self.paths, agent)
        return [m.message for s in ids for m in self.sessions.read(agent, s).messages]

    def hidden(self) -> list[str]:
        tombstones, day = Tombstones(self.paths), "2026-02-20_001"
        return [m.text for m in self.messages() if tombstones.hides("main", day, m.block)]

    def make_agent(self, name: str, front: str = "autonomy: 2") -> None:
        path = self.paths.root / self.paths.identity(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\n{front}\n---\n# {name}\n", "utf-8")


@pytest.fixture
def desk(paths: VaultPaths, reader: VaultReader) -> Desk:
    desk = Desk(paths, reader)
    desk.make_agent("main")
    return desk


# --- several requests in one message ------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        ("Remember that I'm 50. What do you know about me?", ["I have a dog", "I'm 50"]),
        ("Forget about my dog. Remember that I have a cat.", ["I have a cat"]),
        ("Zapomnij o psie. Zapamiętaj, że mam kota.", ["I have a dog", "mam kota"]),
        (
            "Remember that I'm 42. Also remember that I have two kids.",
            ["I have a dog", "I'm 42", "I have two kids"],
        ),
        ("Forget that I have a dog and remember that I have a cat", ["I have a cat"]),
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


def test_of_several_requests_a_rehearsal_tells_the_first(desk: Desk) -> None:
    heard = desk.voice.heed("Remember that I'm 50. What do you know about me?", "main")
    assert (heard.intent.intent, heard.intent.payload) == ("remember", "I'm 50")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("Forget everything", "No sentence"),
        ("Wipe your memory", "No sentence"),
        ("Forget everything about me", "No sentence"),
        ("Zapomnij wszystko", "Żadne zdanie"),
        ("Wyczyść całą pamięć", "Żadne zdanie"),
        ("Сотри всё", "Одной фразой"),
    ],
)
def test_forget_everything_deletes_nothing_and_names_the_way(
    desk: Desk, words: str, says: str
) -> None:
    desk.say("Remember that I have a dog")
    heard = desk.say(words)
    assert desk.facts() == ["I have a dog"]
    assert heard.message.startswith(says)
    assert "vaultmind forget --topic" in heard.message
    assert "vaultmind show" in heard.message


def test_of_two_facts_said_at_once_one_is_forgotten(desk: Desk) -> None:
    heard = desk.say("Remember that I like tea and that Ola likes coffee", "u1")
    assert desk.facts() == ["I like tea", "Ola likes coffee"]
    assert "Ola likes coffee" in heard.message and "I like tea" in heard.message
    desk.say("Remember that I like tea and that Ola likes coffee", "u1")
    assert desk.facts() == ["I like tea", "Ola likes coffee"]
    assert desk.say("Forget that I like tea").outcome.outcome == "written"
    assert desk.facts() == ["Ola likes coffee"]


def test_a_corrected_day_gets_its_own_date(desk: Desk) -> None:
    desk.say("Remember that the dentist is next Tuesday")
    assert desk.facts() == ["the dentist is next Tuesday (2026-02-24)"]
    desk.say("No, it's Thursday, not Tuesday")
    assert desk.facts() == ["the dentist is next Thursday (2026-02-26)"]


@pytest.mark.parametrize("words", ["Nie zapomnij kupić mleka", "Zapomniałem o siostrze", "Usuń to"])
def test_words_that_ask_nothing_are_answered_in_their_language(desk: Desk, words: str) -> None:
    assert desk.say(words).intent.lang == "pl"


def test_emoji_at_the_end_of_a_fact_are_kept(desk: Desk) -> None:
    desk.say("Remember that I have a dog 🐶 and a cat 🐱.")
    assert desk.facts() == ["I have a dog 🐶 and a cat 🐱"]


# --- a message acts once ------------------------------------------------------------------


def test_a_captured_message_that_is_relayed_is_the_evidence_and_acts_once(desk: Desk) -> None:
    desk.capture("Remember that I row on Sundays", "u1")
    assert desk.say("Remember that I row on Sundays", "u1").outcome.outcome == "written"
    assert [message.id for message in desk.messages()] == ["u1"]
    again = desk.say("Remember that I row on Sundays", "u1")
    assert again.outcome.outcome == "unchanged"
    assert "already" in again.message
    assert desk.facts() == ["I row on Sundays"]


def test_a_relayed_message_acts_once_though_its_fact_was_changed_meanwhile(desk: Desk) -> None:
    desk.say("Remember that I row on Sundays", "u1")
    desk.say("Forget that", "u2")
    assert desk.facts() == []
    assert desk.say("Remember that I row on Sundays", "u1").outcome.outcome == "unchanged"
    assert desk.facts() == []


@pytest.mark.parametrize("captured", [True, False])
def test_what_was_acted_on_is_known_after_a_restart(desk: Desk, captured: bool) -> None:
    desk.say("Remember that I row on Sundays")
    desk.say("Remember that I have a cat")
    if captured:
        desk.capture("Forget that", "u7")
    assert desk.say("Forget that", "u7").outcome.outcome == "written"
    later = desk.restarted()
    assert later.say("Forget that", "u7").outcome.outcome == "unchanged"
    assert later.facts() == ["I row on Sundays"]


def test_two_tellings_at_the_same_moment_act_once(desk: Desk) -> None:
    desk.say("Remember that I row on Sundays")
    desk.say("Remember that I have a cat")
    barrier, heard = Barrier(4), list[Heard]()

    def tell() -> None:
        barrier.wait()
        heard.append(desk.say("Forget that", "u9"))

    threads = [Thread(target=tell) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.outcome.outcome for one in heard) == ["unchanged"] * 3 + ["written"]
    assert desk.facts() == ["I row on Sundays"]


def test_an_id_used_again_for_other_words_does_not_swallow_them(desk: Desk) -> None:
    desk.say("Remember that I row on Sundays", "1")
    assert desk.say("Zapamiętaj, że mam kota Bułkę", "1").outcome.outcome == "written"
    assert [message.id for message in desk.messages()] == ["1", "1:2"]
    assert desk.say("Zapamiętaj, że mam kota Bułkę", "1").outcome.outcome == "unchanged"


@pytest.mark.parametrize("odd", ["a%%b", "a\nb", 'q"uo\\te', "żółw-1", "x" * 200, "a:2", "}%%"])
def test_any_id_is_known_again(desk: Desk, odd: str) -> None:
    desk.say("Remember that I row on Sundays", odd)
    desk.say("Forget that")
    assert (
        desk.restarted().say("Remember that I row on Sundays", odd).message.startswith("That was")
    )
    assert desk.facts() == []


def test_a_message_that_says_something_else_is_no_evidence(desk: Desk) -> None:
    desk.capture("What a lovely morning it is", "u1")
    desk.say("Remember that I row on Sundays", "u1")
    said = {message.block: message.text for message in desk.messages()}
    text = read_text(desk.reader, desk.paths.brain("main"))[0]
    (fact,) = parse_brain(text).all()
    assert fact.evidence is not None
    assert said[fact.evidence.block] == "Remember that I row on Sundays"


@pytest.mark.parametrize(
    "words", ["Forget that", "No, it's Thursday, not Tuesday", "Forget that I have a cat"]
)
def test_the_same_words_without_an_id_a_moment_later_write_once(desk: Desk, words: str) -> None:
    for fact in ("I row on Tuesday", "The choir meets on Tuesday", "I have a cat"):
        desk.say(f"Remember that {fact}")
    desk.say("What do you know about the choir?")
    if "Forget" in words:
        desk.say("What do you know about my cat?")
    assert desk.say(words).outcome.outcome == "written"
    before = desk.facts()
    assert desk.say(words).outcome.outcome == "unchanged"
    assert desk.facts() == before


def test_after_a_while_the_same_words_are_a_new_wish(desk: Desk) -> None:
    desk.say("Remember that I row on Sundays")
    desk.say("Forget that I row on Sundays")
    desk.say("Remember that I row on Sundays")
    desk.clock.pass_minutes(3)
    assert desk.say("Forget that I row on Sundays").outcome.outcome == "written"


# --- that ---------------------------------------------------------------------------------


def test_that_is_the_fact_which_was_written_last(desk: Desk) -> None:
    desk.say("Remember that I row on Sundays")
    desk.say("Remember that I have a cat")
    assert "I have a cat" in desk.say("Forget that").message
    assert desk.facts() == ["I row on Sundays"]


def test_that_is_the_one_fact_which_was_just_recalled(desk: Desk) -> None:
    desk.say("Remember that I row on Sundays")
    desk.say("Remember that I have a cat")
    assert desk.say("What do you know about rowing on Sundays?").facts == (
        "I row on Sundays (said 2026-02-20)",
    )
    desk.say("Forget that")
    assert desk.facts() == ["I have a cat"]


@pytest.mark.parametrize(
    "question", ["What do you know about my motorcycle?", "Что ты знаешь о моём мотоцикле?"]
)
def test_a_question_is_answered_with_facts_about_it_and_never_with_the_nearest(
    desk: Desk, question: str
) -> None:
    desk.say("Remember that my wife is called Anna")
    desk.say("Remember that my dog has a red coat")
    heard = desk.say(question)
    assert heard.facts == ()
    assert "Anna" not in heard.message


def test_a_question_finds_every_fact_that_holds_its_words(desk: Desk) -> None:
    desk.say("Remember that my wife is called Anna")
    desk.say("Remember that my wife works at a school")
    assert len(desk.say("What do you know about my wife?").facts) == 2


def test_of_many_that_were_shown_the_one_just_written_is_meant(desk: Desk) -> None:
    desk.say("Zapamiętaj, że mam kota")
    desk.say("Zapamiętaj, że wiosłuję w niedziele")
    assert len(desk.say("Co o mnie wiesz?").facts) == 2
    assert desk.say("Zapomnij o tym").outcome.outcome == "written"
    assert desk.facts() == ["mam kota"]


def test_of_many_that_were_shown_none_is_guessed(desk: Desk) -> None:
    desk.say("Remember that I row on Sundays")
    desk.say("Remember that I have a cat")
    desk.clock.pass_minutes(60)
    desk.say("What do you know about me?")
    which = desk.say("Forget that")
    assert which.outcome.outcome == "not_found"
    assert "I have a cat" in which.message and "I row on Sundays" in which.message
    assert len(desk.facts()) == 2


def test_forget_that_forgets_one_thing_only(desk: Desk) -> None:
    desk.say("Remember that I row on Sundays")
    desk.say("Remember that I have a cat")
    desk.say("Forget that")
    assert desk.say("Please forget what I just said").outcome.outcome == "not_found"
    assert desk.restarted().say("Scratch that from memory").outcome.outcome == "not_found"
    assert desk.facts() == ["I row on Sundays"]


def test_forget_that_without_a_recent_thing_forgets_nothing(desk: Desk) -> None:
    desk.say("Remember that I row on Sundays")
    desk.clock.pass_minutes(90)
    assert desk.say("Forget that").outcome.outcome == "not_found"
    assert desk.restarted().say("Forget that").outcome.outcome == "not_found"
    assert desk.facts() == ["I row on Sundays"]


def test_that_is_known_after_a_restart_from_the_audit(desk: Desk) -> None:
    desk.say("Запомни, что у меня есть кот")
    assert desk.restarted().say("Забудь об этом").outcome.outcome == "written"
    assert desk.facts() == []


def test_dont_keep_that_takes_back_what_was_just_learned(desk: Desk) -> None:
    desk.say("Remember that I row on Sundays")
    desk.say("Remember that I am quitting my job")
    skipped = desk.say("Actually, don't keep that in memory")
    assert skipped.intent.intent == "skip" and skipped.outcome.outcome == "written"
    assert desk.facts() == ["I row on Sundays"]


@pytest.mark.parametrize(
    ("between", "skip"),
    [
        (["I had a terrible fight with my wife"], "Don't remember this"),
        (["Ужасно поссорился с женой"], "Не запоминай это"),
        ([f"The weather is fine, day {day}" for day in range(9)], "Don't remember this"),
        (["What do you know about my motorcycle?"], "Don't remember this"),
        (["What do you know about penicillin?"], "Don't remember this"),
    ],
)
@pytest.mark.parametrize("with_ids", [True, False])
def test_dont_remember_this_means_the_message_just_before_and_no_older_fact(
    desk: Desk, between: list[str], skip: str, with_ids: bool
) -> None:
    said = ["Remember that I am allergic to penicillin", *between, skip]
    heard = [desk.say(words, f"u{at}" if with_ids else "") for at, words in enumerate(said)]
    assert desk.facts() == ["I am allergic to penicillin"]
    assert "penicillin" not in heard[-1].message
    assert heard[-1].outcome.outcome == "not_found"


def test_dont_remember_this_after_a_restart_takes_back_no_fact_that_may_be_older(
    desk: Desk,
) -> None:
    desk.say("Remember that I am allergic to penicillin")
    desk.say("I had a terrible fight with my wife")
    later = desk.restarted()
    later.say("Don't remember this")
    assert later.facts() == ["I am allergic to penicillin"]


def test_forget_that_after_words_that_asked_nothing_asks_what_to_forget(desk: Desk) -> None:
    desk.say("Remember that I am allergic to penicillin")
    for words in ("It rains", "The train was late", "Nice talk", "I slept badly"):
        desk.say(words)
    heard = desk.say("Forget what I said")
    assert heard.outcome.outcome == "not_found"
    assert "Say what to forget" in heard.message
    assert desk.facts() == ["I am allergic to penicillin"]


def test_dont_keep_that_hides_what_was_said_before_and_the_answer(desk: Desk) -> None:
    desk.capture("The weather is fine", "c1")
    desk.capture("I am thinking of leaving my job", "c2")
    desk.capture("You think of leaving your job? Tell me more.", "c3", role="assistant")
    desk.capture("Nie zapisuj tego, proszę", "c4")
    assert desk.say("Nie zapisuj tego, proszę", "c4").outcome.outcome == "written"
    assert [text[:12] for text in desk.hidden()] == ["I am thinkin", "You think of", "Nie zapisuj "]
    assert desk.say("Nie zapisuj tego, proszę", "c4").outcome.outcome == "unchanged"


def test_off_the_record_words_hide_themselves_and_nothing_before(desk: Desk) -> None:
    desk.capture("I have a new bike", "c1")
    desk.capture("Off the record: I can't stand my boss", "c2")
    assert desk.say("Off the record: I can't stand my boss", "c2").outcome.hidden_messages == 1
    assert desk.hidden() == ["Off the record: I can't stand my boss"]


def test_off_the_record_words_that_were_never_written_leave_nothing(desk: Desk) -> None:
    desk.capture("I have a new bike", "c1")
    assert desk.say("Off the record: I can't stand my boss").outcome.outcome == "unchanged"
    assert desk.hidden() == []
    assert len(desk.messages()) == 1


def test_after_what_was_only_suggested_that_means_nothing(desk: Desk) -> None:
    desk.say("Remember that I row on Sundays")
    desk.make_agent("main", "autonomy: 1")
    assert desk.say("Remember that I have a cat").outcome.outcome == "suggested"
    heard = desk.say("Forget that")
    assert heard.outcome.outcome == "not_found"
    assert "Suggestions.md" in heard.message
    assert "suggestions reject" in heard.message
    assert desk.say("It rains").intent.intent == "none"
    assert "Suggestions.md" not in desk.say("Forget that").message


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
        (["Встреча с врачом во вторник в пять"], "Нет, в среду, а не во вторник",
         ["Встреча с врачом в среду в пять"]),
        (["I have two cats"], "That's wrong, I have three cats", ["I have three cats"]),
        (["The dentist is on Tuesday"], "I meant Thursday", ["The dentist is on Thursday"]),
    ],
)  # fmt: skip
def test_a_correction_changes_the_words_that_were_wrong(
    desk: Desk, facts: list[str], said: str, after: list[str]
) -> None:
    for fact in facts:
        desk.requests.remember(MAIN, "main", fact)
    assert desk.say(said).outcome.outcome == "written"
    assert desk.facts() == after


@pytest.mark.parametrize(
    ("fact", "words", "stands"),
    [
        ("the alarm rings two times", "No, it rings three times, not two",
         "the alarm rings three times"),
        ("I take 2 pills a day", "no, 3 pills, not 2", "I take 3 pills a day"),
        ("Bulka needs insulin twice a day", "No, it's three times a day, not twice.",
         "Bulka needs insulin three times a day"),
        ("Bulka needs insulin two times a day", "no, once a day, not two",
         "Bulka needs insulin once a day"),
        ("I have 2 dogs and 2 cats", "no, 4 cats, not 2", "I have 2 dogs and 4 cats"),
        ("biorę dwie tabletki dziennie", "nie, trzy tabletki, nie dwie",
         "biorę trzy tabletki dziennie"),
        ("biorę 2 tabletki dziennie", "nie, biorę 3 dziennie, nie 2",
         "biorę 3 tabletki dziennie"),
        ("Булке нужен инсулин два раза в день", "нет, три раза в день, а не два",
         "Булке нужен инсулин три раза в день"),
        ("ich zwei Tabletten am Tag nehme", "nein, drei Tabletten, nicht zwei",
         "ich drei Tabletten am Tag nehme"),
        ("tomo dos pastillas al día", "no, tres pastillas, no dos", "tomo tres pastillas al día"),
        ("je prends deux comprimés par jour", "non, trois comprimés, pas deux",
         "je prends trois comprimés par jour"),
        ("Bułka is a cat", "correct: Bułka is a dog", "Bułka is a dog"),
    ],
)  # fmt: skip
def test_a_correction_of_a_number_keeps_all_other_words(
    desk: Desk, fact: str, words: str, stands: str
) -> None:
    desk.requests.remember(MAIN, "main", fact)
    assert desk.say(words).outcome.outcome == "written"
    assert desk.facts() == [stands]


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        ("Bulka needs insulin twice a day", "no, three, not twice"),
        ("my blanket is blue", "No, it's the red fluffy blanket, not blue"),
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
    desk.requests.remember(MAIN, "main", fact)
    heard = desk.say(words)
    assert desk.facts() == [fact]
    assert heard.outcome.outcome == "not_found"
    assert fact in heard.message


@pytest.mark.parametrize(
    ("fact", "words", "stands"),
    [
        (
            "Remember that my wife is called Ewa and my daughter is called Zosia",
            "No, my wife is called Anna",
            "my wife is called Anna and my daughter is called Zosia",
        ),
        (
            "Remember that my wife is called Ewa and my daughter is called Zosia",
            "No, my daughter is called Ola",
            "my wife is called Ewa and my daughter is called Ola",
        ),
        (
            "Запомни, что мою жену зовут Ева, а дочь зовут Зося",
            "Нет, мою жену зовут Анна",
            "мою жену зовут Анна, а дочь зовут Зося",
        ),
    ],
)
def test_a_correction_of_one_half_keeps_the_other_half_of_a_fact(
    desk: Desk, fact: str, words: str, stands: str
) -> None:
    desk.say(fact)
    assert desk.say(words).outcome.outcome == "written"
    assert desk.facts() == [stands]


def test_a_correction_that_would_lose_half_a_fact_changes_nothing_and_names_it(desk: Desk) -> None:
    desk.say("Remember that I live in Gdańsk with two cats")
    heard = desk.say("No, I live in Sopot")
    assert desk.facts() == ["I live in Gdańsk with two cats"]
    assert heard.outcome.outcome == "not_found"
    assert "I live in Gdańsk with two cats" in heard.message
    assert "^" in heard.message


def test_a_correction_of_nothing_known_changes_nothing(desk: Desk) -> None:
    desk.say("Remember that I row on Sundays")
    assert desk.say("No, it's Vienna, not Venice").outcome.outcome == "not_found"
    assert desk.facts() == ["I row on Sundays"]


def test_a_correction_does_not_replace_a_fact_about_something_else(desk: Desk) -> None:
    desk.say("Remember that I row on Sundays")
    assert desk.say("That's wrong, my dog is called Biscuit").outcome.outcome == "written"
    assert desk.facts() == ["I row on Sundays", "my dog is called Biscuit"]


def test_a_new_fact_that_contradicts_one_says_what_it_replaced(desk: Desk) -> None:
    desk.say("Zapamiętaj, że mieszkam w Krakowie")
    heard = desk.say("Zapamiętaj, że mieszkam w Łodzi")
    assert heard.outcome.outcome == "written"
    assert desk.facts() == ["mieszkam w Łodzi"]
    assert "zamiast „mieszkam w Krakowie”" in heard.message


@pytest.mark.parametrize(
    "words", ["undo that", "cofnij to", "отмени это", "undo", "cofnij", "отмени", "undo please",
              "undo the last change", "mach das rückgängig", "deshaz eso", "annule ça"],
)  # fmt: skip
def test_to_take_a_correction_back_names_the_command_and_forgets_nothing(
    desk: Desk, words: str
) -> None:
    desk.say("Remember that my wife is called Ewa")
    desk.say("not Ewa but Ola")
    heard = desk.say(words)
    assert "`vaultmind undo " in heard.message
    assert desk.facts() == ["my wife is called Ola"]


def test_undo_that_of_a_new_fact_forgets_it(desk: Desk) -> None:
    desk.say("Remember that I row on Sundays")
    assert desk.say("Undo that").outcome.outcome == "written"
    assert desk.facts() == []


def test_undo_of_something_else_is_no_request(desk: Desk) -> None:
    assert "vaultmind undo" not in desk.say("undo my commit").message


# --- other agents -------------------------------------------------------------------------


def test_tell_another_agent_writes_its_memory_where_it_lets_us(desk: Desk) -> None:
    desk.make_agent("dexter", "autonomy: 2\npermissions:\n  write:\n    main: brain")
    desk.grants.allow("dexter", desk.authority.claim("dexter"), PERSON)
    heard = desk.say("Powiedz Dexterowi, że zapasowy klucz leży pod doniczką")
    assert (heard.outcome.outcome, heard.outcome.agent) == ("written", "dexter")
    assert desk.facts("dexter") == ["zapasowy klucz leży pod doniczką"]
    assert desk.facts() == []
    assert [message.text for message in desk.messages()] == [
        "Powiedz Dexterowi, że zapasowy klucz leży pod doniczką"
    ]


def test_tell_another_agent_without_permission_writes_nothing_to_its_brain(desk: Desk) -> None:
    desk.make_agent("dexter")
    heard = desk.say("Tell Dexter that the spare key is under the pot")
    assert heard.outcome.outcome in ("suggested", "denied")
    assert heard.outcome.agent == "dexter"
    assert desk.facts("dexter") == [] and desk.facts() == []


def test_what_another_agent_knows_is_read_where_it_may_be(desk: Desk) -> None:
    desk.make_agent("jaskier")
    desk.requests.remember(PERSON, "jaskier", "The wedding is in May")
    assert desk.say("What does Jaskier know about the wedding?").facts == (
        "The wedding is in May (said 2026-02-20)",
    )
    desk.make_agent("jaskier", "hidden_from: [main]\npermissions:\n  hidden_from: [main]")
    refused = desk.say("What does Jaskier know about the wedding?")
    nobody = desk.say("What does Zbyszko know about the wedding?")
    assert refused.facts == () and refused.message == nobody.message, "as if it were not there"
    asked = desk.say("What does Jaskier know about the wedding?", caller=PERSON)
    assert asked.facts == ("The wedding is in May (said 2026-02-20)",)


# --- their own phrases --------------------------------------------------------------------


def test_a_persons_own_phrase_counts_from_the_next_sentence_on(desk: Desk) -> None:
    assert desk.say("Brain dump: I row on Sundays").intent.intent == "none"
    folder = desk.paths.root / "VaultMind" / "phrases"
    folder.mkdir(parents=True)
    own = folder / "mine.toml"
    own.write_text('language = "en"\n[[remember]]\nsay = ["brain dump : {payload}"]\n', "utf-8")
    assert desk.say("Brain dump: I row on Sundays").outcome.outcome == "written"
    own.unlink()
    assert desk.say("Brain dump: I row on Mondays").intent.intent == "none"


@pytest.mark.parametrize(
    "broken",
    [b"\xff\xfe not toml", b"[[remember", b'language = "en"\n[[remember]]\nsay = ["<nobody> {x"]'],
)
def test_a_broken_phrase_file_is_named_and_breaks_nothing(desk: Desk, broken: bytes) -> None:
    folder = desk.paths.root / "VaultMind" / "phrases"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_bytes(broken)
    ears = Ears(folder, desk.paths.agent_names)
    assert any("mine.toml" in fault for fault in ears.faults())
    assert ears.understand("Remember that I row").intent == "remember"


def test_ears_that_were_warmed_have_read_every_language(desk: Desk) -> None:
    ears = Ears(desk.paths.root / "nowhere", desk.paths.agent_names)
    ears.warm()
    known = ears._current()
    assert set(known._rules) == set(known._phrases) == {"de", "en", "es", "fr", "pl", "ru"}
    assert ears._current() is known


def test_a_correction_in_words_destroys_no_secret_that_the_person_typed(desk: Desk) -> None:
    typed = "# Main\n\n- Swims on Tuesday, locker password: hunter2x9\n"
    path = desk.paths.root / desk.paths.brain("main")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(typed, "utf-8")
    heard = desk.say("No, it's Thursday, not Tuesday")
    assert heard.outcome.outcome == "not_found"
    assert "not kept; edit it there" in heard.message and desk.paths.brain("main") in heard.message
    assert "hunter2x9" not in str(heard)
    assert path.read_text("utf-8") == typed


def typed_brain(desk: Desk, agent: str, text: str) -> None:
    path = desk.paths.root / desk.paths.brain(agent)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


SECRETS = "- Wifi password: hunter2x9\n- A cat <private>and\n- owes zebras\n- x</private>\n- Rows"


def test_what_that_may_be_is_told_without_secrets(desk: Desk) -> None:
    typed_brain(desk, "main", SECRETS)
    assert len(desk.say("Show your memory").facts) > 1
    heard = desk.say("Forget that")
    assert heard.outcome.outcome == "not_found"
    assert "Wifi password: ‹password›" in heard.outcome.nearest and "Rows" in heard.message
    assert "hunter2x9" not in str(heard) and "zebra" not in str(heard)


def test_that_is_no_fact_of_an_agent_that_hid_itself_since(desk: Desk) -> None:
    desk.make_agent("dexter", "autonomy: 2")
    typed_brain(desk, "dexter", "# Dexter\n\n- Rows on Sundays\n- Keeps a heron\n")
    heard = desk.voice.hear(MAIN, "dexter", "Show your memory", "")
    assert len(heard.facts) == 2
    desk.make_agent("dexter", "permissions:\n  hidden_from: [main]")
    heard = desk.say("Forget that")
    assert "heron" not in str(heard) and "Rows" not in str(heard)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("Forget that Ola likes coffee", "Ola likes coffee"),
        ("You don't need to remember that I'm left-handed anymore", "I'm left-handed"),
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
        desk.requests.remember(PERSON, "main", fact)
    desk.say(words, caller=PERSON)
    left = read_text(desk.reader, desk.paths.brain("main"))[0]
    assert {fact for fact in facts if fact not in left} == ({meant} if meant else set())
