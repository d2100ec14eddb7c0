"""What is indexed of a file: where it belongs, and the chunks it is cut into."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from vaultmind.index.chunking.draft import Chunked, Draft
from vaultmind.index.chunking.episode import chunk_episode
from vaultmind.index.chunking.memory import chunk_brain, chunk_session
from vaultmind.index.chunking.note import chunk_canvas, chunk_note, chunk_summary
from vaultmind.redact import blank_passages
from vaultmind.types import Kind
from vaultmind.vault.files import FileText
from vaultmind.vault.paths import SESSION_ID, VaultPaths

Form = Literal["note", "canvas", "brain", "session", "summary", "episode", "code", "text", "data"]
"""The last three are of linked folders."""

_ID_LENGTH = 20
"""Hex digits of a chunk's id: 80 bits."""
_CHUNKERS: dict[Form, Callable[[str, str], Draft]] = {
    "note": chunk_note,
    "canvas": chunk_canvas,
    "brain": chunk_brain,
    "session": chunk_session,
    "summary": chunk_summary,
    "episode": chunk_episode,
}


@dataclass(frozen=True, slots=True)
class Place:
    """What a file is, by where it lies."""

    kind: Kind
    agent: str
    """Whose memory; empty for the user's own notes."""
    form: Form


_NOTES = {".md": Place("note", "", "note"), ".canvas": Place("note", "", "canvas")}


def place_of(path: str, paths: VaultPaths) -> Place | None:
    """Return what a vault-relative path is, or None for what is never indexed.

    Of the memory folder only brains, their archives, active contexts, sessions, summaries and
    episodes are indexed.
    """
    if not paths.in_memory(path):
        name = path[path.rfind("/") + 1 :]
        return _NOTES.get(name[max(name.rfind("."), 1) :].lower())
    agent = paths.agent_of(path)
    return _memory_place(path, agent, paths) if agent and path.endswith(".md") else None


def _memory_place(path: str, agent: str, paths: VaultPaths) -> Place | None:
    if path in (paths.brain(agent), paths.archive(agent)):
        return Place("fact", agent, "brain")
    folder, _, name = path.rpartition("/")
    if folder == paths.sessions(agent):
        is_session = SESSION_ID.fullmatch(name.removesuffix(".md"))
        return Place("message", agent, "session") if is_session else None
    if folder == paths.episodes(agent):
        is_episode = SESSION_ID.fullmatch(name.removesuffix(".md"))
        return Place("episode", agent, "episode") if is_episode else None
    summaries = f"{paths.memory(agent)}/summaries/"
    if path == paths.active_context(agent) or path.startswith(summaries):
        return Place("summary", agent, "summary")
    return None


def chunk_file(path: str, file: FileText, place: Place) -> Chunked:
    """Return the chunks of a file with their stable ids, and what could not be read of it.

    A private passage or key may reach over many: it is blanked in the whole before the cut.
    """
    text = file.text if place.form == "canvas" else blank_passages(file.text)
    return placed(path, _CHUNKERS[place.form](path, text), place)


def placed(path: str, draft: Draft, place: Place) -> Chunked:
    """Return a file's chunks with what a draft lacks: ids, path, kind and agent."""
    ids = _ids(path, ((c.anchor, c.title, c.text, c.message) for c in draft.chunks))
    chunks = tuple(
        replace(chunk, id=chunk_id, path=path, kind=place.kind, agent=place.agent)
        for chunk, chunk_id in zip(draft.chunks, ids, strict=True)
    )
    return Chunked(chunks, draft.title, draft.time, draft.lang, draft.faults)


def _ids(path: str, places: Iterable[tuple[str, ...]]) -> list[str]:
    """Return an id for each chunk: of path, place and text; equal ones are counted."""
    seen: Counter[tuple[str, ...]] = Counter()
    ids = []
    for place in places:
        seen[place] += 1
        key = "\0".join((path, *place, str(seen[place])))
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass"))
        ids.append(digest.hexdigest()[:_ID_LENGTH])
    return ids
