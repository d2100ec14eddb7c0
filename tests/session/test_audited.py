"""Records leave a line in the audit when they are opened and when they are closed: no text."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from tests.memory.conftest import NOW, House
from vaultmind.memory.audit import AuditLine, read_audit
from vaultmind.session.log import SessionLog
from vaultmind.types import Message
from vaultmind.vault.files import VaultReader

SECRET = "The lighthouse keeper is called Tadeusz."
PATH = "VaultMind/agents/main/memory/sessions/2026-02-20_001.md"


def log_of(house: House) -> SessionLog:
    return SessionLog(house.gate, VaultReader(house.paths, 0), lambda: NOW, 30)


def lines(house: House) -> list[AuditLine]:
    return list(read_audit(house.paths, "main"))


def opened_and_closed(house: House) -> list[tuple[str, str]]:
    return [(line.reason, line.path) for line in lines(house)]


def test_a_session_that_a_silence_ends_is_audited_as_ended(tmp_path: Path) -> None:
    house = House(tmp_path)
    sessions = log_of(house)
    sessions.log("main", Message("user", SECRET, ""))
    sessions.log("main", Message("user", "Later.", ""), now=NOW + timedelta(hours=2))
    assert [reason for reason, _ in opened_and_closed(house)] == [
        "a session begins",
        "a session begins",
        "what a session leaves for the next",
        "a session ends",
    ]


def test_a_message_that_is_logged_twice_leaves_no_line(tmp_path: Path) -> None:
    house = House(tmp_path)
    sessions = log_of(house)
    message = Message("user", SECRET, "", id="D1:3")
    sessions.log("main", message)
    path = house.file(PATH)
    path.write_text(path.read_text("utf-8").rstrip("\n"), "utf-8")  # a crash, or a person
    sessions.log("main", message)
    log_of(house).log("main", message)
    assert [reason for reason, _ in opened_and_closed(house)].count("a session begins") == 1
    assert path.read_text("utf-8").count("Tadeusz") == 1
