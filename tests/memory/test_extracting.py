"""What extraction may write through the gate, what it may only suggest, and what is told of it."""

from __future__ import annotations

import pytest

from tests.memory.conftest import MAIN, House, read_audit
from vaultmind.errors import WriteFailed
from vaultmind.memory.audit import DROP, newest_first, session_of
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.forget.hiding import Tombstones
from vaultmind.memory.gate import MOST_DROPS
from vaultmind.memory.suggestions import AT_ONCE
from vaultmind.types import PERSON, Message, MessageRef, Outcome
from vaultmind.vault.files import Change, FileText
from vaultmind.vault.transcript import render_message
from vaultmind.vault.writer import VaultWriter

BRAIN = "VaultMind/agents/main/memory/brain.md"
OLD, NEW = "2026-01-10_001", "2026-02-10_001"


def ref(block: str = "m1", session: str = NEW, agent: str = "main") -> MessageRef:
    return MessageRef(agent, session, block)


def keep(house: House, text: str, evidence: MessageRef | None = None, **more: object) -> Outcome:
    """Write a fact as consolidation does."""
    said = evidence or ref()
    more = {"caller": MAIN, "how": "extracted", "evidence": said, **more}
    return house.remember(text, said_on=said.session[:10], **more)


def facts(house: House, agent: str = "main") -> list[str]:
    path = house.file(house.paths.brain(agent))
    return [one.text for one in parse_brain(path.read_text()).all()] if path.exists() else []


def waiting(house: House) -> list[str]:
    return [one.write.text for one in house.gate.queue.listed()]


def dropped(house: House, session: str = "") -> list[tuple[str, str]]:
    found = [*newest_first(house.paths, house.paths.agent_names(), (DROP,))][::-1]
    return [(one.after, one.reason) for one in found if session in ("", session_of(one))]


def talk(house: House, session: str, *said: str, agent: str = "main") -> None:
    """Write a session of the user's messages, a minute apart."""
    day = session[:10]
    blocks = [
        render_message(
            Message("user", text, f"{day}T10:{at:02}:00+01:00", id=f"D{at}", block=f"m{at}")
        )
        for at, text in enumerate(said, 1)
    ]
    house.put(
        house.paths.session(agent, session), f"---\nagent: {agent}\n---\n\n" + "\n".join(blocks)
    )


# --- rights -------------------------------------------------------------------------------


def test_extraction_forgets_and_hides_nothing_that_no_fact_says(house: House) -> None:
    house.indexer.messages = [(ref(), "The silver Ducato is sold.")]
    done = house.forget("silver Ducato", caller=MAIN, how="extracted")
    assert (done.outcome, done.hidden_messages) == ("not_found", 0)


def test_the_person_who_starts_it_gives_extraction_no_more_rights_than_the_agent_has(
    house: House,
) -> None:
    house.put(house.paths.identity("main"), "---\nautonomy: 1\n---\n")
    assert keep(house, "Works in Gdynia", caller=PERSON).outcome == "suggested"
    house.put(house.paths.identity("main"), "---\nautonomy: 0\n---\n")
    assert keep(house, "Likes tea", caller=PERSON).outcome == "denied"


# --- what comes late ----------------------------------------------------------------------


def test_within_one_conversation_the_later_message_counts_whatever_comes_first(
    house: House,
) -> None:
    talk(house, NEW, "The deadline of Hermes is 10 March.", "The deadline of Hermes is 14 March.")
    keep(house, "The deadline of Hermes is 14 March", ref("m2"))
    keep(house, "The deadline of Hermes is 10 March", ref("m1"))
    assert facts(house) == ["The deadline of Hermes is 14 March"]


def test_what_no_fact_said_and_was_forgotten_is_not_brought_back_either(house: House) -> None:
    talk(house, OLD, "I am allergic to hazelnuts.")
    talk(house, "2026-01-12_001", "As I said, hazelnuts: allergic, sadly.")
    house.indexer.messages = [(ref("m1", OLD), "I am allergic to hazelnuts.")]
    assert house.forget("allergic to hazelnuts").outcome == "written"
    done = keep(house, "Is allergic to hazelnuts", ref("m1", "2026-01-12_001"))
    assert (done.outcome, facts(house)) == ("denied", [])


# --- what was dropped ---------------------------------------------------------------------


def test_a_session_that_drops_a_hundred_gets_twenty_lines_once(house: House) -> None:
    keep(house, "Likes tea")
    told = [(f"Thing {n}", "passing" if n % 4 else "question", (f"m{n}",)) for n in range(100)]
    for _ in range(2):
        house.gate.dropped("main", NEW, told, MAIN)
        assert len(dropped(house)) == MOST_DROPS


# --- suggestions --------------------------------------------------------------------------


def test_suggestions_of_extraction_never_flood_the_file(house: House) -> None:
    house.put(house.paths.identity("main"), "---\nautonomy: 1\n---\n")
    for n in range(AT_ONCE + 5):
        keep(house, f"Likes drink {n}{n}{n}", ref("m1", f"2026-02-10_{n:03}"))
    assert len(waiting(house)) == AT_ONCE
    assert len(dropped(house)) == 5


# --- limits and company -------------------------------------------------------------------


@pytest.mark.parametrize("op", ["remember", "forget"])
def test_a_kill_between_two_files_loses_no_fact_and_hides_what_was_forgotten(
    house: House, monkeypatch: pytest.MonkeyPatch, op: str
) -> None:
    house.indexer.messages = [(ref("m1", OLD), "I live in Warsaw.")]
    house.remember("Lives in Warsaw", evidence=ref("m1", OLD))
    edit = VaultWriter.edit

    def dying(writer: VaultWriter, relative: str, change: Change) -> None:
        edit(writer, relative, change)
        if relative == BRAIN:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(VaultWriter, "edit", dying)
        with pytest.raises(KeyboardInterrupt):
            house.remember("Lives in Gdynia") if op == "remember" else house.forget("Warsaw")
    if op == "remember":
        assert facts(house) == ["Lives in Gdynia"]
        assert house.remember("Lives in Gdynia").outcome == "unchanged"
        assert "Lives in Warsaw" in house.file(house.paths.archive("main")).read_text()
    else:
        assert facts(house) == [] and Tombstones(house.paths).hides("main", OLD, "m1")


def test_a_change_that_failed_is_not_made_later(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.remember("Lives in Warsaw")
    brain, edit = house.brain(), VaultWriter.edit

    def full(writer: VaultWriter, relative: str, change: Change) -> object:
        def failing(file: FileText | None) -> str | None:
            if change(file) is not None and relative == BRAIN:
                raise WriteFailed("No space left on device.")
            return change(file) if relative != BRAIN else None

        return edit(writer, relative, failing)

    with monkeypatch.context() as patched:
        patched.setattr(VaultWriter, "edit", full)
        with pytest.raises(WriteFailed):
            house.remember("Lives in Gdynia")
    assert house.brain() == brain
    assert read_audit(house.paths, "main")[-1].outcome == "unchanged"
    assert house.remember("Lives in Gdynia").before == "Lives in Warsaw"
    assert house.file(house.paths.archive("main")).read_text().count("Lives in Warsaw") == 1


def test_nothing_is_written_where_the_audit_cannot_be(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise WriteFailed("No space left on device.")

    keep(house, "Owns a boat", ref("m2"))
    with monkeypatch.context() as patched:
        patched.setattr(house.gate.audit, "append", full)
        with pytest.raises(WriteFailed):
            keep(house, "Plays chess", ref("m1"))
        assert facts(house) == ["Owns a boat"]
