"""memory/gate/approving: applied once, as it stands, by the person alone; nothing is lost."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

import pytest

from tests.memory.conftest import MAIN, House, read_audit
from vaultmind.errors import NotAllowed, NotFound
from vaultmind.memory.audit import AuditLine
from vaultmind.types import PERSON, MessageRef

BRAIN = "VaultMind/agents/main/memory/brain.md"
SUGGESTIONS = "VaultMind/Suggestions.md"
REF = MessageRef("main", "2026-02-20_001", "m7")


@pytest.fixture
def shy(tmp_path: Path) -> House:
    """Return a house whose agents may only suggest."""
    house = House(tmp_path, level=1)
    house.put(BRAIN, "# Main\n\n## Preferences\n\n- Drinks coffee black ^aaaa\n")
    return house


def suggest(house: House, text: str, **more: object) -> str:
    done = house.remember(text, caller=MAIN, **more)
    assert done.outcome == "suggested", done
    return done.block


def edit(house: House, *pairs: tuple[str, str]) -> None:
    path = house.file(SUGGESTIONS)
    text = path.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text)


def tick(house: House, words: str, mark: str = "x") -> None:
    path = house.file(SUGGESTIONS)
    new = re.sub(rf"\[.\](?=.*{re.escape(words)})", f"[{mark}]", path.read_text(), count=1)
    path.write_text(new)


def audit(house: House) -> list[AuditLine]:
    return list(read_audit(house.paths, "main"))


def test_a_tick_writes_what_stands_there_with_its_evidence_and_names_both(shy: House) -> None:
    id_ = suggest(shy, "Likes tea", evidence=REF, reason="said twice", section="preferences")
    assert "tea" not in shy.brain()
    edit(shy, ("Likes tea", "Likes green tea"))
    tick(shy, "green tea")
    (done,) = shy.gate.queue.settle()
    assert (done.outcome, done.fact, done.section) == ("written", "Likes green tea", "preferences")
    assert (
        "Likes green tea %%2026-02-20 said [[VaultMind/agents/main/memory/sessions/" in shy.brain()
    )
    line = audit(shy)[-1]
    assert (line.caller, line.client, line.outcome, line.after) == (
        "person", "obsidian", "written", "Likes green tea",
    )  # fmt: skip
    assert f"suggested by main, approved in Suggestions.md (^{id_}): said twice" in line.reason
    assert line.evidence.endswith("2026-02-20_001#^m7")
    text = shy.file(SUGGESTIONS).read_text()
    assert "green tea" not in text
    assert shy.gate.queue.settle() == () and shy.gate.queue.waiting() == 0


def test_a_rejected_one_is_settled_audited_and_does_not_come_back(shy: House) -> None:
    suggest(shy, "Likes rum")
    tick(shy, "Likes rum", "-")
    (done,) = shy.gate.queue.settle()
    assert done.outcome == "unchanged" and "rum" not in shy.brain()
    line = audit(shy)[-1]
    assert (line.caller, line.op, line.outcome, line.after) == (
        "person", "remember", "rejected", "Likes rum",
    )  # fmt: skip
    again = shy.remember("likes RUM!", caller=MAIN)
    assert again.outcome == "denied" and shy.gate.queue.waiting() == 0


@pytest.mark.parametrize("op", ["remember", "replace", "forget"])
def test_a_crash_after_a_tick_was_applied_writes_nothing_twice(shy: House, op: str) -> None:
    {
        "remember": lambda: suggest(shy, "Likes tea"),
        "replace": lambda: shy.replace("Drinks coffee black", "Takes milk in it", caller=MAIN),
        "forget": lambda: shy.forget("Drinks coffee black", caller=MAIN),
    }[op]()
    tick(shy, "**main** wants to")
    before = shy.file(SUGGESTIONS).read_text()
    assert [one.outcome for one in shy.gate.queue.settle()] == ["written"]
    brain = shy.brain()
    shy.file(SUGGESTIONS).write_text(before)  # as a kill before the second step leaves it
    anew = House(shy.paths.root, level=1)
    assert [one.outcome for one in anew.gate.queue.settle()] == [
        "unchanged" if op == "remember" else "not_found"
    ]
    assert anew.brain() == brain and anew.gate.queue.settle() == ()
    assert anew.gate.queue.waiting() == (op != "remember")


@pytest.mark.parametrize(
    ("op", "agent", "text", "why"),
    [
        ("remember", "main", "long " * 250, "1 to 1000 characters"),
        ("remember", "main", "!!", "1 to 1000 characters"),
        ("remember", "nobody", "Tea", "no agent named nobody"),
        ("remember", "main", f"ghp_{'a1B2' * 9}", "but a secret"),
        ("forget", "main", "Unicorns in the garden", "says “Unicorns"),
    ],
)
def test_a_tick_that_asks_for_the_impossible_changes_nothing(
    shy: House, op: str, agent: str, text: str, why: str
) -> None:
    brain = shy.brain()
    meta = json.dumps({"op": op, "agent": agent, "by": agent})
    line = f"- [x] **{agent}** wants to {op}: {text} %%{meta}%%"
    shy.put(SUGGESTIONS, f"# Suggestions\n\n{line}\n- mine\n")
    assert [one.outcome in ("not_found", "denied") for one in shy.gate.queue.settle()] == [True]
    assert shy.gate.queue.settle() == ()
    said = shy.file(SUGGESTIONS).read_text()
    assert shy.brain() == brain and said.startswith(
        f"# Suggestions\n\n{line.replace('[x]', '[ ]')}\n"
    )
    assert said.endswith("\n- mine\n") and why in said
    assert not shy.file("VaultMind/agents/nobody").exists()


def test_only_the_person_answers(shy: House) -> None:
    id_ = suggest(shy, "Likes tea")
    for accept in (True, False):
        with pytest.raises(NotAllowed, match="main may not approve anything"):
            shy.gate.queue.answer(id_, accept, MAIN)
    assert shy.gate.queue.waiting() == 1 and "tea" not in shy.brain()
    done = shy.gate.queue.answer(f"^{id_}", True, PERSON)
    assert done.outcome == "written" and "Likes tea" in shy.brain()
    assert audit(shy)[-1].client == "cli"
    assert f"suggested by main, approved on the command line (^{id_})" in audit(shy)[-1].reason
    with pytest.raises(NotFound, match="suggestions list"):
        shy.gate.queue.answer(id_, True, PERSON)
    other = suggest(shy, "Likes rum").removeprefix("s-")
    assert "not be suggested again" in shy.gate.queue.answer(other, False, PERSON).message


def test_half_a_save_is_not_taken_for_the_persons_words(shy: House) -> None:
    suggest(shy, "Likes tea, but never after six in the evening")
    tick(shy, "Likes tea")
    path = shy.file(SUGGESTIONS)
    whole = path.read_text()
    cut = whole.index("never after")
    settler = threading.Thread(target=shy.gate.queue.settle)
    with path.open("w") as file:  # as Obsidian saves: emptied first, then written
        file.write(whole[:cut])
        file.flush()
        settler.start()
        settler.join(0.1)
        assert "tea" not in shy.brain()
        file.write(whole[cut:])
    settler.join()
    shy.gate.queue.settle()
    assert "- Likes tea, but never after six in the evening %%" in shy.brain()
    assert shy.brain().count("Likes tea") == 1


def test_what_is_ticked_waits_while_the_brain_is_damaged(shy: House) -> None:
    suggest(shy, "Likes tea")
    shy.put(BRAIN, b"\xff\xfe broken")
    tick(shy, "Likes tea")
    assert shy.gate.queue.settle() == ()
    text = shy.file(SUGGESTIONS).read_text()
    assert "[x] **" in text and "Likes tea" in text
    shy.put(BRAIN, "- Plays chess\n")
    assert [one.outcome for one in shy.gate.queue.settle()] == ["written"]
    assert "Likes tea" in shy.brain()
