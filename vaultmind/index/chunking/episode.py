"""Chunks of an episode: its task, what came of it, what was decided and committed.

Few on purpose: the hundreds of files that were read say nothing that is looked for in words. Each
chunk has the block id by which it may be hidden, and none says what another one does. The form of
the note is `episodes/note.py`'s; it is read leniently here, too.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import PurePosixPath

from vaultmind.index.chunking.draft import Draft, faults_of, new_chunk
from vaultmind.index.chunking.splitting import split
from vaultmind.index.words.language import detect
from vaultmind.types import Chunk
from vaultmind.vault.oneline import unescape
from vaultmind.vault.properties import front_matter

TARGET = 900
"""Characters of a piece of something long."""
MOST_SAID = 60
"""Decisions and commits of one episode, the first."""
TASK = "task"
_TITLE = re.compile(r"(?m)^# +(?P<said>\S.*?)[ \t]*\r?$")
_NAMED = re.compile(rf"(?m)^(?P<said>(?!- )\S.*?)[ \t]+\^{TASK}[ \t]*\r?$")
_SAID = re.compile(
    r"(?m)^- \d{1,2}:\d{2}(?::\d{2})? (?:decided|committed|came to)\b[^\n:]*: (?P<said>[^\n]+?)"
    r"(?: %%(?P<meta>\{[^\n]*\})%%)?(?:[ \t]+\^(?P<block>[A-Za-z0-9-]+))?[ \t]*\r?$"
)
_NO_TASK = ("A task", "A long task")


def chunk_episode(path: str, text: str) -> Draft:
    """Return an episode's chunks, in the order of the note.

    Not the task of one that runs: it is what was just asked, and would answer that question.
    """
    found = front_matter(text)
    held = found.properties if found else {}
    started, outcome = (str(held.get(key) or "") for key in ("started", "outcome"))
    body = found.body_start if found else 0
    title = PurePosixPath(path).stem
    chunks: list[Chunk] = []
    task = _TITLE.search(text, body)
    if task is not None and unescape(task["said"]) in _NO_TASK:
        task = _NAMED.search(text, body) if unescape(task["said"]) == _NO_TASK[1] else None
    if task is not None and held.get("state") != "running":
        came = f"\nOutcome: {outcome}." if outcome else ""
        chunks += _chunks(title, unescape(task["said"]) + came, task.span(), TASK)
    for match in [*_SAID.finditer(text, body)][:MOST_SAID]:
        time = _time_of(match["meta"]) or started
        block = match["block"] or ""
        said = _chunks(title, unescape(match["said"]), match.span(), block)
        chunks += [replace(chunk, time=time) for chunk in said]
    lang = detect(" \n".join(chunk.text for chunk in chunks))
    placed = (
        replace(chunk, lang=detect(chunk.text, lang), time=chunk.time or started)
        for chunk in chunks
    )
    faults = (found.fault,) if found and found.fault else ()
    return Draft(tuple(placed), title, started, lang, faults_of(path, faults))


def _chunks(title: str, said: str, span: tuple[int, int], block: str) -> list[Chunk]:
    anchor = f"#^{block}" if block else ""
    return [
        new_chunk(title, said[start:end], span, anchor)
        for start, end in split(said, (0, len(said)), TARGET)
    ]


def _time_of(raw: str | None) -> str:
    try:
        held = json.loads(raw or "{}")
    except (ValueError, RecursionError):
        return ""
    time = held.get("time") if isinstance(held, dict) else None
    return time if isinstance(time, str) else ""
