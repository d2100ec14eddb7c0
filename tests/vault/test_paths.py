"""Which paths may be read and written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.errors import BadArgument, PathRefused
from vaultmind.vault.paths import VaultPaths, agent_name

OUTSIDE = [
    "",
    "/etc/passwd",
    "~/x.md",
    "..",
    "../x.md",
    "VaultMind/../x.md",
    "VaultMind/./x.md",
    "VaultMind//x.md",
    "VaultMind/x\0.md",
]
NOT_PORTABLE = [
    "con.md",
    "NUL",
    "com1.txt",
    "COM¹.md",
    "lpt9",
    "aux .md",
    "trailing.",
    "trailing ",
    "a:b.md",
    "a\\b.md",
    "what?.md",
    "tab\tname.md",
    "bell\x07.md",
    "c1\x85.md",
    "right\u202eto-left.md",
    "zero\u200bwidth.md",
    "lone\ud800.md",
]


@pytest.fixture
def paths(tmp_path: Path) -> VaultPaths:
    return VaultPaths(tmp_path)


@pytest.mark.parametrize("relative", OUTSIDE)
def test_a_path_that_leaves_the_vault_is_refused_for_reading_and_writing(
    paths: VaultPaths, relative: str
) -> None:
    with pytest.raises(PathRefused):
        paths.absolute(relative)
    with pytest.raises(PathRefused):
        paths.writable(relative)


@pytest.mark.parametrize("name", NOT_PORTABLE)
def test_a_name_some_system_reserves_or_hides_is_not_written(paths: VaultPaths, name: str) -> None:
    with pytest.raises(PathRefused):
        paths.writable(f"VaultMind/{name}")
    with pytest.raises(PathRefused):
        paths.writable(f"VaultMind/{name}/x.md")


@pytest.mark.parametrize("name", ["Żurek ✨.md", "👨‍👩‍👧/x.md", "Ёлка (2).md", "a'b & c.md"])
def test_names_of_any_language_are_fine(paths: VaultPaths, name: str) -> None:
    assert paths.writable(f"VaultMind/{name}") == paths.root / "VaultMind" / name


def test_only_the_memory_folder_is_writable(paths: VaultPaths) -> None:
    for relative in ("note.md", "VaultMindX/x.md", "vaultmind/x.md", "VaultMind"):
        with pytest.raises(PathRefused):
            paths.writable(relative)
    nested = VaultPaths(paths.root, "Meta/Memory")
    assert nested.writable("Meta/Memory/x.md")
    with pytest.raises(PathRefused):
        nested.writable("Meta/x.md")


def test_a_name_too_long_is_refused_in_words(paths: VaultPaths) -> None:
    (paths.root / "VaultMind").mkdir()
    with pytest.raises(PathRefused, match="too long"):
        paths.absolute("VaultMind/" + "ż" * 200 + ".md")


def test_a_symlink_anywhere_on_the_way_is_refused(paths: VaultPaths, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "VaultMind").symlink_to(outside)
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    for relative in ("VaultMind/x.md", "gone.md"):
        with pytest.raises(PathRefused, match="symbolic link"):
            paths.absolute(relative)


@given(st.text(st.sampled_from("aV./\\~\0 :ż"), max_size=12))
def test_whatever_is_asked_the_path_stays_in_the_vault(relative: str) -> None:
    paths = VaultPaths(Path("/nowhere/vault"), "a")
    try:
        path = paths.absolute(relative)
    except PathRefused:
        return
    assert path.is_relative_to(paths.root) and ".." not in path.parts


def test_agent_names_are_folded_or_refused() -> None:
    assert agent_name(" Jaskier ") == "jaskier"
    for bad in ("", "a/b", "..", "con", "ż", "-x", "x" * 41):
        with pytest.raises(BadArgument):
            agent_name(bad)


@pytest.mark.parametrize("name", ["person", "You"])
def test_no_agent_is_called_as_the_person_is(paths: VaultPaths, name: str) -> None:
    with pytest.raises(BadArgument, match="stands for the person"):
        agent_name(name)
    (paths.root / "VaultMind/agents" / name.lower()).mkdir(parents=True)
    (paths.root / "VaultMind/agents/personal").mkdir()
    assert paths.agent_names() == ("personal",)


def test_the_owner_of_a_memory_path_is_its_agent(paths: VaultPaths) -> None:
    assert paths.agent_of(paths.brain("main")) == "main"
    assert paths.agent_of("VaultMind/agents/main") == ""
    assert paths.agent_of("agents/main/x.md") == ""
    (paths.root / "VaultMind/agents/b").mkdir(parents=True)
    (paths.root / "VaultMind/agents/a").mkdir()
    (paths.root / "VaultMind/agents/Bad Name").mkdir()
    assert paths.agent_names() == ("a", "b")
