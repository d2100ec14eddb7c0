"""Wrapping, widths and exit codes: pure functions."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from vaultmind.cli.output.output import cells, exit_code, paragraph, wrapped
from vaultmind.errors import BadArgument, ConfigError, NotFound, VaultLocked, VaultNotFound


@given(st.text(), st.integers(min_value=0, max_value=60))
def test_wrapping_keeps_every_word_in_order(text: str, width: int) -> None:
    (line, *_) = text.splitlines() or [""]
    assert " ".join(wrapped(line, width)).split() == line.split()


@given(st.lists(st.text(alphabet="abcд漢🍞", min_size=1, max_size=8)), st.integers(16, 60))
def test_no_piece_is_wider_than_asked(words: list[str], width: int) -> None:
    assert all(cells(piece) <= width for piece in wrapped(" ".join(words), width))


def test_wide_letters_take_two_columns_and_accents_none() -> None:
    assert cells("abc") == 3
    assert cells("漢字🍞") == 6
    assert cells("e\u0301") == 1


def test_a_paragraph_in_a_pipe_is_only_indented() -> None:
    assert paragraph("a" * 300 + "\n  b", "  ") == "  " + "a" * 300 + "\n    b"


def test_errors_have_their_exit_codes() -> None:
    assert exit_code(BadArgument("limit", 0, "1 to 100")) == 2
    assert exit_code(ConfigError("x")) == exit_code(VaultNotFound("x")) == 2
    assert exit_code(NotFound("x")) == 5
    assert exit_code(VaultLocked("x")) == 1


@given(st.text())
def test_what_cannot_be_written_as_utf8_is_still_json(text: str) -> None:
    written = json.dumps({"path": text + "\udcff"}, ensure_ascii=False).encode(
        "utf-8", "backslashreplace"
    )
    assert json.loads(written) == {"path": text + "\udcff"}
