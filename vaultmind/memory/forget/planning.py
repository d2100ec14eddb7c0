"""What an erasure means and where it stands: looked for in every file, and nothing touched."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vaultmind.errors import BadArgument, NotFound, PathRefused, UnreadableNote
from vaultmind.memory.audit import read_audit
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.forget.erasable import SUMMARIES, Erasable, claimed, leftovers
from vaultmind.memory.forget.erasure import EXCERPT, Erasure, Found, Place
from vaultmind.memory.forget.kinds import Ref, key_of
from vaultmind.memory.forget.taken import Taken, Target
from vaultmind.memory.forget.taking import refs_in_audit
from vaultmind.memory.forget.tombstones import ANY_SUMMARY, Tombstones
from vaultmind.memory.forget.wanted import Wanted, sentence_count
from vaultmind.memory.match import find
from vaultmind.memory.words import SOFT, bare, content
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.types import Fact
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.replacing import digest

NOTES = (".md", ".canvas", ".txt")
UNREAD = "it is no UTF-8 text and stays: save it as UTF-8, then erase again"
_WHOLE = {"messages": "message", "facts": "fact", "suggestions": "suggestion"}
UNSEARCHED = frozenset({".git", "node_modules"})
_RECORDS = ("memory", "episodes")
"""Folders of an agent that hold memory and records, and nothing of the person's own."""
_BLOCK = re.compile(r"\^([A-Za-z0-9-]+)")


@dataclass(frozen=True, slots=True)
class Item:
    """A file, and what is to be taken out of it."""

    kind: Erasable
    agent: str
    path: str
    taken: tuple[Taken, ...]


@dataclass(frozen=True, slots=True)
class Whole:
    """A file that goes whole: a write that was cut short left it behind."""

    kind: str
    path: str
    sha: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class Plan:
    """All that an erasure would do, and what it would leave."""

    wanted: Wanted
    agents: tuple[str, ...]
    meant: tuple[str, ...]
    items: tuple[Item, ...]
    wholes: tuple[Whole, ...]
    yours: tuple[Place, ...]
    """The person's own files: their notes, and what they wrote into the memory folder."""
    others: tuple[Place, ...]
    """Of agents that are not meant."""
    unread: tuple[Place, ...] = ()
    """Records that hold it and are no UTF-8 text: they can be neither cleaned nor spared."""

    @property
    def texts(self) -> tuple[str, ...]:
        """Return what goes, as it stands."""
        return tuple(taken.text for item in self.items for taken in item.taken)

    @property
    def counts(self) -> dict[str, int]:
        """Return how many of each kind."""
        found = Counter({item.kind.name: 0 for item in self.items})
        for item in self.items:
            found[item.kind.name] += len(item.taken)
        found.update(whole.kind for whole in self.wholes)
        return dict(found)

    def found(self) -> tuple[Found, ...]:
        """Return each thing that goes, with the beginning of what it says."""
        listed = [
            Found(
                item.kind.name,
                item.agent,
                item.path,
                f"{taken.place}{_extent(item.kind.name, taken, self.wanted)}",
                self.excerpt(taken.text),
            )
            for item in self.items
            for taken in item.taken
        ]
        listed += [
            Found(one.kind, "", one.path, "the whole file", one.excerpt) for one in self.wholes
        ]
        listed += [Found("unreadable", "", one.path, one.why, one.excerpt) for one in self.unread]
        return tuple(listed)

    def excerpt(self, text: str) -> str:
        """Return the part of a text that says it, on one short line, without secrets."""
        return excerpt(text, self.wanted)


class Planning:
    """Looks for what an erasure means. Reads only; any thread."""

    def __init__(
        self,
        paths: VaultPaths,
        reader: VaultReader,
        erasables: tuple[Erasable, ...],
        clock: Clock,
        language: Callable[[str], str],
    ) -> None:
        self._paths = paths
        self._tombstones = Tombstones(paths)
        self._reader = reader
        self._erasables = erasables
        self._clock = clock
        self._language = language

    def plan(self, erasure: Erasure) -> Plan:
        """Return what would go. Raises BadArgument for words that say nothing, NotFound for an
        id that no fact has.
        """
        agents = (erasure.agent,) if erasure.agent else self._paths.agent_names()
        wanted, meant = self._wanted(erasure, agents)
        rest = tuple(name for name in self._paths.agent_names() if name not in agents)
        others = [Place(item.path) for item in self.items(wanted, rest, shared=False)]
        items, wholes = self.items(wanted, agents, shared=not rest), self._wholes(wanted, agents)
        yours = tuple(self._yours(wanted))
        unread = tuple(self._unread(wanted, agents, shared=not rest))
        return Plan(
            wanted, agents, meant, tuple(items), tuple(wholes), yours, tuple(others), unread
        )

    def items(self, wanted: Wanted, agents: tuple[str, ...], *, shared: bool) -> list[Item]:
        """Return the files that say it, each with what is to be taken out."""
        records = {(agent, record) for agent, record, _ in wanted.refs}
        found = []
        for kind, agent, path in claimed(self._erasables, self._paths, agents, shared=True):
            if not shared and not agent and path.startswith(f"{self._paths.memory_dir}/conv"):
                continue  # runs are nobody's alone
            target = self.target(path, agent)
            if target is None:
                continue
            names = {(agent, path.removesuffix(".md")), (agent, Path(path).stem)}
            if names & records or wanted.may_be_in(target.text) or "\\u" in target.text:
                taken = kind.without(target, wanted).taken
                if taken:
                    found.append(Item(kind, agent, path, taken))
        return found

    def summaries(self, agents: tuple[str, ...]) -> list[str]:
        """Return the paths of all summaries of some agents."""
        found = claimed(self._erasables, self._paths, agents, shared=False)
        return [path for kind, _, path in found if kind.name == SUMMARIES]

    def target(self, path: str, agent: str) -> Target | None:
        """Return a file as it stands; None for one that is no text, or not there any more."""
        try:
            text = self._reader.read(path).text
        except (NotFound, PathRefused, UnreadableNote):
            return None
        return self.as_target(path, agent, text)

    def as_target(self, path: str, agent: str, text: str) -> Target:
        """Return a file's text with what is known of it."""
        today = self._clock().date().isoformat()
        record, known = path.removesuffix(".md"), self._tombstones.hidden(agent) if agent else ()
        hidden = frozenset(block for name, block in known if name in (record, ANY_SUMMARY))
        return Target(path, agent, text, today, self._language(agent) if agent else "en", hidden)

    def _wanted(self, erasure: Erasure, agents: tuple[str, ...]) -> tuple[Wanted, tuple[str, ...]]:
        text = " ".join(erasure.text.split())
        block = _BLOCK.fullmatch(text)
        facts = [(agent, fact) for agent in agents for fact in self._facts(agent)]
        meant = [
            fact.text
            for agent in agents
            for own in [[fact for name, fact in facts if name == agent]]
            for fact in (own[place] for place in find(own, text).found)
        ]
        if block:
            meant = meant or list(self._told_of(block[1], agents))
            if not meant:
                raise NotFound(f"No fact has the id {text}.")
        elif not any(word.folded not in SOFT for word in content(text)):
            raise BadArgument("text", erasure.text, "words that say what to erase")
        texts = (*([] if block else [text]), *meant)
        first = Wanted(texts)
        refs: list[Ref] = [
            fact.evidence for _, fact in facts if fact.evidence and first.says(fact.text)
        ]
        for agent in agents:
            refs += self._refs(agent, first)
        wanted = Wanted(texts, map(key_of, refs), erasure.agent)
        return wanted, tuple(one for one in dict.fromkeys(meant) if one != text)

    def _facts(self, agent: str) -> list[Fact]:
        found: list[Fact] = []
        for path in (self._paths.brain(agent), self._paths.archive(agent)):
            target = self.target(path, agent)
            found += parse_brain(target.text).all() if target else ()
        return found

    def _told_of(self, block: str, agents: tuple[str, ...]) -> Iterator[str]:
        """Yield what the audit says that a fact said which is not there any more."""
        for agent in agents:
            for line in read_audit(self._paths, agent):
                if line.block == block:
                    yield from (text for text in (line.before, line.after) if text)

    def _refs(self, agent: str, wanted: Wanted) -> Iterator[Ref]:
        folder = self._paths.root / self._paths.memory(agent)
        for path in sorted(folder.glob("audit-*.jsonl")):
            target = self.target(self._paths.relative(path), agent)
            if target is not None and wanted.may_be_in(target.text):
                yield from refs_in_audit(target.text, wanted)

    def _wholes(self, wanted: Wanted, agents: tuple[str, ...]) -> Iterator[Whole]:
        """Yield what writes that were cut short left behind, where it says it: whole texts."""
        folders = [f"{self._paths.agents}/{agent}" for agent in agents]
        if set(agents) >= set(self._paths.agent_names()):
            folders = [self._paths.memory_dir]
        for path in (path for folder in folders for path in leftovers(self._paths, folder)):
            raw = self._bytes(path)
            text = raw.decode("utf-8", "replace")
            if wanted.says(text):
                yield Whole("leftovers", path, digest(raw), excerpt(text, wanted))

    def _unread(self, wanted: Wanted, agents: tuple[str, ...], *, shared: bool) -> Iterator[Place]:
        """Yield the records that hold it and are no UTF-8 text: nothing can be cut out."""
        for _, _, path in claimed(self._erasables, self._paths, agents, shared=shared):
            if self.target(path, "") is None:
                text = self._bytes(path).replace(b"\0", b"").decode("utf-8", "replace")
                if wanted.says(text):
                    yield Place(path, excerpt(text, wanted), UNREAD)

    def _bytes(self, path: str) -> bytes:
        try:
            return self._paths.absolute(path).read_bytes()
        except (OSError, PathRefused):
            return b""

    def _yours(self, wanted: Wanted) -> Iterator[Place]:
        """Yield the person's own files that say it: these are listed, never touched."""
        for path in self._own_files():
            text = self._bytes(path).decode("utf-8", "replace")
            if wanted.says(text):
                yield Place(path, excerpt(text, wanted))

    def _own_files(self) -> Iterator[str]:
        """Yield notes, and of the memory folder all that is neither memory nor a record."""
        memory, agents = self._paths.memory_dir, self._paths.agents
        for where, folders, names in os.walk(self._paths.root):
            inside = self._paths.relative(Path(where))
            folders[:] = sorted(one for one in folders if one not in UNSEARCHED)
            if re.fullmatch(rf"{re.escape(agents)}/[^/]+", inside):
                folders[:] = [one for one in folders if one not in _RECORDS]
            if inside == memory and "conversations" in folders:
                folders.remove("conversations")
            ours = inside == memory or inside.startswith(f"{memory}/")
            for name in sorted(names):
                path = name if inside == "." else f"{inside}/{name}"
                known = name.endswith(NOTES) or (ours and name.endswith((".toml", ".json")))
                if known and not (ours and name.startswith("Suggestions")):
                    yield path


def _extent(kind: str, taken: Taken, wanted: Wanted) -> str:
    """Return how much goes, where that is more than the sentence which is shown."""
    text = taken.text.strip()
    start, end = wanted.spans(text)[0]
    if text[start:end].strip() == text and len(text) <= EXCERPT:
        return ""
    what = _WHOLE.get(kind, "passage") if taken.place.startswith("^") else "passage"
    sentences = counted(sentence_count(text), "sentence")
    return f", the whole {what} ({sentences}, {counted(len(text), 'character')})"


def excerpt(text: str, wanted: Wanted) -> str:
    """Return the part of a text that says what is wanted, on one short line, without secrets."""
    start, end = wanted.spans(text)[0]
    shown = " ".join(bare(text[start:end]).split()).lstrip("> ")
    if len(shown) > EXCERPT:
        at = max(0, _place_in(shown, wanted) - EXCERPT // 3)
        shown = ("…" if at else "") + shown[at : at + EXCERPT].strip() + "…"
    return mask(shown).text


def _place_in(shown: str, wanted: Wanted) -> int:
    """Return about where in a long line the wanted words stand."""
    words = [word for text in wanted.texts for word in text.casefold().split()]
    places = [shown.casefold().find(word) for word in sorted(words, key=len, reverse=True)]
    return next((place for place in places if place >= 0), 0)
