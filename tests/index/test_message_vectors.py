"""How short a message with a vector may be is configured, and a change of it is made good."""

from __future__ import annotations

from pathlib import Path

from tests.index.test_sync import Desk
from vaultmind.index.storage.database import NOT_EMBEDDED, WAITING
from vaultmind.types import Message
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

SESSION = "VaultMind/agents/main/memory/sessions/2026-03-01_001.md"
SAID = (
    Message("user", "Birch wood, please.", "", block="m1"),
    Message(
        "assistant", "Birch it is: he wrote every night about the northern sea.", "", block="m2"
    ),
    Message("tool", "Grep found the keeper who wrote every night about the sea.", "", block="m3"),
)


def waiting(desk: Desk, least: int) -> dict[object, object]:
    """Return by block whether a chunk gets a vector, as a process with such a rule indexes it."""
    sync = desk.new_sync(desk.sync._reader)
    sync.min_message_tokens = least
    sync.reconcile()
    return dict(desk.rows("SELECT block, embedded FROM chunks ORDER BY ordinal"))


def test_shorter_messages_get_no_vector_and_another_rule_indexes_anew(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    meta = SessionMeta("2026-03-01_001", "main", "2026-03-01T10:00:00+01:00")
    desk.write(SESSION, render_header(meta) + "".join(render_message(one) for one in SAID))
    long = {"m2": WAITING, "m3": NOT_EMBEDDED}
    assert waiting(desk, 10) == {"m1": NOT_EMBEDDED, **long}
    assert waiting(desk, 3) == {"m1": WAITING, **long}
    assert waiting(desk, 10) == {"m1": NOT_EMBEDDED, **long}
    before = desk.database.version
    assert waiting(desk, 10) == {"m1": NOT_EMBEDDED, **long}
    assert desk.database.version == before
