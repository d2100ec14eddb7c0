"""What comments and doc strings say: summaries, abstracts, things to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultmind.planner.structure.records import Task

if TYPE_CHECKING:
    from vaultmind.planner.structure.code.grammar import Parsed
    from vaultmind.planner.structure.code.sorting import Sorted

SUMMARY_CHARS = 200
ABSTRACT_CHARS = 300
MOST_TASKS = 200
_HEAD_ROWS = 40
"""Where the comment that a file begins with is looked for."""
_MARKS = re.compile(
    r"^\s*(?:/\*+!?|//[/!]*|\*+/?|#+!?|--+|;+|<!--)\s?"
    r"|\s{0,20}\*{1,80}/\s*$|\s{0,20}-->\s*$"
)
_TAGS = re.compile(r"</?[A-Za-z][^<>]*>")
_QUOTES = re.compile(r"^[rRbBuUfF]{0,3}(\"\"\"|'''|\"|')(.*?)\1?$", re.S)
_TO_DO = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b.*")
_NO_ABSTRACT = re.compile(
    r"copyright|licen[cs]e|spdx|eslint|prettier|@ts-|-\*-|coding[:=]|^!|@jest-|@flow|tslint"
    r"|use strict|frozen_string_literal|shellcheck|swiftlint|noinspection|pylint:|ruff:|mypy:"
    r"|istanbul|webpack|go:build|\+build",
    re.I,
)
_OF_THE_FILE = re.compile(r"^\s*(?://!|/\*!)|@(?:file|fileoverview|module|packageDocumentation)\b")


@dataclass(frozen=True, slots=True)
class Remark:
    """Comments that stand on lines of their own, one below another. Rows count from 0."""

    first_row: int
    last_row: int
    text: str
    """As it is written."""
    behind_code: bool = False
    """It ends a line of code, of which it speaks."""


def remarks(parsed: Parsed, found: Sorted) -> list[Remark]:
    """Return a file's comments; those on neighbouring lines as one."""
    gathered: list[Remark] = []
    for node in found.comments:
        first, last = node.start_point[0], node.end_point[0]
        if node.end_point[1] == 0 and last > first:
            last -= 1
        line = parsed.data[parsed.data.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte]
        one = Remark(first, last, parsed.text(node).rstrip(), bool(line.strip()))
        before = gathered[-1] if gathered else None
        if before and _go_together(before, one):
            one = Remark(before.first_row, last, f"{before.text}\n{one.text}")
            gathered.pop()
        gathered.append(one)
    return gathered


def _go_together(above: Remark, below: Remark) -> bool:
    if above.behind_code or below.behind_code or above.text.endswith("*/"):
        return False
    return above.last_row == below.first_row - 1


def words_of(comment: str) -> str:
    """Return what a comment says without its marks, line by line."""
    lines = (_MARKS.sub("", _MARKS.sub("", line)) for line in comment.split("\n"))
    return _TAGS.sub("", "\n".join(lines)).strip()


def unquoted(literal: str) -> str:
    """Return what stands within the quotes of a string literal."""
    found = _QUOTES.match(literal)
    return (found.group(2) if found else literal).strip()


def first_line(text: str) -> str:
    """Return the first line that says something, clipped."""
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return clip(line, SUMMARY_CHARS)


def first_paragraph(text: str) -> str:
    """Return the first paragraph on one line, clipped."""
    paragraph = re.split(r"\n\s*\n", text.strip(), maxsplit=1)[0]
    return clip(" ".join(paragraph.split()), ABSTRACT_CHARS)


def clip(text: str, chars: int) -> str:
    """Return a text of no more than so many characters."""
    return text if len(text) <= chars else f"{text[: chars - 1].rstrip()}…"


def abstract_of(comments: Sequence[Remark], leads: set[int]) -> str:
    """Return what the comment that a file begins with says.

    One that stands right above a definition (on one of the rows `leads` - 1) is that one's.
    """
    for remark in comments:
        if remark.first_row > _HEAD_ROWS:
            break
        of_file = _OF_THE_FILE.search(remark.text) is not None
        if not of_file and (remark.last_row + 1 in leads or _NO_ABSTRACT.search(remark.text)):
            continue
        lines = words_of(_OF_THE_FILE.sub("", remark.text)).split("\n")
        said = "\n".join(line for line in lines if not line.lstrip().startswith("@"))
        if said.strip():
            return first_paragraph(said)
    return ""


def tasks_of(comments: Sequence[Remark]) -> tuple[Task, ...]:
    """Return what comments say is still to be done."""
    return tuple(task for task, _ in zip(_tasks(comments), range(MOST_TASKS), strict=False))


def _tasks(comments: Sequence[Remark]) -> Iterator[Task]:
    for remark in comments:
        for row, line in enumerate(remark.text.split("\n"), remark.first_row):
            if found := _TO_DO.search(line):
                said = _MARKS.sub("", found.group()).strip()
                yield Task(clip(said, SUMMARY_CHARS), row + 1)
