"""memory/audit: what a file keeps, what its reader makes of begun, torn and doubled lines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.memory.conftest import read_audit
from vaultmind.memory.audit import (
    AuditLine,
    Move,
    parse_line,
    render_line,
)
from vaultmind.memory.forget.erasing import without_values
from vaultmind.memory.match import Wanted
from vaultmind.vault.paths import VaultPaths

TEXT = st.text(max_size=20)
MOVES = st.builds(Move, TEXT, TEXT, st.booleans(), st.booleans(), st.booleans())
MADE = AuditLine("2026-02-20T10:00:00+01:00", "main", "c", "main", "remember", "written", id="aaaa")


@given(st.builds(replace, st.just(MADE), before=TEXT, after=TEXT, moves=st.tuples(MOVES)))
def test_what_was_written_reads_back(line: AuditLine) -> None:
    assert parse_line(render_line(line)) == line


@given(st.text(max_size=60))
def test_no_line_breaks_a_reader_or_an_erasure(raw: str) -> None:
    parse_line(raw)
    without_values(raw, "a.jsonl", Wanted(["a b"]))


def write(root: Path, *lines: AuditLine, device: str = "one", end: str = "") -> VaultPaths:
    paths = VaultPaths(root)
    file = root / paths.audit("main", device)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(map(render_line, lines)) + end, "utf-8")
    return paths


def test_of_a_change_only_what_came_of_it_is_told_and_torn_lines_are_passed_over(
    tmp_path: Path,
) -> None:
    begun, other = replace(MADE, outcome="begun"), replace(MADE, outcome="begun", id="bbbb")
    paths = write(tmp_path, begun, MADE, MADE, other, end='{"time": "20')
    assert [(one.id, one.outcome) for one in read_audit(paths, "main")] == [
        ("aaaa", "written"),
        ("bbbb", "begun"),
    ]
