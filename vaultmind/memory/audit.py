"""audit-<device>.jsonl: a line for every change of memory, append only, one file a device.

A line says who changed what in whose memory, and which lines of the brain and its archive left and
came (`moves`): with these an undo puts back what stood there. It is written right before a change
of facts is made; where that fails, a second line with the same `id` says so, and only that counts.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge
from pathlib import Path
from typing import Any

from vaultmind.errors import BadArgument, NotFound
from vaultmind.language.words import saying
from vaultmind.memory.brain import Move, message_at
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.tables import adapter
from vaultmind.times import seconds_of
from vaultmind.types import Caller, MessageRef
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths

EXTRACTED = "extracted"
"""`how` of a fact that extraction found: in a brain's comment, and in the audit."""
REPORTED = "reported"
"""`how` of a fact that an agent reported, with the words of the person that it quotes."""
EDITED = "edited"
"""`how` of a fact that the person reworded in the file: it is theirs, from that day on."""
FOUND = frozenset({EXTRACTED, REPORTED})
"""Neither was asked for by the person: what is said against one of them holds for the other."""
FACT_OPS = ("remember", "replace", "forget")
NOTE = "note"
"""The operation of a line that tells of a new note of the person's: its path is the text that came,
or that an undo took away."""
ASKED = (*FACT_OPS, NOTE, "erase")
"""What somebody asked for: of these the last one is meant where an undo names none."""
UNDOABLE = (*FACT_OPS, NOTE, "archive", "hide", "show")
DROP = "drop"
"""The operation of a line that tells of a fact which was not kept. Nothing was changed, so that
the story of the changes is told without it."""
ERASED = "(erased "
"""How a text begins that stands for one that was erased; the day follows."""
MIN_ID_CHARS = 4
"""Fewer letters of an id name nothing."""

_NAME = re.compile(r"audit-([A-Za-z0-9-]+)\.jsonl")
_NAMED = re.compile(r"([a-z0-9][a-z0-9_-]*)[:/]([^#]+)#(\^)?(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AuditLine:
    """What was asked, by whom, and what it came to. Secrets are masked before they get here."""

    time: str
    """ISO 8601 with an offset."""
    caller: str
    """The agent, or `person`."""
    client: str
    agent: str
    """Whose memory."""
    op: str
    """`remember`, `replace`, `forget`, `hide`, `save`, ..."""
    outcome: str
    section: str = ""
    before: str = ""
    after: str = ""
    evidence: str = ""
    """Vault-relative path of the session and the message's block: `…/2026-02-20_001#^m7`."""
    reason: str = ""
    path: str = ""
    block: str = ""
    how: str = ""
    """`extracted` or `reported` for what extraction or an agent's report wrote; else empty."""
    undoes: str = ""
    """The id of the line that this change undid."""
    hidden: tuple[str, ...] = ()
    """The messages this change hid from recall, as `ref_text` writes them."""
    shown: tuple[str, ...] = ()
    """The messages that an undo showed again."""
    moves: tuple[Move, ...] = ()
    sha: str = ""
    """Of a note, as it was saved: the hash of its bytes."""
    id: str = ""
    device: str = field(default="", compare=False)
    """Where it was written; known when it is read."""
    undone_by: str = field(default="", compare=False)
    """The id of the line that undid it; known when it is read among others."""

    @property
    def erased(self) -> bool:
        """Tell whether a text of it was erased."""
        texts = (self.before, self.after, self.reason, *(move.line for move in self.moves))
        return any(text.startswith(ERASED) for text in texts)


def render_line(line: AuditLine) -> str:
    """Return a line as it is written, with its newline."""
    read = {"device", "undone_by"}
    kept = adapter(AuditLine).dump_python(line, exclude_defaults=True, exclude=read)
    return json.dumps(kept, ensure_ascii=False) + "\n"


def parse_line(raw: str, device: str = "") -> AuditLine | None:
    """Return what a line of an audit file says; None for one that cannot be read."""
    try:
        line: AuditLine = adapter(AuditLine).validate_json(raw)
    except ValueError:
        return None
    id = line.id or hashlib.sha256(raw.strip().encode()).hexdigest()[:8]
    return replace(line, device=device, id=id) if line.op else None


@dataclass(slots=True)
class AuditLog:
    """Writes this device's audit of every agent. Any thread."""

    paths: VaultPaths
    device: str
    append: Callable[[str, str], None]
    clock: Clock

    def time(self) -> str:
        """Return the present as lines have it."""
        return self.clock().isoformat(timespec="milliseconds")

    def line(self, caller: Caller, agent: str, op: str, outcome: str, **more: Any) -> AuditLine:  # noqa: ANN401
        """Return a new line, not written yet; `more` are other fields of it."""
        made = AuditLine(self.time(), caller.name, caller.client, agent, op, outcome, **more)
        return replace(made, id=secrets.token_hex(4))

    def write(self, line: AuditLine, home: str = "") -> None:
        """Append a line to its agent's audit, or to that of `home`. Raises WriteFailed."""
        self.append(self.paths.audit(home or line.agent, self.device), render_line(line))

    def note(self, caller: Caller, agent: str, op: str, outcome: str, **more: Any) -> None:  # noqa: ANN401
        """Record something: `more` are fields of an audit line. Texts must be masked."""
        self.write(self.line(caller, agent, op, outcome, **more))


# --- reading ------------------------------------------------------------------------------


def newest_first(
    paths: VaultPaths, agents: Iterable[str], ops: Sequence[str] = (), holding: str = ""
) -> Iterator[AuditLine]:
    """Yield some agents' lines over all devices, each with what undid it.

    Without `ops` all but those of dropped facts. `holding` passes over lines without these
    characters of JSON, which is quick in a long file; undoes come all the same.
    """
    folders = (paths.absolute(paths.memory(agent)) for agent in agents)
    files = [path for folder in folders for path in sorted(folder.glob("audit-*.jsonl"))]
    streams = [
        _lines(path, match[1], holding)
        for path in files
        if (match := _NAME.fullmatch(path.name)) and path.is_file() and not path.is_symlink()
    ]
    undone: dict[str, str] = {}
    for line in merge(*streams, key=lambda one: seconds_of(one.time), reverse=True):
        if line.undoes and line.outcome == "written" and line.id not in undone:
            undone[line.undoes] = line.id
        if line.op in ops if ops else line.op != DROP:
            yield replace(line, undone_by=undone.get(line.id, ""))


def find_line(paths: VaultPaths, agents: Iterable[str], line_id: str) -> AuditLine:
    """Return the line that an id, or the beginning of one, names in the audit of some agents.

    Raises NotFound, and BadArgument for a beginning that fits several lines.
    """
    wanted = line_id.strip().lower()
    lines = newest_first(paths, agents) if len(wanted) >= MIN_ID_CHARS else ()
    found = {line.id: line for line in lines if line.id.startswith(wanted)}
    if not found:
        raise NotFound(f"The log has no change {line_id!r}.", hint="Its ids are the first column.")
    if len(found) > 1 and wanted not in found:
        raise BadArgument("id", line_id, f"one of {', '.join(sorted(found))}")
    return found.get(wanted) or found.popitem()[1]


def settled_before(paths: VaultPaths, agent: str, session: str) -> frozenset[str]:
    """Return the facts that a session left once, each as `settled_words` gives its words.

    Those written, whatever became of them since, and those that the person rejected.
    """
    return frozenset(
        settled_words(line.after)
        for line in newest_first(paths, (agent,), holding=session)
        if line.how and line.after and session_of(line) == session
        if line.outcome in ("written", "rejected")
    )


def settled_words(text: str) -> str:
    """Return the words of a fact as `settled_before` knows them."""
    return " ".join(saying(one_line(mask(text).text)))


def session_of(line: AuditLine) -> str:
    """Return the session that a line's evidence is of."""
    ref = ref_of(line.evidence)
    return ref.session if ref else ""


def _lines(path: Path, device: str, holding: str) -> Iterator[AuditLine]:
    """Yield a file's lines, newest first; of those with one id only the newest."""
    mark = holding.encode()
    known: set[str] = set()
    for raw in reversed(path.read_bytes().split(b"\n")):
        if not raw.strip() or (mark not in raw and b'"undoes"' not in raw):
            continue
        line = parse_line(raw.decode("utf-8", "replace"), device)
        if line and line.id not in known:
            known.add(line.id)
            yield line


# --- what a line names --------------------------------------------------------------------


def ref_text(ref: MessageRef) -> str:
    """Return a message as `hidden` names it: `main/2026-02-20_001#^m7`, or `…#<own id>`.

    A part of a summary goes by its agent and path: `main:…/summaries/L1/L1_001#^p3`.
    """
    at = f"^{ref.block}" if ref.block else ref.id
    return f"{ref.agent}{':' if '/' in ref.session else '/'}{ref.session}#{at}"


def refs_of(names: Iterable[str]) -> tuple[MessageRef, ...]:
    """Return what several names stand for."""
    return tuple(ref for name in names if (ref := ref_of(name)))


def ref_of(text: str) -> MessageRef | None:
    """Return what `ref_text` or a line's `evidence` names; None for anything else."""
    if message := message_at(text):
        return message
    if match := _NAMED.fullmatch(text):
        agent, record, at, name = match.groups()
        return MessageRef(agent, record, name if at else "", "" if at else name)
    return None
