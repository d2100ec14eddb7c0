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

import json
import logging
import random
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import lru_cache, partial
from typing import Any, Literal

from vaultmind import errors
from vaultmind.language.words import saying
from vaultmind.memory.audit import FOUND, AuditLog, moment, newest_first
from vaultmind.memory.brain import PlacedFact, add_item, block_ids, new_block, parse_brain
from vaultmind.memory.changes import quoted
from vaultmind.memory.replies import phrase
from vaultmind.memory.sections import LANGUAGES
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.types import SECTIONS, Caller, MemoryWrite, MessageRef, Outcome
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
_DONE = ("written", "unchanged")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that an agent would like to make, in the person's words where they changed it."""

    id: str
    """Its block id: `s-k3f9`."""
    write: MemoryWrite
    """The change, by the agent that asks for it."""
    time: str = ""
    """ISO 8601 with an offset."""
    state: State = field(default="waiting", compare=False)
    start: int = field(default=0, compare=False)
    """Where its first line begins in the file's text."""
    end: int = field(default=0, compare=False)
    """Where the last line under it ends, without the newline."""

    def means(self, other: MemoryWrite) -> bool:
        """Tell whether it is the same suggestion."""
        mine = self.write
        if (mine.op, mine.agent) != (other.op, other.agent):
            return False
        same_old = not mine.old or saying(mine.old) == saying(other.old)
        return same_old and saying(mine.text) == saying(other.text)


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
    said = {key: str(meta.get(key) or "") for key in ("agent", "by", "client", "old", "why")}
    if op is None or not all(AGENT_NAME.fullmatch(said[one]) for one in ("agent", "by")):
        return None
    shown = unescape(plain(MARKER.sub("", first, count=1))[0])
    label, colon, words = shown.partition(": ")
    words = words if colon else "" if label.endswith(":") else shown
    ref, box = meta.get("evidence"), _BOX.match(first)
    is_ref = isinstance(ref, list) and [type(one) for one in ref] == [str] * 4
    write = MemoryWrite(
        op, said["agent"], Caller("agent", said["by"], said["client"]),
        one_line(words), one_line(said["old"]),
        next((one for one in SECTIONS if one == meta.get("section")), None),
        MessageRef(*ref) if is_ref and isinstance(ref, list) else None,
        str(meta.get("how", "said")), one_line(said["why"]),
    )  # fmt: skip
    state = _STATES.get(box[1].lower() if box else "", "waiting")
    time = str(meta.get("time", ""))
    block, start, end = placed.fact.block, placed.start, placed.tree_end
    return Suggestion(block, write, time, state, start, end)


def known(text: str, write: MemoryWrite) -> Put:
    """Return whether a suggestion is new to the file, or what makes it needless."""
    listed = parse(text)
    if same := next((one for one in listed if one.means(write)), None):
        return "waiting", same.id
    found = [_source(one.write) for one in listed if one.write.how in FOUND and write.how in FOUND]
    is_full = found.count(_source(write)) >= PER_SESSION or len(found) >= AT_ONCE
    return ("full" if is_full else "new"), ""


def _source(write: MemoryWrite) -> tuple[str, str]:
    """Return the conversation that a suggestion comes from."""
    ref = write.evidence
    return (ref.agent, ref.session) if ref else (write.agent, "")


def new_id(text: str, rng: random.Random) -> str:
    """Return a fresh id for a suggestion in this text."""
    return "s-" + new_block({one.removeprefix("s-") for one in block_ids(text)}, rng)


def add(text: str, one: Suggestion, paths: VaultPaths, language: str = "en") -> str:
    """Return the text with a suggestion at the end of those that wait.

    Raises DamagedMemory where a person's open comment or code would hide it.
    """
    write, ref, language = one.write, one.write.evidence, _language_in(text, language)
    says = partial(_word, language)
    below = [f"{says('instead')}: “{escape(write.old)}”"] if write.op == "replace" else []
    below += [f"{says('why')}: {escape(write.reason)}"] if write.reason else []
    when = [one.time[:16].replace("T", " ")] if one.time else []
    if ref:
        path = paths.session(ref.agent, ref.session).removesuffix(".md")
        block = f"#^{ref.block}" if ref.block else ""
        when.append(f"[[{path}{block}|{says('message')}]]")
    below += [", ".join(when)] if when else []
    meta = {
        "op": write.op, "agent": write.agent, "by": write.caller.agent,
        "client": one_line(write.caller.client), "section": write.section, "how": write.how,
        "time": one.time, "evidence": [ref.agent, ref.session, ref.block, ref.id] if ref else None,
        "old": write.old, "why": write.reason,
    }  # fmt: skip
    kept = {key: value for key, value in meta.items() if value}
    raw = json.dumps(kept, ensure_ascii=False, separators=(",", ":")).replace("%", "\\u0025")
    into = "" if write.caller.name == write.agent else f" {says('into', agent=write.agent)}"
    label = f"**{write.caller.name}** {says(write.op)}{into}"
    task = f"- [ ] {label}: {escape(write.text)} %%{raw}%% ^{one.id}"
    item = "\n".join((task, *(f"    - {line}" for line in below)))
    heads = [_word(code, "waiting") for code in LANGUAGES]
    new = add_item(_begun(text, language), item, says("waiting"), lambda it: it.title in heads)
    if len(parse(new)) != len(parse(text)) + 1:
        raise errors.DamagedMemory("An open comment or code block hides every line.")
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


def begun(language: str) -> str:
    """Return the first words of a file that holds nothing yet."""
    return f"# {_word(language, 'title')}\n\n{_word(language, 'intro')}\n"


def _begun(text: str, language: str) -> str:
    return text if text.strip("\ufeff \t\r\n") else text.rstrip(" \t\r\n") + begun(language)


def _language_in(text: str, language: str) -> str:
    """Return the language of a file's headings, else the one given."""
    titles = {one.title for one in parse_brain(text).headings}
    names = ("title", "waiting")
    found = (code for code in LANGUAGES if titles & {_word(code, name) for name in names})
    return next(found, language)


def _word(language: str, name: str, **values: object) -> str:
    return phrase(language, name, "suggestions", **values)


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
        put: Put = ("new", "")

        def change(text: str) -> str | None:
            nonlocal put
            put = rejected or known(text, write)
            if put[0] != "new":
                return None
            put = "new", new_id(text, self._rng)
            return add(text, Suggestion(put[1], write, time), self._paths, language)

        self._change(change)
        return put

    def seen(self, write: MemoryWrite) -> Put:
        """Return what would become of a suggestion of this write; nothing is put."""
        return self._rejected(write) or known(self._text(), write)

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
        waits = (one.write.agent for one in self.listed() if one.state == "waiting")
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
                    self._note(one.write.caller, one, "expired", f"no answer in {EXPIRE_DAYS} days")
            done = [self._settled(one) for one in self.due()]
        return tuple(one for one in done if one)

    def answer(self, suggestion_id: str, accept: bool, caller: Caller) -> Outcome:
        """Accept or reject one suggestion in the person's name.

        Raises BadArgument for every caller but the person, NotFound for an id that does not
        wait; what `gate.write` raises, with the suggestion left as it was.
        """
        if caller.kind != "person":
            raise errors.BadArgument("caller", caller.name, "the person: agents approve nothing")
        with self._lock:
            wanted = suggestion_id.strip().removeprefix("^").lower()
            names = {wanted, f"s-{wanted.removeprefix('s-')}"}
            found = next((one for one in self.listed() if one.id in names), None)
            if found is None:
                raise errors.NotFound(
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
            outcome = self._tried(one)
            if outcome.outcome in _DONE:
                self._removed(one)
            else:
                why = outcome.reason or outcome.message
                self._change_one(one, lambda text, found: tell(text, found, why))
            return outcome
        except (errors.WriteConflict, errors.WriteFailed) as error:
            log.warning("a suggestion stays due: %s", error)
            return None

    def _tried(self, one: Suggestion) -> Outcome:
        try:
            return self._applied(one, OBSIDIAN)
        except (errors.WriteConflict, errors.WriteFailed):
            raise
        except (errors.VaultMindError, OSError) as error:
            log.warning("a suggestion could not be applied: %s", error)
            return self._failed(one, str(error))

    def _applied(self, one: Suggestion, caller: Caller) -> Outcome:
        """Write what a suggestion says, unless the audit says that this was done."""
        if one.write.agent not in self._paths.agent_names():
            return self._failed(one, "there is no agent of this name")
        if done := self._done_already(one):
            return done
        where = _WHERE.get(caller.client, "elsewhere")
        told = f"suggested by {one.write.caller.name}, approved {where} (^{one.id})"
        reason = f"{told}: {one.write.reason}" if one.write.reason else told
        outcome = self._write(replace(one.write, caller=caller, reason=reason))
        # what a crash cut short was completed just now
        return outcome if outcome.outcome in _DONE else self._done_already(one) or outcome

    def _done_already(self, one: Suggestion) -> Outcome | None:
        """Return the outcome of a suggestion whose words were written before a crash hid it."""
        wish = one.write
        for line in newest_first(self._paths, (wish.agent,), holding=one.id):
            ours = f"(^{one.id})" in line.reason.partition(": ")[0]  # an agent's words follow it
            by_person = line.caller == OBSIDIAN.name and line.outcome == "written"
            is_it = wish.op == "forget" or _same(line.after, wish.text)
            if ours and by_person and is_it and not line.undoes:
                message = f"Already done: {quoted(wish.text)} (change {line.id})."
                path = self._paths.brain(wish.agent)
                return Outcome("unchanged", wish.agent, path=path, message=message)
        return None

    def _reject(self, one: Suggestion, caller: Caller) -> Outcome:
        path = self._paths.suggestions
        if not self._removed(one):
            raise errors.WriteConflict(f"The suggestion in {path} was changed just now.")
        self._note(caller, one, "rejected", f"suggested by {one.write.caller.name}")
        message = f"Rejected: {quoted(one.write.text)}. It does not come back."
        return Outcome("unchanged", one.write.agent, path=path, message=message)

    def _note(self, caller: Caller, one: Suggestion, outcome: str, reason: str) -> None:
        wish, agents = one.write, self._paths.agent_names()
        if home := next((it for it in (wish.agent, wish.caller.agent) if it in agents), ""):
            before, after = (wish.text, "") if wish.op == "forget" else (wish.old, wish.text)
            self._audit.note(
                caller, home, wish.op, outcome, reason=reason, section=wish.section or "",
                before=mask(before).text, after=mask(after).text,
                evidence=self._audit.evidence(wish.evidence), how=wish.how * (wish.how in FOUND),
            )  # fmt: skip

    def _failed(self, one: Suggestion, why: str) -> Outcome:
        message = f"Not written: {quoted(one.write.text)}: {why.rstrip('.')}. It goes on waiting."
        path = self._paths.suggestions
        return Outcome("not_found", one.write.agent, path=path, message=message, reason=why)

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
        except (errors.DamagedMemory, errors.UnreadableNote) as error:
            reason = error.reason if isinstance(error, errors.UnreadableNote) else error.message
            raise errors.DamagedMemory(
                f"{path} cannot be used: {reason}",
                hint="Nothing was changed. Repair the file or rename it; a new one will be made.",
            ) from error

    def _text(self) -> str:
        try:
            return self._reader.read(self._paths.suggestions).text
        except errors.NotFound:
            return ""


def _same(stored: str, text: str) -> bool:
    return saying(stored) == saying(one_line(mask(text).text))
