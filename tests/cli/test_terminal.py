"""What appears on a terminal and in a pipe: wrapped words, exit codes, bars for long work."""

from __future__ import annotations

import json
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.cli import terminal
from vaultmind.errors import BadArgument, ConfigError, NotFound, VaultLocked, VaultNotFound
from vaultmind.types import Progress


@given(st.text(alphabet="ab c\n-"), st.integers(min_value=5, max_value=60))
def test_a_paragraph_keeps_every_word_and_its_width(text: str, width: int) -> None:
    wrapped = "\n".join(terminal._wrapped(line, width) for line in text.splitlines())
    assert wrapped.split() == text.split()
    assert all(len(line) <= width or " " not in line.strip() for line in wrapped.splitlines())


def test_a_paragraph_in_a_pipe_is_only_indented() -> None:
    text = "a " * 300 + "\n  b"
    assert terminal.paragraph(text, "  ").split() == textwrap.indent(text, "  ").split()
    assert terminal.paragraph(text, "  ").endswith("a\n    b")


def test_errors_have_their_exit_codes() -> None:
    assert terminal.exit_code(BadArgument("limit", 0, "1 to 100")) == 2
    assert terminal.exit_code(ConfigError("x")) == terminal.exit_code(VaultNotFound("x")) == 2
    assert terminal.exit_code(NotFound("x")) == 5
    assert terminal.exit_code(VaultLocked("x")) == 1


@given(st.text())
def test_what_cannot_be_written_as_utf8_is_still_json(text: str) -> None:
    written = json.dumps({"path": text + "\udcff"}, ensure_ascii=False).encode(
        "utf-8", "backslashreplace"
    )
    assert json.loads(written) == {"path": text + "\udcff"}


def test_whoever_waits_at_a_pipe_is_told_in_words_but_seldom(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal, "WORDS_AFTER_SECONDS", 0)
    for quiet in (False, True):
        with terminal.progress(quiet=quiet) as report:
            for done in (400, 800, 4000):
                report(Progress(done, 4000, "summarising"))
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "summarising: 400 of 4,000\n")
