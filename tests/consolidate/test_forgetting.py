"""What was forgotten or erased leaves what conversations were made into, and does not come back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.memory.conftest import House
from tests.serve.vaults import config_of
from vaultmind.app import App, open_app
from vaultmind.config.settings import ConsolidationConfig, LevelsConfig
from vaultmind.consolidate.types import Consolidated, Request
from vaultmind.memory.audit import ASKED, newest_first
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.forget.hiding import Tombstones
from vaultmind.types import PERSON, MemoryWrite, Message, MessageRef, Outcome
from vaultmind.vault.parts import parts

FOLDER = "VaultMind/agents/main/memory"
SESSION = f"{FOLDER}/sessions/2026-02-20_001"
SOURCE = MessageRef("main", "2026-02-20_001", "m7")
L1 = f"""---
sessions: ["[[{SESSION}]]"]
created: 2026-02-21T10:00:00+01:00
token_count: 60
by: extractive
language: en
---
# What was talked about

Anna planned the trip to Gdynia on 2026-03-14. [[{SESSION}#^m3|source]] ^p1

Anna is allergic to hazelnuts. [[{SESSION}#^m7|source]] ^p2

The doctor found that hazelnuts are what Anna must not eat, being allergic. [[{SESSION}#^m7|source]]

The bakery sells hazelnuts again. [[{SESSION}#^m9|source]] ^p4
"""
L2 = f"""---
l1_summaries: ["[[{FOLDER}/summaries/L1/L1_001]]"]
---
# Winter

An allergic Anna now bakes without hazelnuts. [[{FOLDER}/summaries/L1/L1_001#^p2|source]] ^q1

Trips to the sea. [[{FOLDER}/summaries/L1/L1_001#^p1|source]] ^q2
"""
FACT = "Anna is allergic to hazelnuts"


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def shown(house: House, path: str) -> list[str]:
    """Return the parts of a summary that are not hidden."""
    stones, record = Tombstones(house.paths), path.removesuffix(".md")
    text = house.file(path).read_text()
    return [one.text for one in parts(text) if not stones.hides("main", record, one.block)]


def put_levels(house: House) -> tuple[str, str]:
    one, two = f"{FOLDER}/summaries/L1/L1_001.md", f"{FOLDER}/summaries/L2/L2_001.md"
    house.put(one, L1)
    house.put(two, L2)
    return one, two


# --- forgetting ---------------------------------------------------------------------------


def test_a_forgotten_fact_leaves_l1_and_l2_in_other_words_too_until_an_undo(house: House) -> None:
    one, two = put_levels(house)
    house.remember(FACT, evidence=SOURCE)
    done = house.forget(FACT)
    assert "3 summary paragraphs" in done.message
    assert [text[:18] for text in shown(house, one)] == ["Anna planned the t", "The bakery sells h"]
    assert [text[:18] for text in shown(house, two)] == ["Trips to the sea. "]
    assert house.file(one).read_text().count("source]]") == 4, "nothing of the text is lost"
    forgotten = next(newest_first(house.paths, ("main",), ASKED)).id
    assert house.gate.undo("main", forgotten, PERSON).outcome == "written"
    assert (len(shown(house, one)), len(shown(house, two))) == (4, 2)


# --- with all the parts -------------------------------------------------------------------


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = datetime(2026, 2, 20, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Sleep:
    """An app whose conversations end and are consolidated when a test says so."""

    app: App
    clock: Clock

    def talk(self, agent: str, *said: str) -> str:
        """Log a conversation an hour after the last one, end it and return its id."""
        self.clock.now += timedelta(hours=1)
        session = ""
        for text in said:
            self.clock.now += timedelta(minutes=1)
            session = self.app.sessions.log(agent, Message("user", text, "")).session
            self.app.sessions.log(agent, Message("assistant", "I see, thank you.", ""))
        self.app.sessions.end(agent)
        self.app.index.refresh([self.app.paths.session(agent, session)])
        return session

    def fall_asleep(self, agent: str, again: str = "") -> Consolidated:
        """Consolidate what waits, or one thing anew; nothing of it may have failed."""
        self.clock.now += timedelta(minutes=1)
        done = self.app.consolidation.run(Request(agent=agent, again=again), PERSON)
        assert not any(one.pending for one in done.sessions), done
        return done

    def forget(self, agent: str, text: str) -> Outcome:
        self.clock.now += timedelta(minutes=1)
        return self.app.gate.write(MemoryWrite("forget", agent, PERSON, text))

    def facts(self, agent: str) -> str:
        """Return all that an agent's brain and archive say, in small letters."""
        paths = (self.app.paths.brain(agent), self.app.paths.archive(agent))
        files = [self.app.paths.root / path for path in paths]
        texts = [path.read_text() for path in files if path.exists()]
        return "\n".join(one.text for text in texts for one in parse_brain(text).all()).casefold()

    def recalled(self, agent: str) -> str:
        """Return all that summaries and the active context may still say, in small letters."""
        root, hides = self.app.paths.root, self.app.tombstones.hides
        folder = root / self.app.paths.memory(agent)
        found = []
        for path in (folder / "active_context.md", *sorted((folder / "summaries").rglob("*.md"))):
            record = self.app.paths.relative(path).removesuffix(".md")
            for part in parts(path.read_text()) if path.exists() else ():
                found += [] if hides(agent, record, part.block) else [part.text]
        return "\n".join(found).casefold()

    def holders(self, agent: str, word: str) -> list[str]:
        """Return the files of an agent's memory whose text holds a word."""
        folder = self.app.paths.root / self.app.paths.memory(agent)
        files = [path for path in folder.rglob("*") if path.is_file()]
        return [path.name for path in files if word in path.read_text(errors="replace").casefold()]


@pytest.fixture(scope="module")
def sleep(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sleep]:
    folder = tmp_path_factory.mktemp("forgetting")
    for agent in ("ada", "bob", "cyd", "dan"):
        identity = folder / f"vault/VaultMind/agents/{agent}/identity.md"
        identity.parent.mkdir(parents=True)
        identity.write_text(f"---\nlanguage: en\n---\nYou are {agent}.\n")
    config = replace(
        config_of(folder),
        consolidation=ConsolidationConfig(auto=False),
        levels=LevelsConfig(l1_sessions=2, l2_summaries=2),
    )
    clock = Clock()
    app = open_app(config, clock=clock)
    app.start()
    try:
        assert app.index.wait_ready(30, vectors=True)
        yield Sleep(app, clock)
    finally:
        app.close()


SHED = "We decided to rebuild the garden shed from larch for 4200 euros."
BEES = "My neighbour Ulla keeps bees behind the church in Lund."


def test_consolidating_again_after_a_forget_brings_nothing_back(sleep: Sleep) -> None:
    first = sleep.talk("ada", "I have a cat named Filemon.", SHED)
    second = sleep.talk("ada", BEES, "I prefer short answers.")
    made = sleep.fall_asleep("ada").summaries
    assert [one.id for one in made] == ["L1_001"]
    assert "filemon" in sleep.facts("ada") and "filemon" in sleep.recalled("ada")
    assert sleep.forget("ada", "cat named Filemon").outcome == "written"
    assert "filemon" not in sleep.facts("ada") + sleep.recalled("ada")
    for again in (first, second, "", first):
        sleep.fall_asleep("ada", again)
        assert "filemon" not in sleep.facts("ada") + sleep.recalled("ada"), again
    assert "bees" in sleep.recalled("ada") and "short answers" in sleep.facts("ada")
    assert sleep.app.gate.queue.waiting("ada") == 0


def test_an_ended_conversation_does_not_bring_back_what_was_forgotten_before_it_was_read(
    sleep: Sleep,
) -> None:
    sleep.app.gate.write(MemoryWrite("remember", "bob", PERSON, "Has a dog named Azor"))
    sleep.talk("bob", "I have a dog named Azor.", SHED)
    sleep.talk("bob", "I've had a dog, he is named Azor, for two years now.", "I live in Malmö.")
    assert sleep.forget("bob", "dog named Azor").outcome == "written"
    sleep.fall_asleep("bob")
    assert "azor" not in sleep.facts("bob") and "malmö" in sleep.facts("bob")
    assert sleep.app.gate.queue.waiting("bob") == 0
    sleep.talk("bob", "My new dog is called Azor.")
    sleep.fall_asleep("bob")
    assert "azor" in sleep.facts("bob"), "said anew, it is remembered"


def test_a_fact_that_a_hand_took_out_of_the_brain_is_not_written_again(sleep: Sleep) -> None:
    session = sleep.talk("dan", "I am a beekeeper in Lund.", SHED)
    sleep.fall_asleep("dan")
    assert "beekeeper" in sleep.facts("dan")
    (sleep.app.paths.root / sleep.app.paths.brain("dan")).write_text("# Dan\n")
    again = sleep.fall_asleep("dan", session)
    assert again.sessions[0].facts and "beekeeper" not in sleep.facts("dan")


def test_consolidating_again_after_an_erasure_brings_nothing_back(sleep: Sleep) -> None:
    sessions = [
        sleep.talk("cyd", "I'm allergic to hazelnuts.", SHED),
        sleep.talk("cyd", "Hazelnuts are in every cake here, which I hate.", BEES),
        sleep.talk("cyd", "I work at a shipyard in Gdynia.", "Ulla gave me honey from her bees."),
        sleep.talk("cyd", "Maybe I eat hazelnuts one day, who knows?", "I prefer tea to coffee."),
    ]
    sleep.app.gate.dropped("cyd", sessions[3], [("Eats hazelnuts", "passing", ())], PERSON)
    made = sleep.fall_asleep("cyd").summaries
    assert [one.id for one in made] == ["L1_001", "L1_002", "L2_001"]
    assert sleep.holders("cyd", "hazelnut")
    erased = sleep.app.gate.erasing.erase("hazelnuts", PERSON, sleep.app.index.erasing)
    assert erased.outcome == "erased", erased
    assert sleep.holders("cyd", "hazelnut") == []
    for again in (*sessions, ""):
        sleep.fall_asleep("cyd", again)
        assert sleep.holders("cyd", "hazelnut") == [], again
    assert "shipyard" in sleep.facts("cyd") and "bees" in sleep.recalled("cyd")
