"""A growing file is read from where it was left, whole lines only, never more than asked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vaultmind.errors import BadArgument, NotFound
from vaultmind.session.capture import tail
from vaultmind.session.capture.tail import Place, check_transcript, read_on

BIG = 1_000_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(b"one\ntwo\n")
    return path


def test_an_endless_line_is_passed_over(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "MAX_LINE_BYTES", 1000)
    file.write_bytes(b"a" * 2500 + b"\nshort\n" + b"b" * 1500)
    read = read_on(file, Place(), BIG)
    assert read.lines == (b"short\n",)
    assert read_on(file, read.place, BIG).lines == (), "and a torn one waits"


def test_a_file_that_is_not_there_yet_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_on(tmp_path / "no.jsonl", Place(), BIG)


def test_links_pipes_and_folders_are_refused_without_waiting(file: Path, tmp_path: Path) -> None:
    link, pipe, folder = (tmp_path / f"{name}.jsonl" for name in ("link", "pipe", "folder"))
    link.symlink_to(file)
    os.mkfifo(pipe)
    folder.mkdir()
    for path in (link, pipe, folder):
        with pytest.raises(BadArgument, match="transcript_path"):
            read_on(path, Place(), BIG)


@pytest.mark.parametrize("path", ["talk.jsonl", "/etc/passwd", "", "/a\0.jsonl", "~/x.jsonl"])
def test_what_can_be_no_transcript_is_refused(path: str) -> None:
    with pytest.raises(BadArgument, match="transcript_path"):
        check_transcript(path)
