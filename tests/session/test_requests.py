"""What is asked for is written down as evidence first; what is forgotten is not said again."""

from __future__ import annotations

import random
import threading
from datetime import UTC, datetime

import pytest

from tests.session.samples import EveryMessage, Marked
from vaultmind.errors import BadArgument, NotAllowed
from vaultmind.index.chunking.files import chunk_file, place_of
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.forget.kinds import Evidence, Messages
from vaultmind.memory.forget.tombstones import Tombstones
from vaultmind.memory.gate.gate import Gate, GateSettings
from vaultmind.memory.rights.authority import Authority
from vaultmind.memory.rights.granted import Grants
from vaultmind.session.lifecycle.lifecycle import SessionLog
from vaultmind.session.records.store import session_ids
from vaultmind.session.voice.requests import Requests
from vaultmind.types import PERSON, Caller, Fact, Message, MessageRef
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import count_messages

NOON = datetime(2026, 2, 20, 12, 0, 0, tzinfo=UTC)
MAIN = Caller("agent", "main", "test")


class Desk:
    """A gate, its sessions and the requests made of them, over a real vault."""

    def __init__(self, paths: VaultPaths, reader: VaultReader) -> None:
        self.paths, self.reader = paths, reader
        gate = self.gate = Gate(
            paths,
            GateSettings("test", rng=random.Random(1)),
            (Evidence(), Messages(EveryMessage(reader))),
            Marked(),
            Authority(reader, Grants(paths.root.parent / "grants.json", paths.root)),
            lambda: NOON,
        )
        self.sessions = SessionLog(gate, reader, paths, lambda: NOON, idle_minutes=30)
        self.requests = Requests(gate, self.sessions, lambda: NOON)

    def facts(self, agent: str = "main") -> tuple[Fact, ...]:
        return parse_brain(self.reader.read(self.paths.brain(agent)).text).all()

    def messages(self, agent: str = "main") -> list[Message]:
        ids = session_ids(self.paths, agent)
        return [m.message for s in ids for m in self.sessions.read(agent, s).messages]

    def hidden(self, agent: str = "main") -> list[str]:
        tombstones, day = Tombstones(self.paths), "2026-02-20_001"
        return [m.text for m in self.messages(agent) if tombstones.hides(agent, day, m.block)]


@pytest.fixture
def desk(paths: VaultPaths, reader: VaultReader) -> Desk:
    return Desk(paths, reader)


def test_every_fact_has_the_words_it_came_from_as_evidence(desk: Desk) -> None:
    words = "Please keep it short, will you?"
    outcome = desk.requests.remember(MAIN, "main", "Prefers short answers", words=words)
    assert outcome.outcome == "written"
    (fact,) = desk.facts()
    (message,) = desk.messages()
    assert (message.role, message.text, message.how) == ("user", words, "reported")
    assert fact.evidence is not None
    assert (fact.evidence.session, fact.evidence.block) == ("2026-02-20_001", message.block)


def test_without_words_the_fact_itself_is_logged_and_a_person_is_named(desk: Desk) -> None:
    desk.requests.remember(PERSON, "main", "Lives in Kraków", section="user")
    (message,) = desk.messages()
    assert (message.text, message.how) == ("Lives in Kraków", "cli")


def test_a_message_that_is_logged_already_is_the_evidence(desk: Desk) -> None:
    for _ in range(2):
        desk.requests.remember(MAIN, "main", "Likes tea", words="I like tea", message_id="x1")
    assert [message.id for message in desk.messages()] == ["x1"]
    assert len(desk.facts()) == 1


def test_a_replacement_names_its_own_evidence(desk: Desk) -> None:
    desk.requests.remember(MAIN, "main", "Lives in Kraków")
    outcome = desk.requests.replace(MAIN, "main", "Lives in Lisbon", "Lives in Kraków")
    assert outcome.outcome == "written"
    (fact,) = desk.facts()
    assert fact.text == "Lives in Lisbon"
    assert fact.evidence is not None
    assert fact.evidence.block == "m2"


def test_forgetting_hides_the_request_itself_too(desk: Desk) -> None:
    desk.requests.remember(MAIN, "main", "Is allergic to hazelnuts")
    desk.requests.remember(MAIN, "main", "Has a cat called Bułka")
    words = "Forget that I am allergic to hazelnuts"
    outcome = desk.requests.forget(MAIN, "main", "Is allergic to hazelnuts", words=words)
    assert outcome.outcome == "written"
    assert outcome.hidden_messages == 1
    assert desk.hidden() == ["Is allergic to hazelnuts", words]
    assert [fact.text for fact in desk.facts()] == ["Has a cat called Bułka"]


def test_a_request_that_comes_to_nothing_leaves_no_words_behind(desk: Desk) -> None:
    desk.requests.remember(MAIN, "main", "Has a cat called Bułka")
    assert desk.requests.forget(MAIN, "main", "the quarrel with Miriam").outcome == "not_found"
    assert desk.requests.remember(MAIN, "main", "has a cat called Bułka").outcome == "unchanged"
    assert desk.requests.replace(MAIN, "main", "Has a dog", "Has a parrot").outcome == "not_found"
    assert [message.text for message in desk.messages()] == ["Has a cat called Bułka"]


def test_the_words_of_a_request_are_marked_and_no_part_of_the_conversation(desk: Desk) -> None:
    desk.sessions.log("main", Message("user", "I moved to Lisbon in May", "", id="c1"))
    desk.requests.remember(MAIN, "main", "Lives in Kraków", words="Remember: I live in Kraków")
    desk.requests.replace(MAIN, "main", "Lives in Lisbon", "Lives in Kraków")
    desk.requests.forget(MAIN, "main", "Lives in Lisbon")
    assert [message.asked for message in desk.messages()] == ["", "remember", "replace", "forget"]
    path = desk.paths.session("main", "2026-02-20_001")
    file = desk.reader.read(path)
    place = place_of(path, desk.paths)
    assert place is not None
    chunks = chunk_file(path, file, place).chunks
    assert [chunk.text for chunk in chunks] == ["I moved to Lisbon in May"]
    assert count_messages(file.text) == 1


def test_words_captured_from_the_conversation_stay_part_of_it_and_are_the_evidence(
    desk: Desk,
) -> None:
    desk.sessions.log("main", Message("user", "I like tea", "", id="x1"))
    desk.requests.remember(MAIN, "main", "Likes tea", words="I like tea", message_id="x1")
    (message,), (fact,) = desk.messages(), desk.facts()
    assert message.asked == "" and fact.evidence is not None
    assert fact.evidence.block == message.block


def test_nothing_of_a_held_request_reaches_the_other_agents_files(desk: Desk) -> None:
    desk.requests.remember(MAIN, "main", "Likes tea")
    outcome = desk.requests.remember(Caller("agent", "jaskier"), "main", "Likes coffee")
    assert outcome.outcome == "suggested"
    assert [message.text for message in desk.messages()] == ["Likes tea"]
    assert [message.text for message in desk.messages("jaskier")] == ["Likes coffee"]


def test_a_read_only_agent_keeps_no_record_of_the_request(desk: Desk) -> None:
    identity = desk.paths.root / desk.paths.identity("main")
    identity.parent.mkdir(parents=True)
    identity.write_text("---\nautonomy: 0\n---\n", "utf-8")
    outcome = desk.requests.remember(MAIN, "main", "Likes tea")
    assert outcome.outcome == "denied"
    assert desk.messages() == []


def test_an_empty_request_is_refused_before_anything_is_logged(desk: Desk) -> None:
    with pytest.raises(BadArgument, match="'text'"):
        desk.requests.remember(MAIN, "main", "  ")
    assert desk.messages() == []


def test_a_secret_in_the_words_is_not_kept(desk: Desk) -> None:
    secret = "sk-ant-api03-" + "Ab3" * 31
    desk.requests.remember(MAIN, "main", f"The key of the bot is {secret}", words=f"key {secret}")
    folder = desk.paths.root / desk.paths.memory("main")
    for file in folder.rglob("*"):
        assert not file.is_file() or "sk-ant" not in file.read_text("utf-8")


def test_two_agents_that_forget_in_each_others_memory_wait_for_nobody_for_ever(desk: Desk) -> None:
    for agent in ("main", "dexter"):
        for number in range(6):
            desk.requests.remember(Caller("person"), agent, f"Keeps secret thing {number}")

    def forgets(caller: str, target: str) -> None:
        for number in range(6):
            me = Caller("agent", caller)
            desk.requests.forget(me, target, f"secret thing {number}", words=f"forget it {number}")

    pairs = (("main", "dexter"), ("dexter", "main"))
    threads = [threading.Thread(target=forgets, args=pair, daemon=True) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)


def test_without_the_persons_words_the_evidence_is_the_agents_own_wording(desk: Desk) -> None:
    desk.requests.remember(MAIN, "main", "Likes tea", words="remember that I like tea")
    desk.requests.remember(MAIN, "main", "Likes pie")
    assert [message.role for message in desk.messages()] == ["user", "assistant"]


def test_an_agent_that_may_not_forget_hides_nothing_either(desk: Desk) -> None:
    identity = desk.paths.root / desk.paths.identity("main")
    identity.parent.mkdir(parents=True)
    identity.write_text("---\nautonomy: 1\n---\n", "utf-8")
    with pytest.raises(NotAllowed):
        desk.gate.hide("main", [MessageRef("main", "2026-02-20_001", "m1")], MAIN)


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("the dentist is tomorrow", "the dentist is tomorrow (2026-02-21)"),
        ("jutro mam dentystę", "jutro (2026-02-21) mam dentystę"),
        ("завтра у меня врач", "завтра (2026-02-21) у меня врач"),
        ("we fly next week", "we fly next week (2026-02-23 to 2026-03-01)"),
        ("we will meet on Friday", "we will meet on Friday (2026-02-27)"),
        ("I retire in two weeks", "I retire in two weeks (2026-03-03 to 2026-03-09)"),
        ("I row on Tuesday", "I row on Tuesday"),
        ("never push on Fridays", "never push on Fridays"),
        ("my birthday is 3 May", "my birthday is 3 May"),
        ("my favourite film is Yesterday", "my favourite film is Yesterday"),
        ("the exam is tomorrow (2026-02-21)", "the exam is tomorrow (2026-02-21)"),
    ],
)
def test_a_relative_date_is_stored_with_what_it_means(desk: Desk, said: str, stored: str) -> None:
    desk.requests.remember(PERSON, "main", said)
    assert [fact.text for fact in desk.facts()] == [stored]


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("I like tea and that Ola likes coffee", ["I like tea", "Ola likes coffee"]),
        ("lubię herbatę i że Ola lubi kawę", ["lubię herbatę", "Ola lubi kawę"]),
        ("люблю чай и что Оля любит кофе", ["люблю чай", "Оля любит кофе"]),
        ("I met Ola and that guy from work", ["I met Ola and that guy from work"]),
        (
            "Marek says that he sings and that Ola dances",
            ["Marek says that he sings and that Ola dances"],
        ),
    ],
)
def test_x_and_that_y_is_two_facts_with_one_evidence(
    desk: Desk, said: str, stored: list[str]
) -> None:
    outcome = desk.requests.remember(MAIN, "main", said, words=f"Remember that {said}")
    assert [fact.text for fact in desk.facts()] == stored
    assert all(one in outcome.message for one in stored)
    assert len(desk.messages()) == 1
    assert len({fact.evidence for fact in desk.facts()}) == 1
