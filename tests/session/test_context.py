"""The context at session start keeps to its budget, and says what it left out."""

from __future__ import annotations

from tests.session.building import House, text_of
from vaultmind.config import Config
from vaultmind.vault.paths import VaultPaths

IDENTITY = "---\nautonomy: 2\n---\n# main\n\nA calm colleague. %%draft%%\n"
DAMAGED = "- Likes tea\n<<<<<<< ours\n- a\n=======\n>>>>>>> theirs\n"


def test_what_is_damaged_is_named_what_is_forgotten_left_out_and_the_rest_is_there(
    paths: VaultPaths,
) -> None:
    home = House(paths, Config(vault=paths.root, state_dir=paths.root / ".state"))
    active = paths.active_context("main")
    home.know(IDENTITY, DAMAGED, "The oven is ready.\n\nAllergic to nuts. ^hz11\n\nShawls. ^sh22\n")
    home.hides = lambda *part: part == ("main", active.removesuffix(".md"), "hz11")
    context = home.build(fresh=True, untitled=True)
    assert text_of(context, "identity") == "# main\n\nA calm colleague."
    assert text_of(context, "brain") == "- Likes tea"
    assert text_of(context, "active context") == "The oven is ready.\n\nShawls."
    brain = context.dropped[0]
    assert "merge markers" in brain.reason and "fix it" in brain.reason
    (paths.root / active).write_bytes(b"\xff\xfe\xff")
    assert "not UTF-8" in home.build(fresh=True, untitled=True).dropped[1].reason
