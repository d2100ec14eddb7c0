"""Suggestions.md: what waits for the person's approval, as tasks to tick, and what they answer.

    - [ ] **main** wants to remember: Prefers short answers %%{"op":"remember",…}%% ^s-k3f9
        - why: said twice
        - 2026-02-20 10:00, [[VaultMind/…/2026-02-20_001#^m7|the message]]

`[x]` accepts, `[-]` rejects. What counts is the text after the colon as it stands when it is
ticked: the person may have changed it; all else stands in the comment, and a task without one is
the person's own. A settled one leaves the file, and the log tells of it; a rejected one is not made
again. Every line that is not ours stays where it is, newlines and byte order mark too.

An accepted one is written first, as the person, through the whole gate, and settled second: after a
crash in between it is written again, which changes nothing.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Literal

from vaultmind import errors
from vaultmind.language.words import saying
from vaultmind.memory.audit import FOUND, newest_first, settled_words
from vaultmind.memory.brain import PlacedFact, add_item, block_ids, cut, new_block, parse_brain
from vaultmind.memory.changes import Ask, Step, quoted
from vaultmind.memory.rights import only_person
from vaultmind.memory.wording import LANGUAGES, begun, phrase
from vaultmind.tables import adapter
from vaultmind.types import Caller, MemoryWrite, MessageRef, Outcome
from vaultmind.vault.files import newline_of, with_newlines
from vaultmind.vault.oneline import escape, one_line, unescape
from vaultmind.vault.parts import MARKER, plain
from vaultmind.vault.paths import AGENT_NAME, VaultPaths

if TYPE_CHECKING:
    from vaultmind.memory.gate import Gate

State = Literal["waiting", "accepted", "rejected"]
Put = tuple[Literal["new", "waiting", "rejected", "full"], str]
"""What becomes of a suggestion, and its id: new, or needless because it waits already or was
rejected; `full` where extraction has suggested so much that one more would hide the rest."""
AT_ONCE = 25
"""So many suggestions of extraction wait at most."""
OBSIDIAN = Caller("person", client="obsidian")
"""Who settled what is found ticked or rejected in the file."""

_META = re.compile(r"%%(\{.*?\})%%")
_FAILED = "%%failed%%"
"""Ends the line that says why a ticked suggestion could not be applied."""
_BOX = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(.)\]")
_STATES: dict[str, State] = {"x": "accepted", "-": "rejected"}
_KEYS = {"op": "op", "agent": "agent", "section": "section", "how": "how", "old": "old",
         "reason": "why"}  # fmt: skip
"""What a suggestion's comment calls the fields of a write; `by`, `client`, `time` and `evidence`
(agent, session, block and id of the message) stand beside them."""
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
    match, box = _META.search(first), _BOX.match(first)
    shown = unescape(plain(MARKER.sub("", first, count=1))[0])
    label, colon, words = shown.partition(": ")
    words = words if colon else "" if label.endswith(":") else shown
    try:
        meta = json.loads(match[1] if match else "")
        texts = {name: one_line(meta[key]) for name, key in _KEYS.items() if key in meta}
        by = {"kind": "agent", "agent": meta["by"], "client": meta.get("client", "")}
        ref = MessageRef(*map(str, meta["evidence"])) if "evidence" in meta else None
        said = {**texts, "text": one_line(words), "caller": by, "evidence": ref}
        write: MemoryWrite = adapter(MemoryWrite).validate_python(said)
        time = str(meta.get("time", ""))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    if not all(AGENT_NAME.fullmatch(one) for one in (write.agent, write.caller.agent)):
        return None
    state = _STATES.get(box[1].lower() if box else "", "waiting")
    return Suggestion(placed.fact.block, write, time, state, placed.start, placed.tree_end)


def known(text: str, write: MemoryWrite) -> Put:
    """Return whether a suggestion is new to the file, or what makes it needless."""
    listed = parse(text)
    if same := next((one for one in listed if one.means(write)), None):
        return "waiting", same.id
    is_full = write.how in FOUND and sum(one.write.how in FOUND for one in listed) >= AT_ONCE
    return ("full" if is_full else "new"), ""


def add(text: str, one: Suggestion, paths: VaultPaths, language: str = "en") -> str:
    """Return the text with a suggestion at the end of those that wait.

    Raises UnreadableNote where a person's open comment or code would hide it.
    """
    write, ref, language = one.write, one.write.evidence, _language_in(text, language)
    says = partial(phrase, language, kind="suggestions")
    below = [f"{says('instead')}: “{escape(write.old)}”"] if write.op == "replace" else []
    below += [f"{says('why')}: {escape(write.reason)}"] if write.reason else []
    when = [one.time[:16].replace("T", " ")] if one.time else []
    when += [f"[[{paths.link(ref)}|{says('message')}]]"] if ref else []
    below += [", ".join(when)] if when else []
    meta = {
        "op": write.op, "agent": write.agent, "by": write.caller.agent,
        "client": one_line(write.caller.client), "section": write.section, "how": write.how,
        "time": one.time, "evidence": ref and (ref.agent, ref.session, ref.block, ref.id),
        "old": write.old, "why": write.reason,
    }  # fmt: skip
    kept = {key: value for key, value in meta.items() if value}
    raw = json.dumps(kept, ensure_ascii=False, separators=(",", ":")).replace("%", "\\u0025")
    into = "" if write.caller.name == write.agent else f" {says('into', agent=write.agent)}"
    label = f"**{write.caller.name}** {says(write.op)}{into}"
    task = f"- [ ] {label}: {escape(write.text)} %%{raw}%% ^{one.id}"
    item = "\n".join((task, *(f"    - {line}" for line in below)))
    heads = [phrase(code, "waiting", "suggestions") for code in LANGUAGES]
    start = text if text.strip("\ufeff \t\r\n") else text.rstrip(" \t\r\n") + begun(language)
    return add_item(start, item, says("waiting"), lambda it: it.title in heads)


def remove(text: str, one: Suggestion) -> str:
    """Return the text without a suggestion and what stands under it."""
    return cut(text, one.start, one.end)


def tell(text: str, one: Suggestion, reason: str) -> str:
    """Return the text with a suggestion unticked, and a line under it that says why."""
    first, *below = [line.rstrip("\r") for line in text[one.start : one.end].split("\n")]
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    first = _BOX.sub(lambda m: m[0].replace(f"[{m[1]}]", "[ ]"), first, count=1)
    reason = escape(one_line(reason)).rstrip(".")
    told = phrase(_language_in(text, "en"), "failed", "suggestions", reason=reason)
    why = f"{indent}    - {told} {_FAILED}"
    lines = [first, *(line for line in below if _FAILED not in line), why]
    return text[: one.start] + with_newlines("\n".join(lines), newline_of(text)) + text[one.end :]


def _language_in(text: str, language: str) -> str:
    """Return the language of a file's headings, else the one given."""
    titles = {one.title for one in parse_brain(text).headings}
    return next((it for it in LANGUAGES if phrase(it, "title", "suggestions") in titles), language)


# --- what the person answers --------------------------------------------------------------


class Queue:
    """The suggestions of one vault, and the person's answers to them. Any thread.

    Every change goes through the gate's compare-and-swap: a person's edit that comes first is kept,
    and the change is made again to the newer text.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate, self._paths = gate, gate.paths
        self._lock = threading.Lock()

    def put(self, write: MemoryWrite, ask: Ask) -> Put:
        """Make a suggestion of a write whose texts are safe to store, unless it was made before.

        Where it is new, the words asked with are logged as its evidence. Raises BrokenMemory where
        nothing can be added to the file; WriteConflict and WriteFailed when nothing was written.
        """
        time, rejected = self._gate.clock().isoformat(timespec="seconds"), self._rejected(write)
        put: Put = ("new", "")

        def change(text: str) -> str | None:
            nonlocal put
            put = ("rejected", "") if rejected else known(text, write)
            if put[0] != "new":
                return None
            taken = {one.removeprefix("s-") for one in block_ids(text)}
            put = "new", f"s-{new_block(taken, ask.rng)}"
            ask.log()
            one = Suggestion(put[1], replace(write, evidence=ask.write.evidence), time)
            return add(text, one, self._paths, ask.language)

        self._change(change)
        return put

    def _rejected(self, write: MemoryWrite) -> bool:
        """Tell whether the person has rejected the same before, as the log has it."""
        lines = newest_first(self._paths, (write.agent,), (write.op,), '"rejected"')
        told = (one.after or one.before for one in lines if one.outcome == "rejected")
        return settled_words(write.text) in map(settled_words, told)

    def listed(self) -> tuple[Suggestion, ...]:
        """Return every suggestion in order. Raises UnreadableNote for a file that is no text."""
        with suppress(errors.NotFound):
            return parse(self._gate.reader.read(self._paths.suggestions).text)
        return ()

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
        """Act on what stands ticked or rejected in the file.

        What fails for a passing reason stays due. Raises BrokenMemory for a file that cannot be
        used, WriteConflict and WriteFailed when it could not be changed.
        """
        done = list[Outcome]()
        with self._lock:
            for one in self.due():
                try:
                    outcome = self._answered(one, one.state == "accepted", OBSIDIAN)
                except (errors.WriteConflict, errors.WriteFailed) as error:
                    log.warning("a suggestion stays due: %s", error)
                    continue
                except errors.VaultMindError as error:
                    outcome = Outcome("not_found", one.write.agent, message=str(error))
                done.append(outcome)
                if outcome.outcome not in _DONE:
                    why = outcome.reason or outcome.message
                    self._changed(one, partial(tell, reason=why))
        return tuple(done)

    def answer(self, suggestion_id: str, accept: bool, caller: Caller) -> Outcome:
        """Accept or reject one suggestion in the person's name.

        Raises NotAllowed for every caller but the person, NotFound for an id that does not
        wait; what `gate.write` raises, with the suggestion left as it was.
        """
        only_person(caller, "approve anything")
        with self._lock:
            wanted = f"s-{suggestion_id.strip().removeprefix('^').lower().removeprefix('s-')}"
            found = next((one for one in self.listed() if one.id == wanted), None)
            if found is None:
                raise errors.NotFound(
                    f"No suggestion {suggestion_id!r} waits in {self._paths.suggestions}.",
                    hint="`vaultmind suggestions list` shows those that do.",
                )
            return self._answered(found, accept, caller)

    def _answered(self, one: Suggestion, accept: bool, caller: Caller) -> Outcome:
        """Write or reject a suggestion, and take it out of the file when that is done."""
        wish, path = one.write, self._paths.suggestions
        if accept:
            if wish.agent not in self._paths.agent_names():
                raise errors.NotFound(f"There is no agent named {wish.agent}.")
            where = "in Suggestions.md" if caller == OBSIDIAN else "on the command line"
            told = f"suggested by {wish.caller.name}, approved {where} (^{one.id})"
            reason = f"{told}: {wish.reason}" if wish.reason else told
            outcome = self._gate.write(replace(wish, caller=caller, reason=reason), approved=True)
            if outcome.outcome in _DONE:
                self._changed(one, remove)
            return outcome
        if not self._changed(one, remove):
            raise errors.WriteConflict(f"The suggestion in {path} was changed just now.")
        if wish.agent in self._paths.agent_names():
            said = replace(wish, caller=caller, reason=f"suggested by {wish.caller.name}")
            nothing = Step(Outcome("unchanged", wish.agent, wish.section))
            self._gate.tell(said, nothing, "rejected")
        message = f"Rejected: {quoted(wish.text)}. It will not be suggested again."
        return Outcome("unchanged", wish.agent, path=path, message=message)

    def _changed(self, expected: Suggestion, new: Callable[[str, Suggestion], str]) -> bool:
        """Change a suggestion in the file; False where it does not stand there as expected.

        Somebody changed it meanwhile then, and it is left. Raises BrokenMemory.
        """
        found: list[Suggestion | None] = [None]

        def change(text: str) -> str | None:
            found.append(next((one for one in parse(text) if one == expected), None))
            return new(text, found[-1]) if found[-1] else None

        self._change(change)
        return found[-1] is not None

    def _change(self, change: Callable[[str], str | None]) -> None:
        self._gate.edit(self._paths.suggestions, lambda file: change(file.text if file else ""))
