"""Reading a file exactly as it stands."""

from __future__ import annotations

import codecs
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.errors import NotFound, PathRefused, UnreadableNote
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths


@pytest.fixture
def reader(tmp_path: Path) -> VaultReader:
    return VaultReader(VaultPaths(tmp_path), max_bytes=1000)


def put(reader: VaultReader, name: str, raw: bytes) -> Path:
    path = reader.paths.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return path


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), st.booleans())
def test_a_text_is_read_as_it_stands(text: str, bom: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        reader = VaultReader(VaultPaths(Path(folder)), 0)
        raw = (codecs.BOM_UTF8 if bom else b"") + text.encode()
        (Path(folder) / "x.md").write_bytes(raw)
        found = reader.read("x.md")
        again = (codecs.BOM_UTF8 if found.bom else b"") + found.text.encode()
        assert again == raw
        assert found.stat.size == len(raw)


@pytest.mark.parametrize(
    ("raw", "newline"),
    [(b"a", "\n"), (b"a\r\nb\r\n", "\r\n"), (b"a\nb\n", "\n"), (b"a\nb\nc\r\n", "\n")],
)
def test_the_newline_is_what_most_lines_end_in(
    reader: VaultReader, raw: bytes, newline: str
) -> None:
    put(reader, "x.md", raw)
    assert reader.read("x.md").newline == newline


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"caf\xe9 x", "not UTF-8 \\(byte 3\\)"),
        ("ab".encode("utf-16"), "not UTF-8"),
        ("ab".encode("utf-16-le"), "NUL"),
        (b"x" * 1001, "over the limit"),
    ],
)
def test_what_is_no_text_is_left_alone_and_said(
    reader: VaultReader, raw: bytes, reason: str
) -> None:
    put(reader, "Notes/x.md", raw)
    with pytest.raises(UnreadableNote, match=f"Notes/x.md was left alone: .*{reason}"):
        reader.read("Notes/x.md")


def test_a_character_torn_at_the_end_by_a_crash_is_dropped(reader: VaultReader) -> None:
    put(reader, "x.md", "zażółć".encode()[:-1])
    assert reader.read("x.md").text == "zażół"


def test_what_is_not_there_is_not_found(reader: VaultReader) -> None:
    put(reader, "x.md", b"x")
    for relative in ("y.md", "x.md/y.md", "no/y.md"):
        with pytest.raises(NotFound):
            reader.read(relative)
        assert reader.stat(relative) is None
    assert reader.exists("x.md") and not reader.exists("y.md")


def test_a_folder_a_pipe_and_a_symlink_are_not_read(reader: VaultReader) -> None:
    root = reader.paths.root
    (root / "folder.md").mkdir()
    os.mkfifo(root / "pipe.md")
    (root / "link.md").symlink_to(put(reader, "x.md", b"x"))
    for relative in ("folder.md", "pipe.md"):
        assert not reader.exists(relative)
        with pytest.raises(UnreadableNote):
            reader.read(relative)
    with pytest.raises(PathRefused):
        reader.read("link.md")


@pytest.mark.parametrize("name", ["🍞 Recipes/Żurek.md", "e\u0301.md", "é.md", "Плов.md"])
def test_any_name_is_read_under_the_name_the_system_gives(reader: VaultReader, name: str) -> None:
    put(reader, name, b"x")
    assert reader.read(name).path == name


def test_a_change_shows_in_the_stamp(reader: VaultReader) -> None:
    path = put(reader, "x.md", b"one")
    before = reader.read("x.md").stat
    assert reader.stat("x.md") == before
    path.write_bytes(b"four")
    assert reader.stat("x.md") != before
