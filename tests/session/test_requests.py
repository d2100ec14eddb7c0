"""What is asked for is written down as evidence first; what is forgotten is not said again."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from tests.session.samples import EveryMessage, Marked
from vaultmind.errors import BadArgument
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.forget.kinds import Messages
from vaultmind.memory.forget.tombstones import Tombstones
from vaultmind.memory.gate import Gate
from vaultmind.memory.rights import Authority, Grants
from vaultmind.memory.writing import GateSettings
from vaultmind.session.files import session_ids
from vaultmind.session.log import SessionLog
from vaultmind.session.voice.requests import Requests
from vaultmind.types import Caller, Fact, Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

NOON = datetime(2026, 2, 20, 12, 0, 0, tzinfo=UTC)
MAIN = Caller("agent", "main", "test")


class Desk:
    """A gate, its sessions and the requests made of them, over a real vault."""

    def __init__(self, paths: VaultPaths, reader: VaultReader) -> None:
        self.paths, self.reader = paths, reader
        gate = self.gate = Gate(
            paths,
            GateSettings("test", rng=random.Random(1)),
            (Messages(EveryMessage(reader)),),
            Marked(),
            Authority(reader, Grants(paths.root.parent / "grants.json", paths.root)),
            lambda: NOON,
        )
        self.sessions = SessionLog(gate, reader, lambda: NOON, idle_minutes=30)
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


def test_a_request_that_comes_to_nothing_leaves_no_words_behind(desk: Desk) -> None:
    desk.requests.remember(MAIN, "main", "Has a cat called Bułka")
    assert desk.requests.forget(MAIN, "main", "the quarrel with Miriam").outcome == "not_found"
    assert desk.requests.remember(MAIN, "main", "has a cat called Bułka").outcome == "unchanged"
    assert desk.requests.replace(MAIN, "main", "Has a dog", "Has a parrot").outcome == "not_found"
    assert [message.text for message in desk.messages()] == ["Has a cat called Bułka"]


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
