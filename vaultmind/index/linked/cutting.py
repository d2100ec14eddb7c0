"""The chunks of a linked folder's files: code by its definitions, prose by paragraphs."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from vaultmind.index.chunking.draft import TITLE_JOINT, Draft, faults_of, new_chunk
from vaultmind.index.chunking.splitting import Span, split
from vaultmind.index.linked.taking import is_machine_made, is_minified
from vaultmind.index.words.language import detect
from vaultmind.redact import unmarked
from vaultmind.types import Chunk

NamedLines = tuple[int, int, str]
"""First and last line, counted from 1, and the qualified name of what stands there, or nothing."""
Cutter = Callable[[str, str], Sequence[NamedLines]]
"""Takes a path and a text, returns where to cut it, in order, every line that says something once.
"""
TARGET = 600
"""Characters of a chunk of prose or data."""
LARGEST = 1_800
"""A piece of code is cut again past this: what is embedded of a chunk is not much more."""
PART = 1_200
FOREIGN_LINES = 3
"""With so many lines of other letters, code is asked for its language."""
_FOREIGN = re.compile(r"[^\W\d_\x00-\x7f]")
DATA_CHARACTERS = 8_000
"""So much of a data file is searched: its beginning says what it is."""

log = logging.getLogger(__name__)


def cut_plainly(path: str, text: str) -> Sequence[NamedLines]:
    """Return pieces between blank lines: for where nothing is known of a language."""
    return [(*_lines_of(text, span), "") for span in split(text, (0, len(text)), PART)]


def cut_code(path: str, text: str, cutter: Cutter) -> Draft:
    """Return the chunks of code: each stands under the name of what it defines.

    Where the cutter fails the file is cut between blank lines: it is searched all the same, and a
    fault says so.
    """
    if is_minified(text):
        return Draft((), path, "", "", faults_of(path, ("minified: its text is not searched",)))
    lang = _language(text)
    starts = _line_starts(text)
    chunks = []
    spans, fault = _cut(path, text, cutter)
    for first, last, name in spans:
        span = (starts[max(first, 1) - 1], starts[min(last, len(starts) - 1)])
        title = TITLE_JOINT.join(filter(None, (path, name)))
        anchor = f"#{name}" if name else ""
        chunks += [_chunk(title, text, part, anchor, lang) for part in _parts(text, span)]
    faults = faults_of(path, (fault,)) if fault else ()
    return Draft(tuple(chunk for chunk in chunks if chunk.text), path, "", lang, faults)


def cut_text(path: str, text: str) -> Draft:
    """Return the chunks of prose without headings that we know."""
    lang = detect(text)
    spans = split(text, (0, len(text)), TARGET)
    return Draft(tuple(_chunk(path, text, span, "", lang) for span in spans), path, "", lang)


def cut_data(path: str, text: str) -> Draft:
    """Return the chunks of the beginning of a data file; none of what a tool writes for itself."""
    if is_machine_made(path) or PurePosixPath(path).suffix.lower() == ".ipynb":
        return Draft((), path)
    shown = text[:DATA_CHARACTERS]
    lang = _language(shown)
    spans = split(shown, (0, len(shown)), TARGET)
    return Draft(tuple(_chunk(path, text, span, "", lang) for span in spans), path, "", lang)


def named_text(path: str, text: str, name: str, cutter: Cutter) -> str | None:
    """Return the lines that stand under a name, in order; None where there are none.

    A small class stands as one: of a method in it all of that class is returned.
    """
    starts = _line_starts(text)
    spans, _ = _cut(path, text, cutter)
    while name:
        found = [
            text[starts[max(first, 1) - 1] : starts[min(last, len(starts) - 1)]]
            for first, last, one in spans
            if one == name or one.startswith(f"{name}.")
        ]
        if shown := "".join(found).strip("\r\n").rstrip():
            return shown
        name = name.rpartition(".")[0]
    return None


def _cut(path: str, text: str, cutter: Cutter) -> tuple[Sequence[NamedLines], str]:
    """Return where to cut code, and why that is not where its definitions begin."""
    try:
        return cutter(path, unmarked(text)), ""
    except Exception as error:  # search must not depend on what reads code
        log.exception("%s could not be cut by its definitions", path)
        why = f"could not be cut by its definitions ({type(error).__name__}): cut at blank lines"
        return cut_plainly(path, text), why


def _chunk(title: str, text: str, span: Span, anchor: str, lang: str) -> Chunk:
    shown = text[span[0] : span[1]].replace("\r\n", "\n").strip("\n").rstrip()
    return replace(new_chunk(title, shown, span, anchor), lang=lang)


def _parts(text: str, span: Span) -> Iterator[Span]:
    """Yield a span whole, or in pieces at the ends of lines where it is very long."""
    start, end = span
    while end - start > LARGEST:
        at = text.rfind("\n", start + 1, start + PART)
        at = start + PART if at < 0 else at + 1
        yield start, at
        start = at
    if end > start:
        yield start, end


def _line_starts(text: str) -> list[int]:
    """Return where each line begins, and the end of the text."""
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    if starts[-1] != len(text):
        starts.append(len(text))
    return starts


def _lines_of(text: str, span: Span) -> tuple[int, int]:
    first = text.count("\n", 0, span[0]) + 1
    return first, first + text.count("\n", span[0], max(span[0], span[1] - 1))


def _language(text: str) -> str:
    """Return the language of code's words: English, but for those who write comments in theirs."""
    if text.isascii():
        return "en"
    foreign = [line for line in text.split("\n") if _FOREIGN.search(line)]
    return detect(" ".join(foreign), "en") if len(foreign) >= FOREIGN_LINES else "en"
