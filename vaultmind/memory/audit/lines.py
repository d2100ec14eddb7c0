"""audit-<device>.jsonl: a line for every change of memory, append only, one file a device.

How the lines are chained, checked and erased is `memory/audit/chain`'s business.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from vaultmind.memory.forget.kinds import Ref, SummaryRef
from vaultmind.types import MessageRef
from vaultmind.vault.paths import VaultPaths

TEXTS = ("before", "after", "reason")
"""Keys that may hold a person's words: an erasure empties them, the rest of a line stays."""
SALTS = "salts"
SUMS = "sums"
DIGEST_CHARS = 32
ID_CHARS = 8

_NAME = re.compile(r"audit-[A-Za-z0-9-]+\.jsonl")
_REF = re.compile(r"(?P<agent>[^/#]+)/(?P<session>[^/#]+)#(?P<at>\^)?(?P<id>.+)", re.DOTALL)
_EVIDENCE = re.compile(r".*/([a-z0-9][a-z0-9_-]*)/memory/sessions/([^/#]+)(?:#\^(\S+))?")
_RUN_LINE = re.compile(r"([a-z0-9][a-z0-9_-]*):(.*/conversations/.+\.jsonl)#\^(L\d+)", re.DOTALL)
_PART = re.compile(
    r"(.*/([a-z0-9][a-z0-9_-]*)/(?:memory/(?:summaries/[^#]+|active_context)|episodes/[^#]+))"
    r"#\^(\S+)"
)


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
    valid_until: str = ""
    """Until when `before` was true; set where a fact was replaced or forgotten."""
    hidden: tuple[str, ...] = ()
    """The messages this change hid from recall, as `ref_text` writes them."""
    undoes: str = ""
    """The id of the line that this change undid."""
    how: str = ""
    """`extracted` or `reported` for what extraction or an agent's report wrote; else empty."""
    id: str = ""
    """Made from the line's digest when it is read; never written. An erasure keeps it."""
    erased: bool = False
    """Its texts were erased; never written."""
    altered: bool = False
    """A text of it is not the one that was written, where that was checked; never written."""


EXTRACTED = "extracted"
"""`how` of a fact that extraction found: in a brain's comment, and in the audit."""
REPORTED = "reported"
"""`how` of a fact that an agent reported, with the words of the person that it quotes."""
FOUND = frozenset({EXTRACTED, REPORTED})
"""Neither was asked for by the person: what is said against one of them holds for the other."""
DROP = "drop"
"""The operation of a line that tells of a fact which was not kept. Nothing was changed, so that
the story of the changes is told without it."""
BEGUN = "begun"
"""The outcome of a line that stands before a change of a fact; the line of what came of it follows.
"""
_FACT_OPS = ("remember", "replace", "forget")
_ENDS = ("written", "unchanged", "not_found", "suggested", "denied")

_STRINGS = (
    *("time", "caller", "client", "agent", "op", "outcome", "section", "before", "after"),
    *("evidence", "reason", "path", "block", "valid_until", "undoes", "how"),
)
_SELDOM = ("valid_until", "undoes", "how", "hidden")
"""Keys that are written only where they say something."""


def record(line: AuditLine) -> dict[str, Any]:
    """Return what is written of an audit line, in its order."""
    values: dict[str, Any] = {key: getattr(line, key) for key in _STRINGS}
    values["hidden"] = list(line.hidden)
    return {key: value for key, value in values.items() if value or key not in _SELDOM}


def parse_line(raw: str, *, check: bool = False) -> AuditLine | None:
    """Return what a line of an audit file says; None for one that cannot be read.

    With `check` its texts are held against their digests, which takes its time in a long file.
    """
    value = load(raw)
    if value is None:
        return None
    texts = {key: str(value.get(key) or "") for key in _STRINGS}
    hidden = value.get("hidden")
    sums = value.get(SUMS)
    chained = check and isinstance(sums, dict) and isinstance(value.get(SALTS), dict)
    return AuditLine(
        **texts,
        hidden=tuple(str(one) for one in hidden) if isinstance(hidden, list) else (),
        id=chained_digest(value)[:ID_CHARS],
        erased=isinstance(sums, dict) and any(not texts.get(key) for key in sums),
        altered=chained and not all(is_sound(key, value) for key in TEXTS),
    )


def load(raw: str) -> dict[str, Any] | None:
    """Return a line's JSON object; None for anything else, as a crash may have left it."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def text_digest(salt: str, text: str) -> str:
    """Return the salted digest of a text."""
    return hashlib.sha256(f"{salt}\0{text}".encode()).hexdigest()[:DIGEST_CHARS]


def is_sound(key: str, value: dict[str, Any]) -> bool:
    """Tell whether a chained line's text is as it was written, or erased with its salt."""
    text, total, salt = value.get(key, ""), value[SUMS].get(key), value[SALTS].get(key)
    if text == "" and salt is None:
        return True
    try:
        return isinstance(text, str) and text_digest(str(salt), text) == total
    except UnicodeEncodeError:
        return False


def chained_digest(value: dict[str, Any]) -> str:
    """Return the digest of a line's chained part: all of it but the texts and their salts.

    The texts are in it by their salted digests, so that they can be erased later. A line that
    was written before there was a chain counts whole.
    """
    left_out = (*TEXTS, SALTS) if SUMS in value else ()
    part = {key: one for key, one in value.items() if key not in left_out}
    raw = json.dumps(part, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(raw.encode()).hexdigest()[:DIGEST_CHARS]


def begins(line: AuditLine) -> bool:
    """Tell whether a line says only that a change of a fact was begun."""
    return line.outcome == BEGUN and line.op in _FACT_OPS


def ends(line: AuditLine, agent: str) -> bool:
    """Tell whether a line says what became of a change of an agent's facts.

    A device changes them one after another, and completes what was cut short before the next: so
    any such line ends whatever was begun before it. An undo does not.
    """
    fact = line.op in _FACT_OPS and line.outcome in _ENDS
    return fact and line.agent == agent and not line.undoes


def may_tell_of_facts(raw: str) -> bool:
    """Tell whether a line may be of a change of a fact, without taking it apart."""
    return any(f'"op": "{op}"' in raw for op in _FACT_OPS)


def read_audit(paths: VaultPaths, agent: str) -> tuple[AuditLine, ...]:
    """Return an agent's audit over all devices, oldest first; unreadable lines are left out."""
    folder = paths.absolute(paths.memory(agent))
    if not folder.is_dir():
        return ()
    files = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))
    lines = [
        line
        for path in files
        if path.is_file() and not path.is_symlink()
        for line in _ended(_lines(path.read_text("utf-8", errors="replace")), agent)
    ]
    return tuple(sorted(lines, key=_moment))


def ref_text(ref: Ref) -> str:
    """Return a message as `hidden` names it: `main/2026-02-20_001#^m7`, or `…#<own id>`.

    A part of a summary goes by the summary's path: `…/memory/summaries/L1/L1_001#^p3`, a line of
    a run by that of its file: `main:…/conversations/scheduler_daily/1.jsonl#^L12`.
    """
    if isinstance(ref, SummaryRef):
        whose = f"{ref.agent}:" if ref.is_run else ""  # no path of a run says it
        return f"{whose}{ref.summary}#^{ref.block}"
    at = f"^{ref.block}" if ref.block else ref.id
    return f"{ref.agent}/{ref.session}#{at}"


def hidden_ref(text: str) -> Ref | None:
    """Return what a name in `hidden` stands for: a message, a part of a summary or episode."""
    if line := _RUN_LINE.fullmatch(text):
        return SummaryRef(*line.groups())
    part = _PART.fullmatch(text)
    return SummaryRef(part[2], part[1], part[3]) if part else ref_of(text)


def ref_of(text: str) -> MessageRef | None:
    """Return the message that `ref_text` or a line's `evidence` names; None for anything else."""
    if evidence := _EVIDENCE.fullmatch(text):
        agent, session, block = evidence.groups(default="")
        return MessageRef(agent, session, block)
    match = _REF.fullmatch(text)
    if match is None:
        return None
    block, own = (match["id"], "") if match["at"] else ("", match["id"])
    return MessageRef(match["agent"], match["session"], block, own)


def _ended(lines: Iterable[AuditLine], agent: str) -> Iterator[AuditLine]:
    """Return a file's lines without those that were begun and have ended since."""
    kept: list[AuditLine] = []
    is_over = False
    for line in reversed([*lines]):
        if not (is_over and begins(line)):
            kept.append(line)
        is_over = is_over or begins(line) or ends(line, agent)
    return reversed(kept)


def _lines(text: str) -> Iterator[AuditLine]:
    """Yield a file's lines; one that an interrupted append wrote twice counts once."""
    last = ""
    for raw in text.split("\n"):
        line = None if raw == last else parse_line(raw)
        last = raw or last
        if line:
            yield line


def _moment(line: AuditLine) -> tuple[float, str]:
    """Return when a line was written, across time zones; what is no time comes first."""
    try:
        time = datetime.fromisoformat(line.time)
    except ValueError:
        return 0.0, line.time
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp(), ""
