"""One suggestion: what it asks for, its lines in Suggestions.md, and how they are read again.

The visible words are the person's to change. What they do not show (time, section, evidence)
stands in a comment at the end; without it, what can be seen is enough.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from vaultmind.memory.audit import ref_of
from vaultmind.memory.sections import heading
from vaultmind.memory.suggestions.words import (
    OPS,
    OUTCOMES,
    Failure,
    Op,
    Said,
    SettledAs,
    is_failure,
    take_apart,
    why_of,
    words_of,
)
from vaultmind.memory.words import saying, tokens
from vaultmind.redact import mask
from vaultmind.types import SECTIONS, Caller, MemoryWrite, MessageRef, Section
from vaultmind.vault.bullets import COMMENT, MARKER, Bullet, bullets, plain
from vaultmind.vault.oneline import escape, one_line, unescape
from vaultmind.vault.paths import AGENT_NAME, SESSION_ID, VaultPaths

State = Literal["waiting", "accepted", "rejected", "settled"]

_ID = re.compile(r"(?:^|(?<=\s))\^(s-[a-z0-9]+)(?=\s|$)")
_META = re.compile(r"(?:(?<![ \t])[ \t]+)?%%(\{[^\r\n]*?\})%%")
_TRIED = re.compile(r'%%\{"tried":"([0-9a-f]+)"\}%%')
_BOX = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(.)\]")
_OLD = re.compile(r"~~((?:\\.|[^~\\])+)~~[ \t]*→")
_LINK = re.compile(r"\[\[([^\[\]|]*/memory/sessions/[^\[\]|]*)")
_PAIRS = re.compile(r"\\.|~")
_UNINDENTED = re.compile(r"\n[^\s]")
_TAB = 4
_SHORT = 16


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that an agent would like to make, and all that is needed to make it."""

    id: str
    """Its block id: `s-k3f9`."""
    op: Op
    agent: str
    """Whose memory."""
    caller: Caller
    text: str
    old: str = ""
    """For `replace`: the words of the fact that goes."""
    section: Section | None = None
    evidence: MessageRef | None = None
    how: str = "said"
    reason: str = ""
    time: str = ""
    """ISO 8601 with an offset; empty where a hand took it away."""

    def write(self, caller: Caller | None = None) -> MemoryWrite:
        """Return the change as a write: by the one who suggested it, or by another caller."""
        return MemoryWrite(
            self.op,
            self.agent,
            caller or self.caller,
            self.text,
            self.old,
            self.section,
            self.evidence,
            self.how,
            self.reason,
        )


@dataclass(frozen=True, slots=True)
class Listed:
    """A suggestion as it stands in the file, in the person's words where they changed it."""

    suggestion: Suggestion
    state: State
    start: int
    """Of its first line, in the text."""
    end: int
    """Of the last line under it, without the newline."""
    outcome: SettledAs | None = None
    on: str = ""
    """The ISO date it was settled."""
    fault: Failure | None = None
    """Why it cannot be applied as it stands."""
    was: str = ""
    """Salted digest of the words it was made with."""
    untouched: bool = False
    """The lines under it are as we wrote them."""
    tried: str = ""
    """What of it could not be applied, as a digest: a line under it says why."""

    @property
    def is_due(self) -> bool:
        """Tell whether the person settled it, and nobody acted on these words yet."""
        if self.state == "accepted":
            return self.tried != attempt(self.suggestion)
        return self.state == "rejected"

    def means(self, other: Suggestion) -> bool:
        """Tell whether it is, or was before a person changed its words, the same suggestion."""
        mine = self.suggestion
        if (mine.op, mine.agent) != (other.op, other.agent):
            return False
        if self.was and self.was == _digest(mine.id, other):
            return True
        same_old = not mine.old or saying(mine.old) == saying(other.old)
        return same_old and saying(mine.text) == saying(other.text)


def suggestion_of(write: MemoryWrite, suggestion_id: str, time: str) -> Suggestion:
    """Return the suggestion that asks for a write. The texts must be safe to store."""
    return Suggestion(
        suggestion_id,
        write.op,
        write.agent,
        write.caller,
        one_line(write.text),
        one_line(write.old),
        write.section,
        write.evidence,
        write.how,
        one_line(write.reason),
        time,
    )


@lru_cache(maxsize=8)
def parse(text: str) -> tuple[Listed, ...]:
    """Return every suggestion of the file, settled ones too. Lenient; never raises."""
    found = bullets(text)
    listed: list[Listed] = []
    for i, bullet in enumerate(found):
        if listed and bullet.start < listed[-1].end:
            continue
        one = _listed(bullet, _below(found, i, text), text)
        if one is not None:
            listed.append(one)
    return tuple(listed)


def render(suggestion: Suggestion, paths: VaultPaths, language: str = "en") -> str:
    """Return a suggestion's lines: the task, and below it what, for whom, why and from where."""
    words = words_of(language)
    before, after = words.nothing, words.above
    if suggestion.op == "forget":
        before, after = after, before
    elif suggestion.op == "replace":
        before = f"~~{_struck(suggestion.old)}~~"
    diff = f"{before} → {after}, {words.whose} **{suggestion.agent}**"
    if suggestion.section:
        diff += f", {words.under} *{heading(suggestion.section, language)}*"
    under = [diff]
    if suggestion.reason:
        under.append(f"{words.why}: {escape(suggestion.reason)}")
    source = _source(suggestion.evidence, paths, words.message)
    when = suggestion.time[:16].replace("T", " ")
    under += [", ".join(part for part in (when, source) if part)] if when or source else []
    lines = [f"    - {line}" for line in under]
    lines[-1] += f" {_meta(suggestion, fingerprint(lines))}"
    label = words.label(suggestion.op, suggestion.caller.name, suggestion.agent)
    task = f"- [ ] {label}: {escape(suggestion.text)} ^{suggestion.id}"
    return "\n".join((task, *lines))


def render_settled(
    one: Listed, lines: list[str], outcome: SettledAs, on: str, language: str
) -> str:
    """Return a suggestion's lines once it is settled: one, dated; all where a person touched them.

    `lines` are its lines as they stand.
    """
    suggestion = one.suggestion
    own = _own(bullets("\n".join(lines))[0])
    said = mask(" ".join(_ID.sub("", _META.sub("", MARKER.sub("", own, count=1))).split())).text
    note = {"settled": outcome, "on": on, "op": suggestion.op, "agent": suggestion.agent}
    note |= {"by": suggestion.caller.agent, "id": suggestion.id, "was": one.was}
    mark = "x" if outcome == "accepted" else "-"
    first = f"- [{mark}] {on} {words_of(language).outcome(outcome)} · {said} {_comment(note)}"
    first += f" ^{suggestion.id}"
    indent = len(lines[0]) - len(lines[0].lstrip(" \t"))
    below = [] if one.untouched else lines[own.count("\n") + 1 :]
    kept = [_META.sub("", line[indent:]) for line in below if not says_failure(line)]
    return "\n".join((first, *kept))


def render_failure(one: Listed, line: str, failure: Failure, language: str) -> str:
    """Return the line under an accepted suggestion that says why it could not be applied.

    `line` is the suggestion's first one, as it stands.
    """
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    note = _comment({"tried": attempt(one.suggestion)})
    return f"{indent}    - {words_of(language).failure(failure)} {note}"


def says_failure(line: str) -> bool:
    """Tell whether a line under a task is `render_failure`'s."""
    return is_failure(plain(MARKER.sub("", line, count=1))[0]) or bool(_tried(line))


def attempt(suggestion: Suggestion) -> str:
    """Return a digest of what a suggestion would change."""
    said = (suggestion.op, suggestion.agent, suggestion.text, suggestion.old)
    return _hash("\0".join((*said, suggestion.section or "")))


def fingerprint(lines: list[str]) -> str:
    """Return a digest of the lines under a task, our comments and their indent aside."""
    ours = (line for line in lines if not says_failure(line))
    kept = "\n".join(_META.sub("", line).strip() for line in ours)
    return hashlib.sha256(kept.encode(errors="replace")).hexdigest()[:_SHORT]


def _listed(bullet: Bullet, below: tuple[Bullet, ...], text: str) -> Listed | None:
    """Return a task as a suggestion; None for a line of the person's own."""
    end = below[-1].end if below else bullet.end
    lines = [line.rstrip("\r") for line in text[bullet.start : end].split("\n")]
    meta = _read_meta(text[bullet.start : end])
    first = _own(bullet)
    block = _ID.search(_META.sub("", first))
    shown = plain(MARKER.sub("", _ID.sub("", first), count=1))[0]
    said = take_apart(unescape(shown))
    if said.op is None and not meta:
        return None
    suggestion = _suggestion(said, meta, below, block.group(1) if block else "")
    if suggestion is None:
        return None
    outcome = said.outcome or next((one for one in OUTCOMES if one == meta.get("settled")), None)
    return Listed(
        suggestion,
        "settled" if outcome else _state(bullet.raw),
        bullet.start,
        end,
        outcome,
        said.on or str(meta.get("on", "")),
        None if outcome else _fault(suggestion),
        str(meta.get("was", "")),
        meta.get("own") == fingerprint(lines[1:]),
        next((tried for line in lines[1:] if (tried := _tried(line))), ""),
    )


def _suggestion(
    said: Said, meta: dict[str, Any], below: tuple[Bullet, ...], block: str
) -> Suggestion | None:
    op = meta.get("op") if meta.get("op") in OPS else said.op
    agent = _agent(meta.get("agent")) or said.agent
    caller = _agent(meta.get("by")) or said.caller
    if op is None or not agent or not caller:
        return None
    raws = [MARKER.sub("", _own(one), count=1) for one in below]
    old = next((match.group(1) for raw in raws if (match := _OLD.match(raw))), "")
    shown = (unescape(plain(raw)[0]) for raw in raws)
    reason = next((why for line in shown if (why := why_of(line)) is not None), "")
    section = meta.get("section")
    known = str(meta.get("id") or f"s-{_hash(said.text + agent)[:6]}")
    return Suggestion(
        block or known,
        op,
        agent,
        Caller("agent", caller, str(meta.get("client", ""))),
        one_line(said.text),
        one_line(unescape(old)) if op == "replace" else "",
        section if section in SECTIONS else None,
        _evidence(meta.get("evidence"), raws),
        str(meta.get("how", "said")),
        one_line(reason),
        str(meta.get("time", "")),
    )


def _own(bullet: Bullet) -> str:
    """Return a bullet as far as its block id, else its first line: a remark below is no part."""
    raw = COMMENT.sub(lambda match: "\n" if "\n" in match.group() else match.group(), bullet.raw)
    at = block.end() if (block := _ID.search(raw)) else 0
    return raw[:at] + raw[at:].partition("\n")[0]


def _state(raw: str) -> State:
    box = _BOX.match(raw)
    mark = box.group(1) if box else " "
    if mark in "xX":
        return "accepted"
    return "rejected" if mark == "-" else "waiting"


def _fault(suggestion: Suggestion) -> Failure | None:
    if not tokens(suggestion.text):
        return "empty"
    return "no_old" if suggestion.op == "replace" and not suggestion.old else None


def _below(found: tuple[Bullet, ...], i: int, text: str) -> tuple[Bullet, ...]:
    """Return the bullets nested under one."""
    depth, end, below = _indent(found[i]), found[i].end, []
    for one in found[i + 1 :]:
        if _indent(one) <= depth or _UNINDENTED.search(text, end, one.start):
            break
        below.append(one)
        end = one.end
    return tuple(below)


def _indent(bullet: Bullet) -> int:
    spaces = bullet.raw[: len(bullet.raw) - len(bullet.raw.lstrip(" \t"))]
    return len(spaces.expandtabs(_TAB))


def _meta(suggestion: Suggestion, own: str) -> str:
    ref = suggestion.evidence
    return _comment(
        {
            "op": suggestion.op,
            "agent": suggestion.agent,
            "by": suggestion.caller.agent,
            "client": one_line(suggestion.caller.client),
            "section": suggestion.section,
            "how": suggestion.how,
            "time": suggestion.time,
            "evidence": [ref.agent, ref.session, ref.block, ref.id] if ref else None,
            "id": suggestion.id,
            "was": _digest(suggestion.id, suggestion),
            "own": own,
        }
    )


def _comment(values: dict[str, Any]) -> str:
    kept = {key: value for key, value in values.items() if value}
    raw = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    return "%%" + raw.replace("%", "\\u0025") + "%%"


def _read_meta(raw: str) -> dict[str, Any]:
    for match in _META.finditer(raw):
        try:
            value = json.loads(match.group(1))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and "tried" not in value:
            return value
    return {}


def _tried(line: str) -> str:
    """Return what the comment of a `render_failure` line says; empty for any other line."""
    return match.group(1) if (match := _TRIED.search(line)) else ""


def _evidence(value: object, raws: list[str]) -> MessageRef | None:
    if isinstance(value, list) and [type(one) for one in value] == [str] * 4:
        agent, session, block, own = value
        if AGENT_NAME.fullmatch(agent) and SESSION_ID.fullmatch(session):
            return MessageRef(agent, session, block, own)
    links = [match.group(1) for raw in raws for match in _LINK.finditer(raw)]
    return next((ref for link in links if (ref := ref_of(link))), None)


def _source(ref: MessageRef | None, paths: VaultPaths, message: str) -> str:
    if ref is None:
        return ""
    path = paths.session(ref.agent, ref.session).removesuffix(".md")
    block = f"#^{ref.block}" if ref.block else ""
    return f"[[{path}{block}|{message}]]"


def _struck(old: str) -> str:
    """Return a text escaped to stand between `~~` and `~~`."""
    line = _PAIRS.sub(lambda m: "\\~" if m.group() == "~" else m.group(), escape(old))
    loose = len(line) - len(line.rstrip("\\"))
    return line + "\\" * (loose % 2)


def _agent(value: object) -> str:
    return value if isinstance(value, str) and AGENT_NAME.fullmatch(value) else ""


def _digest(salt: str, suggestion: Suggestion) -> str:
    said = (*saying(suggestion.text), "\0", *saying(suggestion.old))
    return _hash("\0".join((salt, suggestion.op, suggestion.agent, *said)))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:_SHORT]
