"""A kill between any two steps of a consolidation: the next run makes everything whole."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.consolidate.sleeping import EVENING, MORNING, Bed, ByRules
from tests.memory.conftest import read_audit
from vaultmind.consolidate.types import Request
from vaultmind.types import PERSON

WRITES = ("write", "save", "dropped")


class Killed(BaseException):
    """A kill -9."""


class Dying:
    """The real gate up to a call, before which it dies: after the one before it, that is."""

    def __init__(self, gate: Any, at: int = 0) -> None:
        self._gate = gate
        self._at = at
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._gate, name)
        if name not in WRITES:
            return real

        def call(*args: Any, **more: Any) -> Any:
            self.calls += 1
            if self.calls == self._at:
                raise Killed
            return real(*args, **more)

        return call


def _bed(root: Path) -> Bed:
    root.mkdir()
    bed = Bed(root.resolve())
    bed.talk(*MORNING)
    bed.talk(*EVENING)
    bed.talk("Please forget that I drink my coffee black.", "The shed needs a new roof.")
    return bed


def _copied(bed: Bed, root: Path) -> Bed:
    shutil.copytree(bed.paths.root, root)
    return Bed(root.resolve())


def _left(bed: Bed) -> dict[str, Any]:
    """Return all that a consolidation leaves, but ids made by chance and times."""
    lines = read_audit(bed.paths, "main")
    told = [one for one in lines if one.op in ("remember", "replace", "forget", "drop")]
    done = [one for one in told if one.outcome not in ("begun", "suggested")]
    kept = Counter((one.op, one.before, one.after) for one in done)
    waiting = bed.file(bed.paths.suggestions)
    sessions = [one.id for one in bed.log.heads("main")]
    folder = bed.file(f"{bed.paths.summaries('main')}/L1")
    return {
        "facts": bed.facts(),
        "waiting": waiting.read_text("utf-8").count("- [ ]") if waiting.exists() else 0,
        "told": {what: number for what, number in kept.items() if what[0] != "forget"},
        "marks": [(bed.meta(one).pending, bool(bed.meta(one).consolidated)) for one in sessions],
        "in": [bed.meta(one).summarised_in for one in sessions],
        "L1": [one.read_text("utf-8").partition("\n---\n")[2] for one in folder.glob("*.md")],
        "active": bed.active(),
    }


def test_a_kill_at_every_call_of_the_gate_is_mended_and_nothing_is_there_twice(
    tmp_path: Path,
) -> None:
    asleep = _bed(tmp_path / "asleep")
    whole = _copied(asleep, tmp_path / "whole")
    gate, rules = Dying(whole.gate), ByRules()
    whole.asleep(rules, gate, levels=3).run(Request(), PERSON)
    wanted = _left(whole)
    assert len(wanted["facts"]) >= 2 and len(wanted["L1"]) == 1, wanted
    assert gate.calls >= 10
    for at in range(1, gate.calls + 1):
        bed = _copied(asleep, tmp_path / f"at{at}")
        with pytest.raises(Killed):
            bed.asleep(rules, Dying(bed.gate, at), levels=3).run(Request(), PERSON)
        bed.asleep(rules, levels=3).run(Request(), PERSON)
        assert _left(bed) == wanted, f"killed at call {at}"
    before = bed.bytes()
    bed.asleep(rules, levels=3).run(Request(), PERSON)
    assert bed.bytes() == before, "a third run changes nothing"
