"""memory/forget: what an undo shows again is shown by every name, and on every device."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from vaultmind.memory.audit.lines import hidden_ref, ref_text
from vaultmind.memory.forget.kinds import Ref, SummaryRef
from vaultmind.memory.forget.lifting import Lifting
from vaultmind.memory.forget.tombstones import Tombstones, render_tombstones
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
        return Lifting(self.paths, device, self.append).lift(refs, now)

    def hides(self, ref: Ref = WHOLE) -> bool:
        record = ref.summary if isinstance(ref, SummaryRef) else ref.session
        names = [ref.block] if isinstance(ref, SummaryRef) else [ref.block, ref.id]
        hidden = {self.tombstones.hides("main", record, name) for name in names}
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


def test_what_is_forgotten_again_is_hidden_again(synced: Synced) -> None:
    for device in ("phone", "laptop", "phone"):
        synced.hide(device, WHOLE)
        assert synced.hides()
        synced.lift("laptop", WHOLE)
        assert not synced.hides()


def test_the_last_word_counts_though_the_devices_clocks_differ(synced: Synced) -> None:
    behind = NOW - timedelta(hours=1)
    synced.hide("phone", WHOLE)
    synced.lift("laptop", WHOLE, now=behind)
    assert not synced.hides()
    synced.hide("phone", WHOLE, now=behind)
    assert synced.hides()


def test_no_lift_shows_what_was_erased(synced: Synced) -> None:
    synced.hide("phone", WHOLE)
    time = NOW.isoformat(timespec="seconds")
    line = render_tombstones([WHOLE], time, erased=True)
    synced.append(synced.paths.tombstones("main", "laptop"), line)
    assert synced.lift("laptop", WHOLE) == synced.lift("laptop", replace(WHOLE, id="")) == ()
    later = (NOW + timedelta(days=1)).isoformat(timespec="seconds")
    line = render_tombstones([WHOLE], later, lifted=True)
    synced.append(synced.paths.tombstones("main", "phone"), line)
    assert synced.hides()


def test_a_forgetting_and_a_lift_of_one_second_stay_forgotten(synced: Synced) -> None:
    time = NOW.isoformat(timespec="seconds")
    for device, lifted in (("a", True), ("b", False), ("c", True)):
        text = render_tombstones([WHOLE], time, lifted=lifted)
        synced.append(synced.paths.tombstones("main", device), text)
    assert synced.hides()


@pytest.mark.parametrize("time", ["9999-12-31T23:59:59+00:00", "9999-12-31T23:59:59-14:00"])
def test_a_clock_at_the_end_of_time_stops_neither_hiding_nor_showing(
    synced: Synced, time: str
) -> None:
    broken = synced.paths.tombstones("main", "broken")
    synced.append(broken, render_tombstones([WHOLE], time, lifted=True))
    assert not synced.hides()
    synced.hide("phone", WHOLE)
    assert synced.hides()
    synced.lift("phone", WHOLE)
    assert not synced.hides()
    synced.hide("phone", WHOLE)
    assert synced.hides()


def test_a_copy_that_a_sync_program_made_hides_as_well(synced: Synced) -> None:
    name = "tombstones-phone.sync-conflict-20260220-100000-ABCDEF.jsonl"
    folder = synced.paths.memory("main")
    synced.append(f"{folder}/{name}", render_tombstones([WHOLE], "no time"))
    assert synced.hides()


def test_what_the_audit_names_as_hidden_is_found_again() -> None:
    for ref in (replace(WHOLE, id=""), replace(WHOLE, block=""), PART):
        assert hidden_ref(ref_text(ref)) == ref
    context = SummaryRef("main", "VaultMind/agents/main/memory/active_context", "p1")
    assert hidden_ref(ref_text(context)) == context
    assert hidden_ref("no name") is None


L1 = "VaultMind/agents/main/memory/summaries/L1"
OWN = SummaryRef("main", f"{L1}/L1_001", "p0123abcdef")


def test_a_hidden_paragraph_stays_hidden_where_its_summary_is_renamed_moved_or_copied(
    synced: Synced,
) -> None:
    drawn = replace(OWN, block="k3f9")
    synced.hide("phone", OWN, drawn)
    for name in ("Week in November", "L1_001 (conflict copy)", "../L1_001"):
        assert synced.hides(replace(OWN, summary=f"{L1}/{name}"))
        assert synced.hides(replace(drawn, summary=f"{L1}/{name}"))
    assert not synced.hides(replace(OWN, summary=f"{L1}/L1_002", block="p0123abcdee"))
    assert not synced.tombstones.hides("other", OWN.summary, OWN.block), "another agent's"
    assert synced.lift("laptop", OWN) == (OWN,)
    assert not synced.hides(replace(OWN, summary=f"{L1}/Week in November"))


def test_ids_that_stand_in_every_sliding_summary_or_session_hide_in_their_own_alone(
    synced: Synced,
) -> None:
    rolling = "VaultMind/agents/main/memory/summaries/rolling"
    synced.hide("phone", SummaryRef("main", f"{rolling}/{DAY}", "m7-1"), WHOLE)
    assert not synced.hides(SummaryRef("main", f"{rolling}/2026-02-21_001", "m7-1"))
    for generic in ("D1:3", "7", "msg-7", "conversationmessage-7", "m7"):
        synced.hide("phone", replace(WHOLE, id=generic))
        assert not synced.tombstones.hides("main", "2026-02-21_001", generic), generic
    assert not synced.tombstones.hides("main", f"{L1}/L1_001", "m7"), "a paragraph is no message"


@pytest.mark.parametrize(
    "own",
    [
        "8f1c2f6e-5b1a-4c1e-9d51-0a4b2c3d4e5f",
        "h0123456789ab",
        "2026-02-20_001:3",
        "msg_01XFDUDYJgAACzvnptvVoYEL",
    ],
)
def test_a_hidden_message_stays_hidden_in_a_copy_of_its_session_under_any_name(
    synced: Synced, own: str
) -> None:
    synced.hide("phone", replace(WHOLE, id=own))
    assert synced.tombstones.hides("main", "2026-02-20_009", own)
