"""Overview.md is made anew within its marks, and holds nothing that was forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultmind.app import App
from vaultmind.errors import NotFound
from vaultmind.overview import END, keep
from vaultmind.types import PERSON, MemoryWrite, Message


def test_the_overview_tells_what_is_known_and_keeps_what_a_person_wrote(unread_app: App) -> None:
    app = unread_app
    app.init("main", "en", PERSON)
    note = Path(app.config.vault, app.paths.overview)
    note.write_text(f"{note.read_text()}\nMine, below.\n")
    for fact in ("The ferry leaves at nine", "Ola plays chess"):
        app.gate.write(MemoryWrite("remember", "main", PERSON, fact))
    app.sessions.take_in("main", "talk", "", [Message("user", "Which bricks did I order?", "")])
    _made_anew(app)
    assert (text := note.read_text()).endswith(f"{END}\n\nMine, below.\n")
    assert all(one in text for one in ("chess", "|Which bricks", "remembered: **2**", "xychart"))
    app.gate.write(MemoryWrite("forget", "main", PERSON, "Ola plays chess"))
    _made_anew(app)
    assert "chess" not in note.read_text() and "forgotten: **1**" in note.read_text()
    with pytest.raises(NotFound):
        app.index.fetch(app.paths.overview, PERSON)
    note.unlink()
    _made_anew(app)
    assert not note.exists()


def _made_anew(app: App) -> None:
    keep(app._resources(), lambda: app.gain(["main"]), "en")
