"""memory/forget: what an undo shows again is shown by every name, and on every device."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from vaultmind.memory.forget.kinds import Ref, SummaryRef
from vaultmind.memory.forget.tombstones import Hiding, Tombstones, render_tombstones
from vaultmind.types import MessageRef
from vaultmind.vault.paths import VaultPaths

NOW = datetime(2026, 2, 20, 10, 0, 3, 500_000, tzinfo=timezone(timedelta(hours=1)))
DAY = "2026-02-20_001"
WHOLE = MessageRef("main", DAY, "m7", "D1:3")
PART = SummaryRef("main", "VaultMind/agents/main/memory/summaries/L1/L1_001", "p3")


class Synced:
    """The tombstone files of a vault that two devices share."""

    def __init__(self, root: Path) -> None:
        self.paths = VaultPaths(root)
        self.tombstones = Tombstones(self.paths)
        (root / self.paths.memory("main")).mkdir(parents=True)

    def append(self, relative: str, text: str) -> None:
        with (self.paths.root / relative).open("a", encoding="utf-8") as file:
            file.write(text)

    def hide(self, device: str, *refs: Ref, now: datetime = NOW) -> None:
        time = self.tombstones.time_for(refs, now).isoformat(timespec="seconds")
        self.append(self.paths.tombstones("main", device), render_tombstones(refs, time))

    def lift(self, device: str, *refs: Ref, now: datetime = NOW) -> tuple[Ref, ...]:
        hiding = Hiding(self.paths, device, (), self.append, lambda: now)
        return hiding.show(refs)

    def hides(self, ref: Ref = WHOLE) -> bool:
        names = filter(None, [ref.block, ref.id])
        hidden = {self.tombstones.hides("main", ref.session, name) for name in names}
        assert len(hidden) == 1, "a message is hidden by all its names or by none"
        return hidden.pop()


@pytest.fixture
def synced(tmp_path: Path) -> Synced:
    return Synced(tmp_path)


def test_a_lift_shows_a_message_by_each_of_its_names(synced: Synced) -> None:
    synced.hide("phone", WHOLE, PART)
    assert synced.hides() and synced.hides(PART)
    by_block = replace(WHOLE, id="")
    assert synced.lift("laptop", by_block) == (by_block,)
    assert not synced.hides() and synced.hides(PART)
    assert synced.lift("laptop", PART) == (PART,)
    assert not synced.hides(PART)
    assert synced.lift("laptop", WHOLE, PART) == (), "nothing is hidden any more"


def test_a_copy_that_a_sync_program_made_hides_as_well(synced: Synced) -> None:
    name = "tombstones-phone.sync-conflict-20260220-100000-ABCDEF.jsonl"
    folder = synced.paths.memory("main")
    synced.append(f"{folder}/{name}", render_tombstones([WHOLE], "no time"))
    assert synced.hides()
