"""A summary's file that may not be read takes the summary alone from a context."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.fakes import HashEmbedder
from vaultmind.app import open_app
from vaultmind.config import Flags, load_config
from vaultmind.session.context.parts import BuildRequest
from vaultmind.types import PERSON, Message

NOON = datetime(2026, 2, 20, 12, tzinfo=UTC)


def test_a_summary_that_is_a_link_leaves_the_messages_and_is_told(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    env = {
        "VAULTMIND_STATE_DIR": str(tmp_path / "state"),
        "VAULTMIND_CONFIG": str(tmp_path / "none.toml"),
    }
    app = open_app(
        load_config(Flags(vault=str(vault)), env=env),
        clock=lambda: NOON + timedelta(hours=1),
        embedder=HashEmbedder(),
    )
    try:
        said = [
            Message("user", f"House {n} is painted in colour {n * 7}.", NOON.isoformat(), f"u{n}")
            for n in range(50)
        ]
        session = app.sessions.log_many("main", said, conversation="c:1").session
        outside = tmp_path / "outside.md"
        outside.write_text("The words of another file.")
        path = app.paths.root / app.paths.rolling("main", session)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(outside)
        request = BuildRequest("main", session=session, pending=("House 49?",))
        for _ in range(2):
            built = app.builder.build(request, PERSON)
            texts = "\n".join(part.text for part in built.parts)
            assert "colour 343" in texts
            assert "another file" not in texts
            assert sum("summary" in note for note in built.notes) >= 1
        assert outside.read_text() == "The words of another file."
    finally:
        app.close()
