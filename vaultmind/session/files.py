"""Session files: where they stand, what their heads say, and how a memory file is read."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from vaultmind.errors import NotFound, PathRefused, UnreadableNote, VaultMindError
from vaultmind.memory.brain import MEND, WRITING_WAITS, fault, sound_text
from vaultmind.memory.forget.hiding import Edit, Ref
from vaultmind.memory.match import says
from vaultmind.ports import MessageFinder
from vaultmind.redact import blank_private, mask
from vaultmind.session.unkept import unkept
from vaultmind.types import Caller, Fact, Message
from vaultmind.vault import transcript as written
from vaultmind.vault.files import OPEN_FLAGS, FileStat, FileText, VaultReader, stat_of
from vaultmind.vault.paths import SESSION_ID, VaultPaths, agent_name
from vaultmind.vault.properties import body_start
from vaultmind.vault.transcript import SessionMeta, Transcript

Shows = Callable[[str, Caller], bool]
"""Tells whether a caller may see a vault-relative path."""
Hides = Callable[[str, str, str], bool]
"""Tells whether a part of a record (agent, record, block) said what was forgotten."""

CANDIDATES = 200
"""Messages that are looked at for one fact."""
DEFAULT_SESSION_BYTES = 8_000_000
PARSED = 32
"""Sessions that are kept as they were read."""
HEAD_BYTES = 65_536
"""A session's front matter, and its first message, are looked for in its first bytes."""
SECRET_CHARS = 20_000
"""No secret is longer: text is searched this far past a cut, so that none is cut in two."""
ISO_TIME = "ISO 8601, e.g. 2026-02-20T10:00:03+01:00"
TOOL_CHARS = 200
"""Characters of a tool's result that are kept."""
_CLOSED = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_COMMENT = re.compile(
    r"^%%.*?%%[ \t]*\n?"  # a block: any later %% closes it
    r"|(?:(?<![ \t])[ \t]+)?%%(?:(?!\n[ \t]*(?:\n|[-*+>] |\d+[.)] |#)).)*?%%",  # inline
    re.DOTALL | re.MULTILINE,
)
_UNTIL = re.compile(r"%%[^%\n]*\buntil (\d{4}-\d{2}-\d{2})%%")
_BLOCK_ID = re.compile(r"(?:^|(?<=[ \t]))\^[A-Za-z0-9-]+$")
_EMPTY_HEADING = re.compile(
    r"^(#{1,6})(?: [^\n]*)?\n+(?=(?!\1#)#{1,6}(?: |$))|^#{1,6}(?: [^\n]*)?\s*\Z", re.MULTILINE
)
"""A heading with nothing under it before the next of its level or above."""
ID_LETTERS = 80
_WHOLE = re.compile(r"\n\^[A-Za-z0-9-]+\n\n\Z")
"""How a message ends that is written down whole: with its block id."""
_NUMBER = re.compile(rb"(\d{4}-\d\d-\d\d)_(\d{3,5})(?!\d)")


# --- ids and times ------------------------------------------------------------------------


def session_ids(paths: VaultPaths, agent: str) -> tuple[str, ...]:
    """Return the ids of an agent's sessions, oldest first."""
    names = (name.removesuffix(".md") for name in _names(paths, agent, "*.md"))
    found = filter(SESSION_ID.fullmatch, names)
    return tuple(sorted(found, key=lambda one: (one[:10], int(one[11:]))))


def numbers_used(paths: VaultPaths, agent: str) -> Counter[str]:
    """Return the highest number of each day that a session of an agent has, or ever had.

    A tombstone, a fact's source and an audit line name a session by its number: used again, it
    would hide new words, or vouch for words that nobody said. So numbers are looked for in the
    names of sessions and in the agent's logs, which name each session that begins.
    """
    texts = ["\n".join(_names(paths, agent, "*")).encode()]
    for path in (paths.root / paths.memory(agent)).glob("*.jsonl"):
        with suppress(OSError):
            texts.append(path.read_bytes())
    used: Counter[str] = Counter()
    for day, number in {found for text in texts for found in _NUMBER.findall(text)}:
        used[day.decode()] = max(used[day.decode()], int(number))
    return used


def _names(paths: VaultPaths, agent: str, pattern: str) -> list[str]:
    return [one.name for one in (paths.root / paths.sessions(agent)).glob(pattern)]


# --- heads --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Head:
    """A session by the beginning of its file; valid while the file's stamp is `stat`."""

    id: str
    stat: FileStat
    raw: str
    """The front matter's text."""
    said: bool = True
    """Whether something was said in it besides requests to the memory."""

    @cached_property
    def meta(self) -> SessionMeta:
        """Return what the front matter says."""
        return written.parse_meta(self.raw)

    def is_of(self, conversation: str) -> bool:
        """Tell whether it is a session of our own of a conversation."""
        named = conversation in self.raw  # most are not; YAML is slow
        return named and self.meta.conversation == conversation and not self.meta.source


class Shelf:
    """The sessions of a vault's agents. A file is read again when its stamp changes. Any thread."""

    def __init__(self, reader: VaultReader) -> None:
        self.reader, self._paths = reader, reader.paths
        self._lock = threading.Lock()
        self._heads: dict[str, dict[str, Head]] = {}
        self._parsed: dict[str, tuple[FileText, Transcript]] = {}

    def heads(self, agent: str) -> tuple[Head, ...]:
        """Return what the front matters of an agent's sessions say, oldest first."""
        agent, found = agent_name(agent), dict[str, Head]()
        sessions = self._paths.sessions(agent)
        with self._lock:
            known = self._heads.get(agent, {})
            for session in session_ids(self._paths, agent):
                head, path = known.get(session), self._paths.root / sessions / f"{session}.md"
                with suppress(OSError):
                    same = head and head.stat == stat_of(path.lstat())
                    found[session] = head if head and same else _read_head(session, path)
            self._heads[agent] = found
        return tuple(found.values())

    def latest(self, agent: str) -> str:
        """Return the newest session in which something was said, imported ones too; else ''."""
        return next((head.id for head in reversed(self.heads(agent)) if head.said), "")

    def read(self, agent: str, session: str) -> Transcript:
        """Return a session. Raises NotFound, UnreadableNote."""
        return self.file(agent, session)[1]

    def messages(self, agent: str, session: str) -> list[Message]:
        """Return all that was said in a session; nothing where it cannot be read."""
        with suppress(NotFound, UnreadableNote):
            return [one.message for one in self.read(agent, session).messages]
        return []

    def file(self, agent: str, session: str) -> tuple[FileText, Transcript]:
        """Return a session's file and what it says. Raises NotFound, UnreadableNote."""
        path = self._paths.session(agent_name(agent), session)
        known = self._parsed.get(path)
        if known and known[0].stat == self.reader.stat(path):
            return known
        file = self.reader.read(path)
        whole = known and _WHOLE.search(known[0].text[-ID_LETTERS:])  # most have only grown since
        has_grown = known and whole and file.text.startswith(known[0].text)
        there, begin = (known[1], len(known[0].text)) if known and has_grown else (None, 0)
        if len(self._parsed) >= PARSED:
            self._parsed.clear()
        read = self._parsed[path] = file, written.parse_session(file.text, there, begin)
        return read

    def recallable(
        self, agent: str, session: str, hides: Hides, *, unasked: bool = True
    ) -> list[tuple[Message, int]]:
        """Return the messages of a session that may be recalled, each with its segment.

        Left out are requests to the memory, what was erased and what was forgotten. Of a message
        that stands in a private passage only what is outside it is left, maybe nothing. What was
        asked not to be kept is left out as well, but where it is not `unasked`. Raises NotFound,
        UnreadableNote.
        """
        file, there = self.file(agent, session)
        text, blanked, shown = file.text, blank_private(file.text), []
        gone = unkept([one.message for one in there.messages]) if unasked else {}
        for at, one in enumerate(there.messages):
            message, place = one.message, slice(one.text_start, one.text_end)
            names = filter(None, (message.id, message.block))
            is_out = at in gone or message.asked or message.erased
            if is_out or any(hides(agent, session, name) for name in names):
                continue
            if blanked[place] != text[place]:
                kept = mask(message.text).text
                message = replace(message, text=kept if kept != message.text else "")
            shown.append((message, one.segment))
        return shown


def _read_head(session: str, path: Path) -> Head:
    descriptor = os.open(path, OPEN_FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        stat = stat_of(os.fstat(descriptor))
        text = file.read(HEAD_BYTES).decode("utf-8", "replace").removeprefix(written.BOM)
    closed, said = _CLOSED.search(text, 1), written.count_messages(text) > 0
    return Head(session, stat, text[: closed.end() + 1] if closed else "", said)


# --- reading ------------------------------------------------------------------------------


def beginning(text: str, most: int) -> str:
    """Return the first characters of a text; what is secret is taken out before it is cut."""
    head = text.strip()[: most + SECRET_CHARS]
    return mask(head).text[:most].strip() if len(head) > most else head


def hashed_id(text: str) -> str:
    """Return an id made of a text: the same one has the same id."""
    return f"h{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:12]}"


def plain_text(text: str) -> str:
    """Return a memory file's text as a model should read it.

    Without front matter, comments, block ids and empty headings; and without secrets and private
    passages, which a person may have typed there.
    """
    body = text[body_start(text) :]
    body = _COMMENT.sub("", _UNTIL.sub(r"(until \1)", body.replace("\r\n", "\n")))
    lines = (_BLOCK_ID.sub("", line.rstrip()).rstrip() for line in body.split("\n"))
    plain, before = "\n".join(lines).strip(), ""
    while plain != before:
        before, plain = plain, _EMPTY_HEADING.sub("", plain)
    return mask(re.sub(r"\n{3,}", "\n\n", plain).strip()).text


def read_text(reader: VaultReader, path: str) -> tuple[str, str]:
    """Return a file's sound lines, and what is wrong with it and how to mend it.

    A missing file is empty.
    """
    text = reason = ""
    try:
        text = reader.read(path).text
    except NotFound:
        pass
    except (PathRefused, UnreadableNote) as error:
        reason = error.reason
        with suppress(VaultMindError):
            text = reader.read_broken(path)
    sound, damage = sound_text(text)
    if damage := reason or damage:
        return sound, f"{path} is damaged: {damage}. {WRITING_WAITS} {MEND}"
    broken = fault(text)
    return sound, f"{path}: {broken}. {MEND}" if broken else ""


# --- what hosts and exports hold ------------------------------------------------------------


def texts(content: object) -> list[str]:
    """Return the texts of a content: itself, or those of its parts, with a mark for a picture."""
    if isinstance(content, dict):
        content = content.get("parts") or content.get("text") or content.get("result")
    parts = content if isinstance(content, list) else [content]
    found = (_text_of(one) if isinstance(one, dict) else one for one in parts)
    return [text for text in found if isinstance(text, str)]


def _text_of(part: dict[str, Any]) -> object:
    if part.get("content_type") == "image_asset_pointer":
        return "[image]"
    return part.get("text") if part.get("type", "text") == "text" else None


def blocks(content: object, kind: str) -> list[dict[str, Any]]:
    """Return the blocks of a kind that a content holds."""
    blocks = content if isinstance(content, list) else []
    return [one for one in blocks if isinstance(one, dict) and one.get("type") == kind]


# --- what said a fact ------------------------------------------------------------------------


def messages_said(finder: MessageFinder, agent: str, fact: Fact, edit: Edit) -> list[Ref]:
    """Return a fact's evidence and the messages whose words contain what it says, in any order."""
    near = finder.messages_about(agent, fact.text, CANDIDATES)
    own = [fact.evidence] if fact.evidence else []
    return own + [ref for ref, text in near if says(text, fact.text)]


def summaries(paths: VaultPaths, agent: str, fact: Fact, edit: Edit) -> Iterator[str]:
    """Yield the paths of an agent's summaries: L1 before L2, which sums it up."""
    yield paths.active_context(agent)
    folder = paths.root / paths.summaries(agent)
    yield from map(paths.relative, sorted(folder.rglob("*.md")))
