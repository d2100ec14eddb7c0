"""Suggestions.md: what waits for the person's approval, as tasks to tick, and what they answer.

    - [ ] **main** wants to remember: Prefers short answers %%{"op":"remember",…}%% ^s-k3f9
        - why: said twice
        - 2026-02-20 10:00, [[VaultMind/…/2026-02-20_001#^m7|the message]]

`[x]` accepts, `[-]` rejects. What counts is the text after the colon as it stands when it is
ticked: the person may have changed it; all else stands in the comment, and a task without one is
the person's own. A settled one leaves the file, and the log tells of it; a rejected one is not made
again. Every line that is not ours stays where it is, newlines and byte order mark too.

An accepted one is written first, as the person, through the whole gate, and settled second: a
crash in between finds it ticked, sees in the audit that it was written, and settles it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import random
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import lru_cache
from typing import Any, Literal

from vaultmind.errors import (
    BadArgument,
    DamagedMemory,
    NotFound,
    UnreadableNote,
    VaultMindError,
    WriteConflict,
    WriteFailed,
)
from vaultmind.memory.audit import FOUND, AuditLog, moment, newest_first
from vaultmind.memory.brain import PlacedFact, add_item, block_ids, new_block, parse_brain
from vaultmind.memory.changes import quoted
from vaultmind.memory.replies import phrase
from vaultmind.memory.sections import LANGUAGES
from vaultmind.memory.words import saying
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.types import SECTIONS, Caller, MemoryWrite, MessageRef, Outcome, Section
from vaultmind.vault.bullets import MARKER, plain
from vaultmind.vault.edits import line_span, newline_of, with_newlines
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.oneline import escape, one_line, unescape
from vaultmind.vault.paths import AGENT_NAME, VaultPaths

Op = Literal["remember", "replace", "forget"]
OPS: tuple[Op, ...] = ("remember", "replace", "forget")
State = Literal["waiting", "accepted", "rejected"]
Put = tuple[Literal["new", "waiting", "rejected", "full"], str]
"""What becomes of a suggestion, and its id: new, or needless because it waits already or was
rejected; `full` where extraction has suggested so much that one more would hide the rest."""
PER_SESSION, AT_ONCE = 5, 25
"""So many suggestions of extraction wait at most: of one conversation, and of all."""
EXPIRE_DAYS = 30
OBSIDIAN = Caller("person", client="obsidian")
"""Who settled what is found ticked or rejected in the file."""

_META = re.compile(r"%%(\{.*?\})%%")
_FAILED = "%%failed%%"
"""Ends the line that says why a ticked suggestion could not be applied."""
_BOX = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(.)\]")
_STATES: dict[str, State] = {"x": "accepted", "-": "rejected"}
_WHERE = {OBSIDIAN.client: "in Suggestions.md", "cli": "on the command line"}
_PLAIN = re.compile(r"[^\w .-]+")
_APPROVED = re.compile(r"suggested by [a-z0-9_-]+, approved [\w .-]+ \(\^(s-[a-z0-9]+)\)")
"""What the reason of such a write begins with; what follows is the agent's own words."""
_DONE = ("written", "unchanged")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that an agent would like to make, in the person's words where they changed it."""

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
    """ISO 8601 with an offset."""
    state: State = field(default="waiting", compare=False)
    was: str = field(default="", compare=False)
    """A salted digest of its words before the person changed them."""
    start: int = field(default=0, compare=False)
    """Where its first line begins in the file's text."""
    end: int = field(default=0, compare=False)
    """Where the last line under it ends, without the newline."""

    def write(self, caller: Caller) -> MemoryWrite:
        """Return the change as a write by a caller."""
        return MemoryWrite(
            self.op, self.agent, caller, self.text, self.old, self.section, self.evidence,
            self.how, self.reason,
        )  # fmt: skip

    def means(self, other: Suggestion) -> bool:
        """Tell whether it is, or was before a person changed its words, the same suggestion."""
        if (self.op, self.agent) != (other.op, other.agent):
            return False
        if self.was and self.was == _was(self.id, other):
            return True
        same_old = not self.old or saying(self.old) == saying(other.old)
        return same_old and saying(self.text) == saying(other.text)


# --- the file's text ----------------------------------------------------------------------


@lru_cache(maxsize=8)
def parse(text: str) -> tuple[Suggestion, ...]:
    """Return every suggestion of the file. Lenient; never raises."""
    return tuple(one for placed in parse_brain(text).facts if (one := _suggestion(placed, text)))


def _suggestion(placed: PlacedFact, text: str) -> Suggestion | None:
    """Return a task as a suggestion; None for a line of the person's own."""
    first = text[placed.start : placed.tree_end].split("\n", maxsplit=1)[0]
    match = _META.search(first)
    try:
        meta: dict[str, Any] = json.loads(match[1]) if match else {}
    except (ValueError, RecursionError):
        return None
    op = next((one for one in OPS if one == meta.get("op")), None)
    said = {key: str(meta.get(key) or "") for key in ("agent", "by", "client", "old", "why", "was")}
    if op is None or not all(AGENT_NAME.fullmatch(said[one]) for one in ("agent", "by")):
        return None
    shown = unescape(plain(MARKER.sub("", first, count=1))[0])
    label, colon, words = shown.partition(": ")
    words = words if colon else "" if label.endswith(":") else shown
    ref, box = meta.get("evidence"), _BOX.match(first)
    is_ref = isinstance(ref, list) and [type(one) for one in ref] == [str] * 4
    return Suggestion(
        placed.fact.block, op, said["agent"], Caller("agent", said["by"], said["client"]),
        one_line(words), one_line(said["old"]),
        next((one for one in SECTIONS if one == meta.get("section")), None),
        MessageRef(*ref) if is_ref and isinstance(ref, list) else None,
        str(meta.get("how", "said")), one_line(said["why"]), str(meta.get("time", "")),
        _STATES.get(box[1].lower() if box else "", "waiting"), said["was"],
        placed.start, placed.tree_end,
    )  # fmt: skip


def suggestion_of(write: MemoryWrite, suggestion_id: str = "", time: str = "") -> Suggestion:
    """Return the suggestion that asks for a write. The texts must be safe to store."""
    return Suggestion(
        suggestion_id, write.op, write.agent, write.caller, one_line(write.text),
        one_line(write.old), write.section, write.evidence, write.how, one_line(write.reason), time,
    )  # fmt: skip


def known(text: str, suggestion: Suggestion) -> Put:
    """Return whether a suggestion is new to the file, or what makes it needless."""
    listed = parse(text)
    if same := next((one for one in listed if one.means(suggestion)), None):
        return "waiting", same.id
    found = [_source(one) for one in listed if one.how in FOUND and suggestion.how in FOUND]
    is_full = found.count(_source(suggestion)) >= PER_SESSION or len(found) >= AT_ONCE
    return ("full", "") if is_full else ("new", suggestion.id)


def _source(one: Suggestion) -> tuple[str, str]:
    """Return the conversation that a suggestion comes from."""
    return (one.evidence.agent, one.evidence.session) if one.evidence else (one.agent, "")


def new_id(text: str, rng: random.Random) -> str:
    """Return a fresh id for a suggestion in this text."""
    return "s-" + new_block({one.removeprefix("s-") for one in block_ids(text)}, rng)


def add(text: str, one: Suggestion, paths: VaultPaths, language: str = "en") -> str:
    """Return the text with a suggestion at the end of those that wait.

    Raises DamagedMemory where a person's open comment or code would hide it.
    """
    language = _language_in(text, language)
    ref, below = one.evidence, list[str]()
    if one.op == "replace":
        below.append(f"{_word(language, 'instead')}: “{escape(one.old)}”")
    if one.reason:
        below.append(f"{_word(language, 'why')}: {escape(one.reason)}")
    when = [one.time[:16].replace("T", " ")] if one.time else []
    if ref:
        path = paths.session(ref.agent, ref.session).removesuffix(".md")
        block = f"#^{ref.block}" if ref.block else ""
        when.append(f"[[{path}{block}|{_word(language, 'message')}]]")
    below += [", ".join(when)] if when else []
    meta = {
        "op": one.op, "agent": one.agent, "by": one.caller.agent,
        "client": one_line(one.caller.client), "section": one.section, "how": one.how,
        "time": one.time, "evidence": [ref.agent, ref.session, ref.block, ref.id] if ref else None,
        "old": one.old, "why": one.reason, "was": _was(one.id, one),
    }  # fmt: skip
    kept = {key: value for key, value in meta.items() if value}
    raw = json.dumps(kept, ensure_ascii=False, separators=(",", ":")).replace("%", "\\u0025")
    label = f"**{one.caller.name}** {_word(language, one.op)}"
    if one.caller.name != one.agent:
        label += f" {_word(language, 'into', agent=one.agent)}"
    task = f"- [ ] {label}: {escape(one.text)} %%{raw}%% ^{one.id}"
    item = "\n".join((task, *(f"    - {line}" for line in below)))
    heads = [_word(code, "waiting") for code in LANGUAGES]
    new = add_item(
        _begun(text, language), item, _word(language, "waiting"), lambda it: it.title in heads
    )
    if len(parse(new)) != len(parse(text)) + 1:
        raise DamagedMemory("An open comment or code block hides every line.")
    return new


def remove(text: str, ones: Sequence[Suggestion]) -> str:
    """Return the text without some suggestions and what stands under them."""
    for one in sorted(ones, key=lambda each: each.start, reverse=True):
        first, stop = line_span(text, one.start, one.end)
        text = text[:first] + text[stop:]
    return text


def tell(text: str, one: Suggestion, reason: str) -> str:
    """Return the text with a suggestion unticked, and a line under it that says why."""
    first, *below = [line.rstrip("\r") for line in text[one.start : one.end].split("\n")]
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    first = _BOX.sub(lambda m: m[0].replace(f"[{m[1]}]", "[ ]"), first, count=1)
    told = _word(_language_in(text, "en"), "failed", reason=escape(one_line(reason)).rstrip("."))
    why = f"{indent}    - {told} {_FAILED}"
    lines = [first, *(line for line in below if _FAILED not in line), why]
    return text[: one.start] + with_newlines("\n".join(lines), newline_of(text)) + text[one.end :]


def warn(text: str, note: str, language: str = "en") -> str:
    """Return the text with a note for the person at its end."""
    newline = newline_of(text)
    start = _begun(text, _language_in(text, language)).rstrip("\r\n")
    return f"{start}{newline}{newline}{with_newlines(note, newline)}{newline}"


def begun(language: str) -> str:
    """Return the first words of a file that holds nothing yet."""
    return f"# {_word(language, 'title')}\n\n{_word(language, 'intro')}\n"


def _begun(text: str, language: str) -> str:
    return text if text.strip("\ufeff \t\r\n") else text.rstrip(" \t\r\n") + begun(language)


def _language_in(text: str, language: str) -> str:
    """Return the language of a file's headings, else the one given."""
    titles = {one.title for one in parse_brain(text).headings}
    ours = ({_word(code, "title"), _word(code, "waiting")} for code in LANGUAGES)
    found = (code for code, words in zip(LANGUAGES, ours, strict=True) if words & titles)
    return next(found, language)


def _word(language: str, name: str, **values: object) -> str:
    return phrase(language, name, "suggestions", **values)


def _was(salt: str, one: Suggestion) -> str:
    """Return a salted digest of a suggestion's words, which outlives an erasure of them."""
    parts = (salt, one.op, one.agent, *saying(one.text), "\0", *saying(one.old))
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:16]


# --- what the person answers --------------------------------------------------------------


class Queue:
    """The suggestions of one vault, and the person's answers to them. Any thread.

    Every change goes through `edit`, the gate's compare-and-swap: a person's edit that comes
    first is kept, and the change is made again to the newer text.
    """

    def __init__(
        self,
        reader: VaultReader,
        edit: Callable[[str, Change], object],
        write: Callable[[MemoryWrite], Outcome],
        audit: AuditLog,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self._reader, self._paths, self._edit = reader, reader.paths, edit
        self._write, self._audit, self._clock, self._rng = write, audit, clock, rng
        self._lock = threading.Lock()

    def put(self, write: MemoryWrite, language: str = "en") -> Put:
        """Make a suggestion of a write whose texts are safe to store, unless it was made before.

        The file is made where it is missing. Raises DamagedMemory, which names the file, where
        nothing can be added to it; WriteConflict and WriteFailed when nothing was written.
        """
        time, rejected = self._clock().isoformat(timespec="seconds"), self._rejected(write)
        done: list[Put] = []

        def change(text: str) -> str | None:
            one = suggestion_of(write, new_id(text, self._rng), time)
            done.append(rejected or known(text, one))
            return add(text, one, self._paths, language) if done[-1][0] == "new" else None

        self._change(change)
        return done[-1]

    def seen(self, write: MemoryWrite) -> Put:
        """Return what would become of a suggestion of this write; nothing is put."""
        return self._rejected(write) or known(self._text(), suggestion_of(write))

    def _rejected(self, write: MemoryWrite) -> Put | None:
        """Return that the person has rejected the same before, as the log has it."""
        for line in newest_first(self._paths, (write.agent,), (write.op,), '"rejected"'):
            text = line.before if write.op == "forget" else line.after
            if line.outcome == "rejected" and _same(text, write.text):
                return "rejected", ""
        return None

    def listed(self) -> tuple[Suggestion, ...]:
        """Return every suggestion in order. Raises UnreadableNote for a file that is no text."""
        return parse(self._text())

    def waiting(self, agent: str = "") -> int:
        """Return how many wait for the person: for one agent's memory, or for anybody's.

        Raises UnreadableNote.
        """
        waits = (one.agent for one in self.listed() if one.state == "waiting")
        return sum(agent in ("", whose) for whose in waits)

    def due(self) -> tuple[Suggestion, ...]:
        """Return those that the person ticked or rejected and that nobody acted on yet.

        Read as a writer reads, while nobody saves the file: half a save may hold half a fact.
        """
        found: list[tuple[Suggestion, ...]] = [()]
        self._change(lambda text: found.append(parse(text)))
        return tuple(one for one in found[-1] if one.state != "waiting")

    def settle(self) -> tuple[Outcome, ...]:
        """Act on what stands ticked or rejected in the file; expire what is too old.

        What fails for a passing reason stays due. Raises DamagedMemory and UnreadableNote for a
        file that cannot be used, WriteConflict and WriteFailed when it could not be changed.
        """
        with self._lock:
            oldest = (self._clock() - timedelta(days=EXPIRE_DAYS)).timestamp()
            for one in self.listed():
                if one.state == "waiting" and 0 < moment(one.time) < oldest and self._removed(one):
                    self._note(one.caller, one, "expired", f"no answer in {EXPIRE_DAYS} days")
            done = [self._settled(one) for one in self.due()]
        return tuple(one for one in done if one)

    def answer(self, suggestion_id: str, accept: bool, caller: Caller) -> Outcome:
        """Accept or reject one suggestion in the person's name.

        Raises BadArgument for every caller but the person, NotFound for an id that does not
        wait; what `gate.write` raises, with the suggestion left as it was.
        """
        if caller.kind != "person":
            raise BadArgument("caller", caller.name, "the person: agents approve nothing")
        with self._lock:
            wanted = suggestion_id.strip().removeprefix("^").lower()
            names = {wanted, f"s-{wanted.removeprefix('s-')}"}
            found = next((one for one in self.listed() if one.id in names), None)
            if found is None:
                raise NotFound(
                    f"No suggestion {suggestion_id!r} waits in {self._paths.suggestions}.",
                    hint="`vaultmind suggestions list` names those that do.",
                )
            outcome = self._applied(found, caller) if accept else self._reject(found, caller)
            if accept and outcome.outcome in _DONE:
                self._removed(found)
            return outcome

    def _settled(self, one: Suggestion) -> Outcome | None:
        """Act on one that is due; None for one that stays due."""
        try:
            if one.state == "rejected":
                return self._reject(one, OBSIDIAN)
            try:
                outcome = self._applied(one, OBSIDIAN)
            except (WriteConflict, WriteFailed):
                raise
            except (VaultMindError, OSError) as error:
                log.warning("a suggestion could not be applied: %s", error)
                outcome = self._failed(one, str(error))
            if outcome.outcome in _DONE:
                self._removed(one)
            else:
                why = outcome.reason or outcome.message
                self._change_one(one, lambda text, found: tell(text, found, why))
        except (WriteConflict, WriteFailed) as error:
            log.warning("a suggestion stays due: %s", error)
            return None
        return outcome

    def _applied(self, one: Suggestion, caller: Caller) -> Outcome:
        """Write what a suggestion says, unless the audit says that this was done."""
        if one.agent not in self._paths.agent_names():
            return self._failed(one, "there is no agent of this name")
        if done := self._done_already(one):
            return done
        where = _WHERE.get(caller.client) or f"in {_PLAIN.sub(' ', caller.client)}"
        told = f"suggested by {one.caller.name}, approved {where} (^{one.id})"
        reason = ": ".join(part for part in (told, one.reason) if part)
        outcome = self._write(replace(one.write(caller), reason=reason))
        # what a crash cut short was completed just now
        return outcome if outcome.outcome in _DONE else self._done_already(one) or outcome

    def _done_already(self, one: Suggestion) -> Outcome | None:
        """Return the outcome of a suggestion whose words were written before a crash hid it."""
        for line in newest_first(self._paths, (one.agent,), holding=one.id):
            named = _APPROVED.match(line.reason)
            ours = named is not None and named.group(1) == one.id and not line.undoes
            by_person = line.caller == OBSIDIAN.name and line.outcome == "written"
            if ours and by_person and (one.op == "forget" or _same(line.after, one.text)):
                message = f"Already done: {quoted(one.text)} (change {line.id})."
                path = self._paths.brain(one.agent)
                return Outcome("unchanged", one.agent, path=path, message=message)
        return None

    def _reject(self, one: Suggestion, caller: Caller) -> Outcome:
        path = self._paths.suggestions
        if not self._removed(one):
            raise WriteConflict(f"The suggestion in {path} was changed just now.")
        self._note(caller, one, "rejected", f"suggested by {one.caller.name}")
        message = f"Rejected: {quoted(one.text)}. It does not come back."
        return Outcome("unchanged", one.agent, path=path, message=message)

    def _note(self, caller: Caller, one: Suggestion, outcome: str, reason: str) -> None:
        agents = self._paths.agent_names()
        home = next((name for name in (one.agent, one.caller.agent) if name in agents), "")
        if not home:
            log.warning("a suggestion for an agent that is not there came to: %s", outcome)
            return
        before, after = (one.text, "") if one.op == "forget" else (one.old, one.text)
        self._audit.note(
            caller, home, one.op, outcome, reason=reason, section=one.section or "",
            before=mask(before).text, after=mask(after).text,
            evidence=self._audit.evidence(one.evidence), how=one.how if one.how in FOUND else "",
        )  # fmt: skip

    def _failed(self, one: Suggestion, why: str) -> Outcome:
        message = f"Not written: {quoted(one.text)}: {why.rstrip('.')}. It goes on waiting."
        path = self._paths.suggestions
        return Outcome("not_found", one.agent, path=path, message=message, reason=why)

    def _removed(self, expected: Suggestion) -> bool:
        """Take a suggestion out of the file; False where it does not stand there as expected.

        Somebody changed it meanwhile then, and it is left. Raises DamagedMemory.
        """
        return self._change_one(expected, lambda text, one: remove(text, [one]))

    def _change_one(self, expected: Suggestion, new: Callable[[str, Suggestion], str]) -> bool:
        found: list[Suggestion | None] = [None]

        def change(text: str) -> str | None:
            found.append(next((one for one in parse(text) if one == expected), None))
            return new(text, found[-1]) if found[-1] else None

        self._change(change)
        return found[-1] is not None

    def _change(self, change: Callable[[str], str | None]) -> None:
        def changed(file: FileText | None) -> str | None:
            return change(file.text if file else "")

        path = self._paths.suggestions
        try:
            self._edit(path, changed)
        except (DamagedMemory, UnreadableNote) as error:
            reason = error.reason if isinstance(error, UnreadableNote) else error.message
            raise DamagedMemory(
                f"{path} cannot be used: {reason}",
                hint="Nothing was changed. Repair the file or rename it; a new one will be made.",
            ) from error

    def _text(self) -> str:
        try:
            return self._reader.read(self._paths.suggestions).text
        except NotFound:
            return ""


def _same(stored: str, text: str) -> bool:
    return saying(stored) == saying(one_line(mask(text).text))
