"""The context at session start keeps to its budget, and says what it left out."""

from __future__ import annotations

from tests.session.samples import Files
from vaultmind.session.start import Beginning, start_context
from vaultmind.types import Caller
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

IDENTITY = "---\nautonomy: 2\n---\n# main\n\nA calm colleague. %%draft%%\n"
DAMAGED = "- Likes tea\n<<<<<<< ours\n- a\n=======\n>>>>>>> theirs\n"


def test_what_is_damaged_is_named_what_is_forgotten_left_out_and_the_rest_is_there(
    files: Files, paths: VaultPaths, reader: VaultReader
) -> None:
    active = paths.active_context("main")
    files.append(paths.identity("main"), IDENTITY)
    files.append(paths.brain("main"), DAMAGED)
    files.append(active, "The oven is ready.\n\nAllergic to nuts. ^hz11\n\nShawls. ^sh22\n")

    def hides(*part: str) -> bool:
        return part == ("main", active.removesuffix(".md"), "hz11")

    begins = Beginning("main", Caller("agent", "main"))
    context = start_context(reader, begins, shows=lambda p, c: True, hides=hides)
    assert [(part.name, part.text) for part in context.parts] == [
        ("identity", "# main\n\nA calm colleague."),
        ("brain", "- Likes tea"),
        ("active context", "The oven is ready.\n\nShawls."),
    ]
    (brain,) = context.dropped
    assert "merge markers" in brain.reason and "mend it" in brain.reason
    (paths.root / active).write_bytes(b"\xff\xfe\xff")
    context = start_context(reader, begins, shows=lambda p, c: True, hides=hides)
    assert "not UTF-8" in context.dropped[1].reason
