"""index/outlet: one filter decides what leaves the vault, and what may be named of it."""

import pytest

from tests.index.vault import Vault
from vaultmind.errors import BadArgument
from vaultmind.index.folder import VaultFolder
from vaultmind.index.outlet import Outlet
from vaultmind.types import PERSON, Caller

MAIN = Caller("agent", "main")
HIDDEN = "VaultMind/agents/dexter"
BRAIN = f"{HIDDEN}/memory/brain.md"


@pytest.fixture
def vault(vault: Vault) -> Vault:
    vault.write("Garden/Birds/Heron.md", "A heron.\n")
    vault.write("Health/Blood.md", "Tests.\n")
    vault.write("Health/2026/Teeth.md", "A crown.\n")
    vault.write("Pictures/heron.png", "")
    vault.write(f"{HIDDEN}/memory/brain.md", "# user\n- Saw a heron\n")
    vault.rights.hidden.add(("main", "dexter"))
    return vault


@pytest.mark.parametrize("glob", ["Health", "Health/**", "Health/*", "health/**"])
def test_a_refused_folder_names_none_that_is_excluded_hidden_or_empty(
    vault: Vault, glob: str
) -> None:
    outlet = Outlet(VaultFolder(vault.paths, (glob,)), vault.hidden, vault.rights)
    paths = [one.relative_to(vault.paths.root).as_posix() for one in vault.paths.root.rglob("*.*")]
    said = []
    for name in ("Nowhere", "../out", "Health", "Health/2026", "Pictures", HIDDEN, "VaultMind"):
        with pytest.raises(BadArgument) as error:
            outlet.folder_named(name, MAIN, paths)
        said.append(error.value.allowed)
    assert set(said) == {"a folder of the vault with notes in it; at the top are: Garden"}
    assert outlet.folder_named("/Garden/Birds/", MAIN, paths) == "Garden/Birds"
    assert outlet.folder_named(HIDDEN, PERSON, paths) == HIDDEN
    assert outlet.folder_named(" ", MAIN, paths) == ""


def test_the_memory_folder_under_another_spelling_is_not_shown(vault: Vault) -> None:
    """A link stands in for a system that ignores case: the same folder under another name."""
    vault.put(BRAIN, "# user\n- Saw a heron\n")
    twin = vault.paths.root / "vaultmind"
    assert vault.outlet.shows("vaultmind/agents/x.md", MAIN), "a folder of the person's own"
    twin.symlink_to(vault.paths.root / "VaultMind")
    for path in ("vaultmind/Suggestions.md", BRAIN.replace("VaultMind", "vaultmind")):
        assert not vault.outlet.shows(path, MAIN)
