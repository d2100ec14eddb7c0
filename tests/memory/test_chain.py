"""memory/audit/chain: a tampered audit shows, an erased one holds, a torn one goes on."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vaultmind.memory.audit.chain import Journal, chain, erase, render, verify

from tests.memory.conftest import unchained
from vaultmind.errors import WriteFailed
from vaultmind.memory.audit import (
    AuditLine,
    parse_line,
    read_audit,
    record,
    ref_of,
    ref_text,
)
from vaultmind.types import MessageRef
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.writer import VaultWriter

LINE = AuditLine("2026-02-20T10:00:00+01:00", "main", "cli", "main", "remember", "written")
TEXTS = st.text(max_size=30)
LINES = st.builds(
    lambda before, after, reason, block: replace(
        LINE, before=before, after=after, reason=reason, block=block
    ),
    TEXTS, TEXTS, TEXTS, st.text("abc123", max_size=4),
)  # fmt: skip
LOG = "VaultMind/agents/main/memory/audit-x.jsonl"


class Files:
    """A folder in memory with the two functions a journal takes."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.full = False
        self.head = ""
        """The digest of the last link that was written."""

    def append(self, relative: str, text: str) -> None:
        if self.full:
            raise WriteFailed(f"{relative}: disk full")
        lead = "\n" if self.text and not self.text.endswith("\n") else ""
        self.text += lead + text

    def read(self, relative: str) -> str:
        return self.text

    def journal(self) -> Journal:
        return Journal(self.append, self.read, keep=self.keep)

    def keep(self, relative: str, digest: str) -> None:
        self.head = digest

    def lines(self) -> list[str]:
        return self.text.split("\n")


def written(lines: list[AuditLine], start: str = "") -> Files:
    files = Files(start)
    journal = files.journal()
    for line in lines:
        journal.append(LOG, line)
    return files


@given(st.lists(LINES, max_size=5), st.booleans())
def test_what_was_appended_verifies_and_reads_back(lines: list[AuditLine], old: bool) -> None:
    files = written(lines, unchained(LINE) if old else "")
    checked = verify(files.lines())
    assert checked.faults == ()
    assert (checked.chained, checked.unchained, checked.torn) == (len(lines), int(old), 0)
    read = [replace(parse_line(raw), id="") for raw in files.lines() if raw]  # type: ignore[type-var]
    assert read == ([LINE] if old else []) + lines


@given(st.lists(LINES, min_size=2, max_size=5), st.data())
def test_any_changed_value_shows(lines: list[AuditLine], data: st.DataObject) -> None:
    raws = [raw for raw in written(lines).lines() if raw]
    at = data.draw(st.integers(0, len(raws) - 1))
    value = json.loads(raws[at])
    key = data.draw(st.sampled_from([key for key in value if key not in ("salts", "sums")]))
    value[key] = f"{value[key]}x"
    raws[at] = render(value)
    last_unchecked = at == len(raws) - 1 and key not in ("before", "after", "reason", "prev")
    head = written(lines).head
    assert verify(raws).faults or last_unchecked
    assert verify(raws, known_head=head).faults


@given(st.lists(LINES, min_size=3, max_size=6), st.data())
def test_a_line_dropped_moved_or_added_shows(lines: list[AuditLine], data: st.DataObject) -> None:
    files = written(lines)
    raws = [raw for raw in files.lines() if raw]
    head = files.head
    at = data.draw(st.integers(0, len(raws) - 1))
    assert verify(raws[:at] + raws[at + 1 :], head).faults
    assert verify([*raws[:at], *raws[at + 1 :], raws[at]], head).faults or at == len(raws) - 1
    assert verify([*raws[: at + 1], unchained(LINE), *raws[at + 1 :]], head).faults
    forged = render(chain(replace(LINE, time="2026-02-21"), ""))
    assert verify([*raws[:at], forged, *raws[at:]], head).faults
    assert verify(raws, head).faults == ()


@given(st.lists(LINES, min_size=1, max_size=5), st.sets(st.integers(0, 4)))
def test_an_erasure_leaves_no_text_and_no_salt_and_the_chain_whole(
    lines: list[AuditLine], which: set[int]
) -> None:
    marked = [replace(one, after=f"secret-{i} {one.after}") for i, one in enumerate(lines)]
    files = written(marked, unchained(replace(LINE, after="secret-old")))
    ids = [parse_line(raw).id for raw in files.lines() if raw][1:]  # type: ignore[union-attr]
    chosen = {ids[i] for i in which if i < len(ids)}
    left = erase(files.lines(), lambda line: line.id in chosen)
    assert verify(left, files.head).faults == ()
    assert verify(left).erased == len(chosen)
    read = [parse_line(raw) for raw in left if raw][1:]
    assert [line.id for line in read if line] == ids
    for i, line in enumerate(read):
        assert line is not None
        assert line.erased == (line.id in chosen)
        assert (f"secret-{i} " in "\n".join(left)) != line.erased
        assert line.after == ("" if line.erased else marked[i].after)
    for raw in left:
        if raw and parse_line(raw).erased:  # type: ignore[union-attr]
            assert json.loads(raw)["salts"] == {}


def test_a_text_taken_without_its_salt_or_put_back_shows() -> None:
    files = written([replace(LINE, after="Likes tea"), LINE])
    first, *rest = files.lines()
    value = json.loads(first)
    assert verify([render({**value, "after": ""}), *rest]).faults[0].line == 1
    erased = {**value, "after": "", "salts": {}}
    assert verify([render(erased), *rest]).faults == ()
    assert verify([render({**erased, "after": "Likes rum"}), *rest]).faults
    assert verify([render({**value, "before": "x"}), *rest]).faults
    assert verify([first.replace('"after"', '"after": "Likes rum", "after"', 1), *rest]).faults
    assert verify([first.replace(", ", ",", 1), *rest]).faults
    altered = rest[0].replace('"reason": ""', '"reason": "because"')
    assert verify([first, rest[0], altered]).faults


def test_old_unchained_lines_and_torn_ones_are_erased_too() -> None:
    old = unchained(replace(LINE, after="secret"))
    files = written([LINE], old + '{"after": "secr')
    assert verify(files.lines()).faults == ()
    assert (verify(files.lines()).torn, verify(files.lines()).unchained) == (1, 1)
    left = erase(files.lines(), lambda line: "secr" in line.after)
    assert "secr" not in "\n".join(left)
    assert verify(left).faults == () and verify(left).torn == 0


def test_a_torn_last_line_is_passed_over_and_the_chain_goes_on() -> None:
    files = written([replace(LINE, after="one"), replace(LINE, after="two")])
    files.text = files.text[:-9]
    journal = files.journal()
    journal.append(LOG, replace(LINE, after="three"))
    checked = verify(files.lines())
    assert (checked.faults, checked.chained, checked.torn) == ((), 2, 1)
    assert checked.head == files.head


def test_a_whole_last_line_without_its_newline_is_a_link() -> None:
    files = written([replace(LINE, after="one")])
    files.text = files.text[:-1]
    files.journal().append(LOG, LINE)
    assert verify(files.lines()).faults == () and verify(files.lines()).chained == 2


def test_a_failed_append_leaves_the_chain_as_it_was() -> None:
    files = written([LINE])
    journal = files.journal()
    files.full = True
    with pytest.raises(WriteFailed):
        journal.append(LOG, LINE)
    files.full = False
    journal.append(LOG, LINE)
    assert verify(files.lines()).faults == ()


def test_an_append_that_was_done_twice_is_no_fault_and_reads_once(tmp_path: Path) -> None:
    files = written([LINE, replace(LINE, after="two")])
    first, second, _ = files.lines()
    doubled = [first, second, second, ""]
    assert verify(doubled).faults == ()
    paths = VaultPaths(tmp_path)
    (tmp_path / paths.memory("main")).mkdir(parents=True)
    (tmp_path / LOG).write_text("\n".join(doubled))
    assert len(read_audit(paths, "main")) == 2


def test_a_cut_off_end_shows_when_the_head_is_known() -> None:
    files = written([LINE, replace(LINE, after="two")])
    head = verify(files.lines()).head
    assert verify(files.lines(), head).faults == ()
    assert verify(files.lines()[:1]).faults == ()
    assert [fault.line for fault in verify(files.lines()[:1], head).faults] == [0]


def test_sixteen_threads_append_one_whole_chain(tmp_path: Path) -> None:
    paths = VaultPaths(tmp_path)
    writer = VaultWriter(paths)
    path = tmp_path / LOG
    journal = Journal(writer.append, lambda _: path.read_text("utf-8") if path.exists() else "")
    ids: list[str] = []

    def work(worker: int) -> None:
        for i in range(4):
            ids.append(journal.append(LOG, replace(LINE, after=f"{worker}-{i} żółw \ud800")))

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    checked = verify(path.read_text("utf-8").split("\n"))
    assert (checked.faults, checked.chained) == ((), 64)
    read = read_audit(paths, "main")
    assert {line.id for line in read} == set(ids) and len(set(ids)) == 64


def test_crlf_of_a_checkout_is_no_tampering() -> None:
    files = written([replace(LINE, after="one"), LINE])
    assert verify([f"{raw}\r" for raw in files.lines()]).faults == ()


@given(st.text(max_size=80) | st.just('{"prev": 1, "sums": 2}') | st.just('{"sums": {"x": 1}}'))
def test_no_line_breaks_a_check_or_an_erasure(raw: str) -> None:
    verify([raw, *written([LINE]).lines(), raw])
    erase([raw], lambda _: True)


def test_the_audit_is_in_order_across_time_zones(tmp_path: Path) -> None:
    paths = VaultPaths(tmp_path)
    (tmp_path / paths.memory("main")).mkdir(parents=True)
    times = ["2026-10-25T02:30:00+02:00", "2026-10-25T02:10:00+01:00", "never"]
    text = "".join(unchained(replace(LINE, time=time)) for time in reversed(times[:2]))
    (tmp_path / LOG).write_text(text + unchained(replace(LINE, time=times[2])))
    assert [one.time for one in read_audit(paths, "main")] == [times[2], *times[:2]]


@pytest.mark.parametrize(
    "ref",
    [
        MessageRef("main", "2026-02-20_001", "m7"),
        MessageRef("main", "2026-02-20_001", "", "D1:3#x"),
    ],
)
def test_a_hidden_message_is_named_and_found_again(ref: MessageRef) -> None:
    assert ref_of(ref_text(ref)) == ref
    assert ref_of("nothing") is None
    path = "VaultMind/agents/main/memory/sessions/2026-02-20_001#^m7"
    assert ref_of(path) == MessageRef("main", "2026-02-20_001", "m7")
    line = replace(LINE, hidden=(ref_text(ref),), undoes="abcd1234", valid_until="2026")
    assert replace(parse_line(render(record(line))), id="") == line  # type: ignore[type-var]
