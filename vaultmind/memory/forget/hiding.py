"""tombstones-<device>.jsonl: what said a forgotten thing. Ids only, never a text.

A line names a message by its session, its own id and its block, a part of a summary by the
summary's path (without `.md`) and its block, or a line of a sub-agent's run by its file and number.
A file that is renamed, moved or copied keeps what it hides: a message's own id, and a block id that
was made of a paragraph's words or drawn for it, hide wherever they stand in the agent's memory.
One with `"lifted": true` shows it again, as an undo does. Over all devices' files the newest line
of a message counts.
One with `"erased": true` says that the words are gone: no lift outweighs it, however new.

Forgetting reaches every kind of record: each registers here how it finds what said a fact.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from vaultmind.errors import NotFound, PathRefused, UnreadableNote
from vaultmind.memory.audit import AuditLog
from vaultmind.memory.brain import BLOCK_LENGTH, BLOCK_LETTERS, block_ids, new_block
from vaultmind.memory.match import SAME_SHARE, says, share_of
from vaultmind.plural import counted
from vaultmind.ports import MessageFinder
from vaultmind.times import seconds_of
from vaultmind.types import Fact, MessageRef
from vaultmind.vault.files import Change, FileStat, FileText, VaultReader, stat_of
from vaultmind.vault.parts import MARKER, Part, name_part, parts, plain
from vaultmind.vault.paths import AGENT_NAME, VaultPaths, agent_name

CANDIDATES = 200
"""Messages that are looked at for one fact."""

_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]*))?\]\]")
_SOURCE = re.compile(r"/memory/(?:sessions|summaries)/")

Edit = Callable[[str, Change], object]
"""Changes a record through the gate: its path, and what makes the new text of the old."""
Ref = MessageRef
"""A message, or a part of a summary or episode: its record is a path then, without `.md` (of a run,
with `.jsonl`), its block the part's; of a line of a run `L12`."""
_UNIQUE = re.compile(
    r"(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-|h)[0-9a-f]{12}\b.*"
    r"|.*\d{4}-\d{2}-\d{2}_\d{3,}\W.+"
    r"|(?:.*[\W_])?(?=(?:[a-z]*\d){2})[0-9a-z]{16,}",
    re.IGNORECASE | re.DOTALL,
)
"""A message's own id that no other message has, as hosts make them: a UUID, one of ours, one with a
session's id before it, a long run of letters and digits. Not `7` or `msg-7`: each talk has one."""
_UNIQUE_PART = re.compile(rf"p[0-9a-f]{{10}}|[{BLOCK_LETTERS}]{{{BLOCK_LENGTH}}}")
"""A block id of a summary's part that no other part has: made of its words, or drawn for it. Those
of a sliding summary (`m7-1`) stand in each."""
_EPISODES = "/episodes/"
"""In an episode's path: its lines are only numbered (`e123`), and each has a `task`."""
ANYWHERE, ANY_SUMMARY = "", "/"
"""Stand for every session and every summary: a message with an id of its own stays hidden when its
session was deleted by hand and its transcript is read anew."""

Name = tuple[str, str]
"""(session or summary, block or own id)."""


Said = Callable[[str, Fact, Edit], Iterable[Ref | str]]
"""Returns what of one kind of record said a fact of an agent, and may repeat it after it has left
the brain: messages and lines, and the paths of Markdown whose parts are to be looked through. The
edit changes a record of which nothing is worth hiding."""


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


def without_sources(text: str) -> str:
    """Return a text as a reader sees it, without the links that only name where it comes from."""
    return _LINK.sub(lambda m: "" if _SOURCE.search(m[1]) else m[2] or m[1], text)


def key_of(ref: Ref) -> tuple[str, str, str]:
    """Return (agent, session or summary, id of the message or part)."""
    return ref.agent, ref.session, ref.block or ref.id


def _tells(part: Part, fact: Fact, cited: set[str]) -> bool:
    shown = without_sources(plain(MARKER.sub("", part.text, count=1))[0])
    if says(shown, fact.text):
        return True
    cites = any(match[1] in cited for match in _LINK.finditer(part.text))
    return cites and share_of(shown, fact.text) >= SAME_SHARE


# --- tombstones --------------------------------------------------------------------------


class Tombstones:
    """Implements `ports.Forgotten` over the files of all devices. Any thread.

    They are read again when a file's stamp changes, so that what another device has forgotten
    is hidden as soon as its file arrives.
    """

    def __init__(self, paths: VaultPaths) -> None:
        self._paths = paths

    def hides(self, agent: str, record: str, part: str) -> bool:
        """Tell whether a message of a session, or a part of a summary, said what was forgotten.

        `part` is its block or a message's own id.
        """
        return _hides(self.hidden(agent), record, part)

    def hider(self, agent: str) -> Callable[[str, str], bool]:
        """Return what tells the same of an agent as it is hidden now, for many at once."""
        return partial(_hides, self.hidden(agent))

    def hidden(self, agent: str) -> frozenset[Name]:
        """Return (session or summary, block or own id) of all that is hidden of an agent.

        The session is `ANYWHERE` for an id that no other message has, the summary `ANY_SUMMARY`
        for one that no other part has.
        """
        return self._known(agent)[0]

    def erased(self, ref: Ref) -> bool:
        """Tell whether a message is hidden for good, by every name that is known of it here."""
        _, erased = self._known(ref.agent)
        return all(_hides(erased, *name) for name in _names(ref))

    def _known(self, agent: str) -> tuple[frozenset[Name], frozenset[Name]]:
        """Return what is hidden of an agent, and what of it for good."""
        folder = self._paths.root / self._paths.memory(agent)
        found = folder.glob("tombstones-*.jsonl") if AGENT_NAME.fullmatch(agent) else ()
        files = (path for path in sorted(found) if path.is_file())  # copies of a sync hide, too
        return _settled(tuple((path, stat_of(path.lstat())) for path in files))


class Hiding(Tombstones):
    """Finds what said a thing in every kind of record and hides it. Used by the gate alone."""

    def __init__(
        self, log: AuditLog, kinds: Sequence[Said], reader: VaultReader, rng: random.Random
    ) -> None:
        super().__init__(log.paths)
        self._log, self._kinds, self._reader, self._rng = log, kinds, reader, rng

    def hide(self, refs: Iterable[Ref], *, erased: bool = False) -> tuple[Ref, ...]:
        """Hide messages and parts of summaries, for good where their words are erased.

        Returns what had not been hidden before.
        """
        new = self.new(refs, erased=erased)
        self._write(new, {"erased": True} if erased else {})
        return new

    def new(self, refs: Iterable[Ref], *, erased: bool = False) -> tuple[Ref, ...]:
        """Return which messages and parts are not hidden yet, or not for good."""
        known = self.erased if erased else lambda ref: self.hides(*key_of(ref))
        return tuple(one for one in dict.fromkeys(refs) if not known(one))

    def show(self, refs: Iterable[Ref]) -> tuple[Ref, ...]:
        """Show messages and parts of summaries again; return those that were hidden until now.

        What was erased stays hidden: its message may still stand in an export.
        """
        shown = []
        for ref in dict.fromkeys(refs):
            (hidden, erased), names = self._known(ref.agent), _names(ref)
            if names & hidden and not names & erased:
                shown.append(ref)
        self._write(shown, {"lifted": True})
        return tuple(shown)

    def said(self, agent: str, facts: Iterable[Fact], edit: Edit) -> tuple[Ref, ...]:
        """Return everything of any kind of record that said one of the facts, each once."""
        found: dict[tuple[str, str, str], Ref] = {}
        for fact in facts:
            cited = set[str]()
            for one in (one for said in self._kinds for one in said(agent, fact, edit)):
                for ref in self._places(agent, one, fact, cited, edit):
                    cited.add(self._paths.link(ref))
                    if ref.id or key_of(ref) not in found:
                        found[key_of(ref)] = ref  # a link in a brain knows the block alone
        return tuple(found.values())

    def _places(
        self, agent: str, found: Ref | str, fact: Fact, cited: set[str], edit: Edit
    ) -> list[Ref]:
        """Return what was found; of a file its parts that say a fact, or tell what is `cited`.

        Each part gets a block id, by which it stays hidden wherever it moves.
        """
        if not isinstance(found, str):
            return [found]
        blocks: list[str] = []

        def named(file: FileText | None) -> str:
            text = file.text if file else ""
            blocks.clear()
            for part in reversed(parts(text)):
                if _tells(part, fact, cited):
                    block = part.block or new_block(block_ids(text), self._rng)
                    new = text if part.block else name_part(text, part, block)
                    if part.block or new != text:
                        blocks.append(block)
                        text = new
            return text

        with suppress(NotFound, PathRefused, UnreadableNote):  # not to be read: not recalled either
            file = self._reader.read(found)
            if named(file) != file.text:
                edit(found, named)
            return [Ref(agent, found.removesuffix(".md"), block) for block in blocks]
        return []

    def _write(self, refs: Sequence[Ref], told: dict[str, bool]) -> None:
        for agent in dict.fromkeys(ref.agent for ref in refs):
            own = [ref for ref in refs if ref.agent == agent]
            path = self._paths.tombstones(agent_name(agent), self._log.device)
            self._log.append(path, render_tombstones(own, self._log.time(), **told))


def hidden_words(refs: Sequence[Ref], verb: str) -> str:
    """Return in words what was hidden, after a verb (`Also hid`); empty where nothing was."""
    kinds = sorted(Counter(map(_kind, refs)).items())
    counts = " and ".join(counted(number, name) for name, number in kinds)
    return f"{verb} {counts} that mentioned it." if refs else ""


def render_tombstones(refs: Sequence[Ref], time: str, **told: bool) -> str:
    """Return the lines that hide messages and parts of summaries, or show them again."""
    lines = (
        {"time": time, **told, "summary": one.session, "block": one.block}
        if "/" in one.session
        else {"time": time, **told, "session": one.session, "message": one.id, "block": one.block}
        for one in refs
    )
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def _kind(ref: Ref) -> str:
    """Return what is named, in words."""
    if "/" not in ref.session:
        return "message"
    other = "episode line" if _EPISODES in ref.session else "summary paragraph"
    return "run message" if ref.session.endswith(".jsonl") else other


def _hides(hidden: frozenset[Name], record: str, part: str) -> bool:
    name = part.removeprefix("^")
    if not name or (record, name) in hidden:
        return bool(name)
    every = ANY_SUMMARY if "/" in record else ANYWHERE
    return _EPISODES not in record and (every, name) in hidden


def _names(ref: Ref) -> frozenset[Name]:
    return frozenset((ref.session, name) for name in (ref.id, ref.block) if name)


@lru_cache(maxsize=64)
def _settled(
    stamps: tuple[tuple[Path, FileStat], ...],
) -> tuple[frozenset[Name], frozenset[Name]]:
    """Return what is hidden by the newest line of each message, and what of it for good.

    Of one time the last line counts. A message goes by its block in one line and by its own id in
    another: a line that has both says that they are one, so that each line is of all names of a
    message.
    """
    lines = sorted((line for path, _ in stamps for line in _read(path)), key=lambda one: one[0])
    same = defaultdict[Name, set[Name]](set)
    for _, names, _ in lines:
        for name in names:
            same[name] |= names
    hidden, erased = set[Name](), set[Name]()
    for _, named, value in lines:
        names = frozenset(one for name in named for one in same[name])
        hidden = hidden - names if value.get("lifted") is True else hidden | names
        erased |= names if value.get("erased") is True else set()
    return _with_unique(hidden | erased), _with_unique(erased)


def _with_unique(names: set[Name]) -> frozenset[Name]:
    """Return names with those that hold wherever they stand. A run's lines are only numbered."""
    unique = {
        (ANY_SUMMARY if "/" in at else ANYWHERE, name)
        for at, name in names
        if _EPISODES not in at
        and (_UNIQUE_PART.fullmatch(name) if "/" in at else _UNIQUE.fullmatch(name))
    }
    return frozenset(names | unique)


def _read(path: Path) -> Iterator[tuple[float, frozenset[Name], dict[str, Any]]]:
    """Yield when each line was written, whom it names, and what it says."""
    for raw in path.read_text("utf-8", errors="replace").split("\n"):
        with suppress(ValueError, AttributeError, RecursionError):
            value = json.loads(raw)
            summary, block = value.get("summary"), str(value.get("block") or "")
            record = str(summary or value.get("session") or "")
            own = "" if summary else str(value.get("message") or "")
            if names := _names(Ref("", record, block.removeprefix("^"), own)):
                yield seconds_of(str(value.get("time"))), names, value
