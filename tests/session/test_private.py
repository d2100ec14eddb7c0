"""What stands between <private> tags is in no file of the vault, whichever way it came."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.session.samples import (
    Files,
    claude_conversation,
    claude_message,
    write_json,
    write_lines,
)
from vaultmind.memory.intents import recogniser
from vaultmind.redact import use_patterns
from vaultmind.session.context.start import Beginning, start_context
from vaultmind.session.imports.imports import Importer
from vaultmind.session.lifecycle.lifecycle import SessionLog
from vaultmind.session.voice.show import show
from vaultmind.types import PERSON, Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

NOW = datetime(2026, 2, 20, 10, 0, tzinfo=UTC)


def stored(paths: VaultPaths) -> str:
    """Return every byte of the vault that is a file's."""
    files = [path for path in paths.root.rglob("*") if path.is_file()]
    return "\n".join(path.read_text("utf-8") for path in files)


@pytest.fixture
def own() -> Iterator[None]:
    use_patterns([r"(?i)project falcon"])
    yield
    use_patterns(())


@pytest.mark.parametrize(
    "text",
    [
        "I like tea <private>and gin, zebra</private> a lot",
        "I like tea <PRIVATE>zebra</Private>",
        "I like tea <private>never closed:\n\nzebra\n> zebra\nzebra",
        "I like tea\n<private>\nzebra\n\n```\nzebra\n```\n</private>",
    ],
)
def test_a_private_passage_of_a_message_is_never_written(
    text: str, files: Files, reader: VaultReader, paths: VaultPaths
) -> None:
    log = SessionLog(files, reader, paths, lambda: NOW, 30)
    log.log("main", Message("user", text, "", id="m-1"))
    log.log("main", Message("assistant", text, "", id="m-2"))
    assert "zebra" not in stored(paths)
    assert stored(paths).count("I like tea") == 2
    assert "‹private passage›" in stored(paths)


def test_an_import_leaves_out_what_is_private_or_secret_and_says_so(
    tmp_path: Path, files: Files, reader: VaultReader, paths: VaultPaths
) -> None:
    importer = Importer(files, reader, paths)
    talk = claude_conversation(
        claude_message(1, "human", "Tea. <private>zebra</private> My PIN is 4821."),
        claude_message(2, "assistant", "Noted. <private>zebra"),
        name="Talk of <private>zebra</private>",
    )
    path = write_json(tmp_path / "conversations.json", [talk])
    imported = importer.import_file(path, "main")
    assert imported.messages == 2
    assert imported.redacted == ("PIN", "private passage")
    assert "zebra" not in stored(paths)
    assert "4821" not in stored(paths)
    again = importer.import_file(path, "main")
    assert (again.messages, again.skipped, again.redacted) == (0, 2, ())


def test_json_lines_are_cleaned_by_the_persons_own_patterns_too(
    tmp_path: Path, files: Files, reader: VaultReader, paths: VaultPaths, own: None
) -> None:
    line = {"session": "s", "time": "2026-02-20", "role": "user", "content": "Project Falcon flies"}
    imported = Importer(files, reader, paths).import_file(
        write_lines(tmp_path / "talk.jsonl", line), "main"
    )
    assert imported.redacted == ("own pattern",)
    assert "Falcon" not in stored(paths)
    assert "‹own pattern› flies" in stored(paths)


BRAIN = """# Main

## User

- Is called Anna
- My PIN is 4821 ^pin1
- Likes tea <private>and
- zebras</private>
"""


def test_what_a_person_typed_as_private_into_a_brain_is_told_to_nobody(
    reader: VaultReader, paths: VaultPaths
) -> None:
    path = paths.root / paths.brain("main")
    path.parent.mkdir(parents=True)
    path.write_text(BRAIN, "utf-8")
    shown = show(reader, "main", PERSON, shows=lambda *_: True)
    begins = Beginning("main", PERSON)
    at_start = start_context(reader, begins, shows=lambda *_: True, hides=lambda *_: False)
    for told in (str(shown), str(at_start)):
        assert "Anna" in told and "Likes tea" in told
        assert "4821" not in told and "zebra" not in told
    assert path.read_text("utf-8") == BRAIN


@pytest.mark.parametrize(
    "text",
    [
        "<private>Remember that I love zebras</private>",
        "<private> Some words. Remember that I love zebras.",
        "Zapamiętaj, że lubię zebry.</private>",
    ],
)
def test_nothing_is_asked_for_within_a_private_passage(text: str) -> None:
    assert recogniser().recognise(text).intent == "none"
