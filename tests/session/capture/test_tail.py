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


def test_only_what_was_added_is_read(file: Path) -> None:
    first = read_on(file, Place(), BIG)
    assert first.lines == (b"one\n", b"two\n") and first.anew and not first.more
    with file.open("ab") as more:
        more.write(b"three\n")
    second = read_on(file, first.place, BIG)
    assert second.lines == (b"three\n",) and not second.anew
    assert read_on(file, second.place, BIG).lines == ()


def test_a_torn_line_is_read_once_it_is_whole(file: Path) -> None:
    file.write_bytes(b"one\ntw")
    first = read_on(file, Place(), BIG)
    assert first.lines == (b"one\n",)
    with file.open("ab") as more:
        more.write("ó\n".encode())
    assert read_on(file, first.place, BIG).lines == ("twó\n".encode(),)


def test_no_more_is_read_at_once_than_asked_for(file: Path) -> None:
    file.write_bytes(b"x" * 99 + b"\n" + b"y\n" * 50)
    first = read_on(file, Place(), 50)
    assert len(first.lines) == 1 and first.more, "one line at least"
    second = read_on(file, first.place, 50)
    assert len(second.lines) == 25 and second.more
    third = read_on(file, second.place, 50)
    assert len(third.lines) == 25 and not third.more


@pytest.mark.parametrize("then", [b"new\n", b"other beginning, and longer than before\n"])
def test_another_file_or_a_shorter_one_is_read_from_its_start(file: Path, then: bytes) -> None:
    place = read_on(file, Place(), BIG).place
    if len(then) > place.offset:
        other = file.with_suffix(".new")
        other.write_bytes(then)
        other.replace(file)
    else:
        file.write_bytes(then)
    read = read_on(file, place, BIG)
    assert read.lines == (then,) and read.anew


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


def test_a_file_written_anew_in_its_place_is_read_from_its_start(file: Path) -> None:
    place = read_on(file, Place(), BIG).place
    then = [b"another beginning\n", b"x" * place.offset + b"\n", b"end\n"]
    file.write_bytes(b"".join(then))
    read = read_on(file, place, BIG)
    assert list(read.lines) == then and read.anew
