"""The context at session start keeps to its budget, and says what it left out."""

from __future__ import annotations

from vaultmind.session.start import Beginning, StartContext, start_context
from vaultmind.types import Caller
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

MAIN = Caller("agent", "main")
IDENTITY = "---\nautonomy: 2\n---\n# main\n\nA calm colleague. %%draft%%\n"
ACTIVE = "The oven is ready.\n\nAllergic to nuts. ^hz11\n\nShawls. ^sh22\n"


def _write(paths: VaultPaths, identity: str = "", brain: str = "", active: str = "") -> None:
    named = (
        (paths.identity("main"), identity),
        (paths.brain("main"), brain),
        (paths.active_context("main"), active),
    )
    for path, text in named:
        file = paths.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "replace"))


def _start(reader: VaultReader, max_tokens: int = 800) -> StartContext:
    begins = Beginning("main", MAIN, max_tokens)
    return start_context(reader, begins, shows=lambda p, c: True, hides=lambda *part: False)


def _texts(context: StartContext) -> dict[str, str]:
    return {part.name: part.text for part in context.parts}


def test_a_damaged_or_unreadable_file_is_named_and_the_rest_is_there(
    paths: VaultPaths, reader: VaultReader
) -> None:
    damaged = "- Likes tea\n<<<<<<< ours\n- a\n=======\n>>>>>>> theirs\n"
    _write(paths, IDENTITY, damaged, ACTIVE)
    (paths.root / paths.active_context("main")).write_bytes(b"\xff\xfe\xff")
    context = _start(reader)
    assert list(_texts(context)) == ["identity", "brain"]
    assert _texts(context)["brain"] == "- Likes tea"
    brain, active = (one.reason for one in context.dropped)
    assert "merge markers" in brain and "mend it" in brain
    assert "not UTF-8" in active


def test_a_forgotten_paragraph_of_the_active_context_is_left_out(
    paths: VaultPaths, reader: VaultReader
) -> None:
    _write(paths, IDENTITY, "", ACTIVE)
    record = paths.active_context("main").removesuffix(".md")

    def hides(*part: str) -> bool:
        return part == ("main", record, "hz11")

    begins = Beginning("main", MAIN)
    context = start_context(reader, begins, shows=lambda p, c: True, hides=hides)
    assert _texts(context)["active context"] == "The oven is ready.\n\nShawls."
