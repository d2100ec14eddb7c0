"""Erasing: everything that says a thing is taken out of every file and index, then looked for.

In the order: tombstones, messages, summaries, runs, suggestions, copies, audit texts, facts, then
logs and the index. What the rest is found by goes last, so that an erasure which was killed in
the middle is finished by doing it again. The search after it, by text, by meaning and over raw
bytes, is the answer.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vaultmind.errors import (
    BadArgument,
    NotAllowed,
    NotFound,
    PathRefused,
    UnreadableNote,
    VaultMindError,
    WriteConflict,
)
from vaultmind.memory.audit import read_audit
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.forget.erasure import Erased, Erasure, Found, Place, Preview
from vaultmind.memory.forget.kinds import Ref, key_of
from vaultmind.memory.forget.taking import (
    OTHERS,
    Erasable,
    Taken,
    Target,
    refs_in_audit,
    with_links_moved,
)
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.memory.match import find
from vaultmind.memory.words import SOFT, bare, content, fold
from vaultmind.plural import counted
from vaultmind.ports import Clock, IndexErasing, Report, silent
from vaultmind.redact import mask
from vaultmind.types import Caller, Progress, Scrubbed
from vaultmind.vault.files import Change, FileText, VaultReader

EXCERPT = 90
"""Characters of a text that a preview shows."""
MOST_SHOWN = 2000
"""Finds that a preview lists; its counts are of all."""
CANDIDATES = 200
"""Chunks of the full text that are looked at afterwards."""
MOST_NEAR, NEAR_TEXTS = 10, 8
"""Passages of nearly the same meaning that are told, and wordings whose meaning is searched for."""
_WORD_BELOW = 6
"""Letters: shorter wordings are looked for as whole words."""
_BLOCK_BYTES = 4 << 20
_VARIED = 8
"""Different bytes that a vector's beginning must have to be told from padding."""
_OWN_NOTES = (".md", ".canvas", ".txt")
_UNSEARCHED = frozenset({".git", "node_modules"})
_BLOCK = re.compile(r"\^([A-Za-z0-9-]+)")


@dataclass(frozen=True, slots=True)
class Item:
    """A file, and what is to be taken out of it."""

    kind: Erasable
    agent: str
    path: str
    taken: tuple[Taken, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """All that an erasure would do, and what it would leave."""

    wanted: Wanted
    agents: tuple[str, ...]
    whole: bool
    """Whether it is of every agent's memory, and so of what they share."""
    meant: tuple[str, ...]
    items: tuple[Item, ...]
    yours: tuple[Place, ...]
    """The person's own files: their notes, and what they wrote into the memory folder."""
    others: tuple[Place, ...]
    """Of agents that are not meant."""
    seal: str

    @property
    def counts(self) -> dict[str, int]:
        """Return how many of each kind."""
        found: Counter[str] = Counter()
        for item in self.items:
            found[item.kind.name] += len(item.taken)
        return dict(found)

    @property
    def told(self) -> str:
        """Return the counts in words."""
        return ", ".join(f"{name}: {number}" for name, number in self.counts.items())


@dataclass(frozen=True, slots=True)
class Hands:
    """What of the gate an erasure works with."""

    edit: Callable[[str, Change], object]
    """Changes a file by compare-and-swap."""
    hide: Callable[[Iterable[Ref]], object]
    """Adds messages to the tombstones for good, those that are hidden already included."""
    note: Callable[[Caller, str, str], None]
    """Writes an audit line `erase` of an agent, with a reason and without text."""


@dataclass(slots=True)
class _Work:
    """What was done so far."""

    paths: list[str] = field(default_factory=list)
    faults: list[Place] = field(default_factory=list)
    moved: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """Block ids that a record has no more, each with what it is now."""


class Erasing:
    """Previews and does erasures, one at a time. Used by the gate alone."""

    def __init__(
        self,
        reader: VaultReader,
        erasables: tuple[Erasable, ...],
        hands: Hands,
        clock: Clock,
        state_dir: Path | None = None,
        language: Callable[[str], str] = lambda agent: "en",
    ) -> None:
        self._reader = reader
        self._paths = reader.paths
        self._erasables = erasables
        self._hands = hands
        self._clock = clock
        self._state_dir = state_dir
        self._language = language
        self._lock = threading.Lock()

    def preview(self, erasure: Erasure) -> Preview:
        """Return what would be removed. Raises NotAllowed, BadArgument, NotFound."""
        plan = self._plan(erasure)
        found = [
            Found(item.kind.name, item.agent, item.path, one.place, excerpt(one.text, plan.wanted))
            for item in plan.items
            for one in item.taken
        ]
        names = tuple(sorted({one.path for one in self._in_state(plan, ())}))
        return Preview(
            erasure.text, plan.meant, tuple(found[:MOST_SHOWN]), plan.counts, plan.yours, names,
            plan.seal, _told_before(plan, bool(names)),
        )  # fmt: skip

    def erase(self, erasure: Erasure, index: IndexErasing, report: Report = silent) -> Erased:
        """Remove it, search for it, and return what the search found.

        Raises NotAllowed for every caller but the person; WriteConflict where something else
        would go than the preview showed, BadArgument, NotFound: then nothing was touched.
        """
        with self._lock:
            plan = self._plan(erasure)
            if erasure.seal and not secrets.compare_digest(erasure.seal, plan.seal):
                raise WriteConflict(
                    "What would be erased has changed since it was shown.",
                    hint="Nothing was erased; look at it again.",
                )
            concerned = dict.fromkeys(item.agent for item in plan.items if item.agent)
            for agent in concerned:
                self._hands.note(erasure.caller, agent, "begun")
            index.begin()
            work, size = _Work(), len(plan.items)
            for number, item in enumerate(plan.items):
                report(Progress(number, size, item.kind.name))
                try:
                    work.moved[item.path.removesuffix(".md")] = self._take(item, plan.wanted)
                    work.paths.append(item.path)
                except VaultMindError as error:
                    work.faults.append(Place(item.path, why=error.message))
            self._move_links(plan, work)
            try:
                _blank_logs(self._state_dir, plan.wanted)
            except OSError as error:
                work.faults.append(Place("the log", why=str(error)))
            report(Progress(size, size, "cleaning the index"))
            scrubbed = index.scrub(dict.fromkeys([item.path for item in plan.items] + work.paths))
            report(Progress(size, size, "searching for what is left"))
            erased = self._verified(plan, work, scrubbed, index)
            for agent in concerned:
                own = [item for item in plan.items if item.agent == agent]
                places = counted(sum(len(item.taken) for item in own), "place")
                done = "" if erased.outcome == "erased" else ", not whole"
                self._hands.note(
                    erasure.caller, agent, f"{places} in {counted(len(own), 'file')}{done}"
                )
        return erased

    def _take(self, item: Item, wanted: Wanted) -> tuple[tuple[str, str], ...]:
        """Take it out of one file, as it stands then; what is hidden stays so whatever happens."""
        taken, moved = [item.taken], [tuple[tuple[str, str], ...]()]
        self._hands.hide(one.ref for one in item.taken if one.ref)

        def change(file: FileText | None) -> str | None:
            if file is None:
                return None
            new = item.kind.without(self._target(item.path, item.agent, file.text), wanted)
            taken[0], moved[0] = new.taken, new.moved
            return new.text if new.taken else None

        self._hands.edit(item.path, change)
        self._hands.hide(one.ref for one in taken[0] if one.ref)
        return moved[0]

    def _move_links(self, plan: Plan, work: _Work) -> None:
        """Have the agents' records link to what paragraphs that lost sentences are called now."""
        moved = {record: blocks for record, blocks in work.moved.items() if blocks}

        def linked(text: str) -> str:
            for record, blocks in moved.items():
                text = with_links_moved(text, record, blocks)
            return text

        for agent in plan.agents if moved else ():
            for path in sorted((self._paths.root / self._paths.memory(agent)).rglob("*.md")):
                name = self._paths.relative(path)
                text = self._text(name)
                if linked(text) == text:
                    continue
                try:
                    self._hands.edit(name, lambda file: linked(file.text) if file else None)
                    work.paths.append(name)
                except VaultMindError as error:
                    work.faults.append(Place(name, why=error.message))

    # --- what would go --------------------------------------------------------------------

    def _plan(self, erasure: Erasure) -> Plan:
        """Return what would go. Raises BadArgument for words that say nothing, NotFound for an
        id that no fact has.
        """
        if erasure.caller.kind != "person":
            raise NotAllowed(
                f"{erasure.caller.name} may not erase: only the person may, on the command line.",
                hint="Nothing was touched. The person can run `vaultmind forget --everywhere`.",
            )
        every = self._paths.agent_names()
        agents = (erasure.agent,) if erasure.agent else every
        wanted, meant = self._meant(erasure, agents)
        whole = agents == every
        items = tuple(self._items(wanted, agents, shared=whole))
        rest = tuple(name for name in every if name not in agents)
        others = tuple(Place(one.path) for one in self._items(wanted, rest, shared=False))
        yours = tuple(
            Place(path, excerpt(text, wanted))
            for path in self._own_files()
            if wanted.says(text := self._text(path, errors="replace"))
        )
        parts = [f"{one.path}\0{each.place}\0{each.text}" for one in items for each in one.taken]
        raw = "\0\0".join((*wanted.texts, *parts)).encode("utf-8", "replace")
        seal = hashlib.sha256(raw).hexdigest()[:16]
        return Plan(wanted, agents, whole, meant, items, yours, others, seal)

    def _meant(self, erasure: Erasure, agents: tuple[str, ...]) -> tuple[Wanted, tuple[str, ...]]:
        text = " ".join(erasure.text.split())
        block = _BLOCK.fullmatch(text)
        facts = [
            [
                fact
                for path in (self._paths.brain(agent), self._paths.archive(agent))
                for fact in parse_brain(self._text(path)).all()
            ]
            for agent in agents
        ]
        meant = [own[at].text for own in facts for at in find(own, text).found]
        if block and not meant:  # the audit may say what a fact said that is not there any more
            lines = [line for agent in agents for line in read_audit(self._paths, agent)]
            told = ((line.before, line.after) for line in lines if line.block == block[1])
            meant = [text for both in told for text in both if text]
            if not meant:
                raise NotFound(f"No fact has the id {text}.")
        elif not block and all(word.folded in SOFT for word in content(text)):
            raise BadArgument("text", erasure.text, "words that say what to erase")
        texts = (*([] if block else [text]), *meant)
        first = Wanted(texts)
        every = (fact for own in facts for fact in own)
        refs: list[Ref] = [one.evidence for one in every if one.evidence and first.says(one.text)]
        for agent in agents:
            folder = self._paths.root / self._paths.memory(agent)
            for path in sorted(folder.glob("audit-*.jsonl")):
                refs += refs_in_audit(self._text(self._paths.relative(path)), first)
        wanted = Wanted(texts, map(key_of, refs), erasure.agent)
        return wanted, tuple(one for one in dict.fromkeys(meant) if one != text)

    def _items(self, wanted: Wanted, agents: tuple[str, ...], *, shared: bool) -> Iterator[Item]:
        """Yield the files that say it, each with what is to be taken out, in the order to go."""
        found: dict[str, tuple[Erasable, str]] = {}
        for kind in (*self._erasables, *OTHERS):
            for agent in (*agents, ""):
                for path in kind.files(self._paths, agent):
                    runs = path.startswith(f"{self._paths.memory_dir}/conversations/")
                    if shared or agent or not runs:  # runs are nobody's alone
                        found.setdefault(path, (kind, agent))
        records = {(agent, record) for agent, record, _ in wanted.refs}
        for path, (kind, agent) in sorted(found.items(), key=lambda one: one[1][0].last):
            text = self._text(path)
            names = {(agent, path.removesuffix(".md")), (agent, Path(path).stem)}
            if names & records or wanted.may_be_in(text) or "\\u" in text:
                taken = kind.without(self._target(path, agent, text), wanted).taken
                yield from [Item(kind, agent, path, taken)] if taken else []

    def _own_files(self) -> Iterator[str]:
        """Yield notes, and of the memory folder all that is neither memory nor a record."""
        memory, agents = self._paths.memory_dir, self._paths.agents
        ours = re.compile(
            rf"{re.escape(memory)}(/Suggestions|/conversations/|$)"
            rf"|{re.escape(agents)}/[^/]+/(memory|episodes)/"
        )
        for where, folders, names in os.walk(self._paths.root):
            folders[:] = sorted(one for one in folders if one not in _UNSEARCHED)
            for name in sorted(names):
                path = self._paths.relative(Path(where, name))
                in_memory = path.startswith(f"{memory}/") and name.endswith((".toml", ".json"))
                if (in_memory or name.endswith(_OWN_NOTES)) and not ours.match(path):
                    yield path

    def _target(self, path: str, agent: str, text: str) -> Target:
        today = self._clock().date().isoformat()
        return Target(path, agent, text, today, self._language(agent) if agent else "en")

    def _text(self, path: str, errors: str = "") -> str:
        """Return a file's text; empty for one that is no text, or not there any more."""
        try:
            if errors:
                return self._paths.absolute(path).read_bytes().decode("utf-8", errors)
            return self._reader.read(path).text
        except (NotFound, PathRefused, UnreadableNote, OSError):
            return ""

    # --- what is left ---------------------------------------------------------------------

    def _verified(self, plan: Plan, work: _Work, scrubbed: Scrubbed, index: IndexErasing) -> Erased:
        """Return what an erasure came to, by what is still there."""
        left: dict[str, Place] = {}
        searches = self._by_text(plan, index), self._by_bytes(plan)
        for found in (work.faults, *searches, self._in_state(plan, scrubbed.traces)):
            for place in found:
                left.setdefault(place.path, place)
        near = index.nearest_to(plan.wanted.texts[:NEAR_TEXTS], MOST_NEAR)
        told = tuple(
            Place(f"{one.path}{one.anchor}", excerpt(one.text, plan.wanted), f"{cosine:.2f}")
            for one, cosine in near or ()
            if not plan.wanted.says(one.text)
        )
        nothing = not (plan.items or left or scrubbed.faults)
        whole = not (left or scrubbed.faults)
        searched = ("text", "bytes") if near is None else ("text", "meaning", "bytes")
        return Erased(
            "not_found" if nothing else "erased" if whole else "partial",
            plan.counts,
            tuple(dict.fromkeys(work.paths)),
            tuple(left.values()),
            plan.yours,
            told,
            searched,
            scrubbed.faults,
            _told_after(plan, [*left.values()], scrubbed.faults, None if near is None else told),
        )

    def _by_text(self, plan: Plan, index: IndexErasing) -> Iterator[Place]:
        """Yield files and chunks of the memory that still say it."""
        for item in self._items(plan.wanted, plan.agents, shared=plan.whole):
            said = excerpt(item.taken[0].text, plan.wanted)
            yield Place(item.path, said, "the file still says it")
        explained = {place.path for place in (*plan.yours, *plan.others)}
        for text in plan.wanted.texts:
            for chunk in index.saying(text, CANDIDATES):
                if chunk.path not in explained and plan.wanted.says(chunk.text):
                    yield Place(chunk.path, excerpt(chunk.text, plan.wanted), "the index has it")

    def _by_bytes(self, plan: Plan) -> Iterator[Place]:
        """Yield files of the memory folder whose raw bytes hold it, but for the person's own."""
        rest = {place.path for place in (*plan.yours, *plan.others)}
        for path, _ in search(self._paths.root / self._paths.memory_dir, plan.wanted.texts):
            relative = self._paths.relative(path)
            concerns = plan.whole or self._paths.agent_of(relative) in plan.agents
            if relative not in rest and concerns:
                yield Place(relative, why="its bytes hold it")

    def _in_state(self, plan: Plan, vectors: Sequence[bytes]) -> Iterator[Place]:
        """Yield files of the state folder that hold it, but for what files explain that stay."""
        if self._state_dir is None:
            return
        stay = [self._text(place.path) for place in (*plan.yours, *plan.others)]
        for path, text in search(self._state_dir, plan.wanted.texts, vectors):
            if not (text and any(map(Wanted([text]).says, stay))):
                what = "its bytes hold it" if text else "it holds a vector of it"
                yield Place(str(path.relative_to(self._state_dir)), why=what)


# --- raw bytes ----------------------------------------------------------------------------


def search(
    root: Path, texts: Sequence[str], vectors: Sequence[bytes] = ()
) -> Iterator[tuple[Path, str]]:
    """Yield the files below a folder that hold a text in any case, or a vector's beginning."""
    needles = [(needle, text) for text in texts for needle in _variants(text)]
    needles += [(raw.lower(), "") for raw in vectors if len(set(raw)) >= _VARIED]
    overlap = max((len(needle) for needle, _ in needles), default=0) + 1
    for path in sorted(root.rglob("*")):
        if not path.is_file() or path.is_symlink():
            continue
        found, kept = set[str](), b""
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                data = kept + block.lower()
                found |= {text for needle, text in needles if _holds(data, needle, text)}
                kept = data[-overlap:]
        yield from ((path, text) for text in sorted(found))


def _variants(text: str) -> set[bytes]:
    """Return a text as it may stand in a file: as it is, without diacritics, as JSON."""
    plain = {one for form in (text, fold(text)) for one in (form, form.upper(), form.lower())}
    written = plain | {
        json.dumps(one, ensure_ascii=way)[1:-1] for one in plain for way in (False, True)
    }
    return {raw for one in written if len(raw := one.encode("utf-8", "replace").lower()) > 1}


def _holds(data: bytes, needle: bytes, text: str) -> bool:
    at = data.find(needle)
    while at >= 0:
        end = at + len(needle)
        around = data[max(0, at - 1) : at] + data[end : end + 1]
        if not 0 < len(text) < _WORD_BELOW or not any(chr(byte).isalnum() for byte in around):
            return True
        at = data.find(needle, at + 1)
    return False


def _blank_logs(folder: Path | None, wanted: Wanted) -> None:
    """Write over the lines of a folder's logs that say it, in place."""
    for path in sorted(folder.glob("*.log*")) if folder else ():
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("r+b") as file:
            offset = 0
            for line in file.read().split(b"\n"):
                if wanted.says(line.decode("utf-8", "replace")):
                    file.seek(offset)
                    file.write(b"-" * len(line))
                offset += len(line) + 1


# --- in words -----------------------------------------------------------------------------


def excerpt(text: str, wanted: Wanted) -> str:
    """Return the part of a text that says what is wanted, on one short line, without secrets."""
    start, end = wanted.spans(text)[0]
    shown = " ".join(bare(text[start:end]).split()).lstrip("> ")
    if len(shown) > EXCERPT:
        words = (word for one in wanted.texts for word in one.casefold().split())
        places = map(shown.casefold().find, sorted(words, key=len, reverse=True))
        at = max(0, next((place for place in places if place >= 0), 0) - EXCERPT // 3)
        shown = ("…" if at else "") + shown[at : at + EXCERPT].strip() + "…"
    return mask(shown).text


def _told_before(plan: Plan, in_state: bool) -> str:
    if plan.counts:
        files = counted(len({item.path for item in plan.items}), "file")
        said = [f"To be erased in {files}: {plan.told}. This cannot be undone."]
    elif in_state:
        said = ["No file of the memory says it; the index or the log still hold its bytes."]
    else:
        said = ["Nothing in the memory says it."]
    if plan.yours:
        holds = "holds" if len(plan.yours) == 1 else "hold"
        files = counted(len(plan.yours), "file")
        said.append(f"{files} of your own {holds} it and will not be touched.")
    return " ".join(said)


def _told_after(
    plan: Plan, left: list[Place], faults: tuple[str, ...], near: tuple[Place, ...] | None
) -> str:
    lines = [f"Erased: {plan.told}." if plan.told else "No file of the memory said it."]
    if left or faults:
        found = "; ".join((*(f"{place.path} ({place.why})" for place in left), *faults))
        lines.append(f"Only in part. Left: {found}.")
    else:
        looked = "text and raw bytes" if near is None else "text, meaning and raw bytes"
        lines.append(f"A search by {looked} finds it nowhere in the memory or the index.")
    if near is None:
        lines.append("Meaning was not searched: no embedder is loaded.")
    elif near:
        lines.append(f"{counted(len(near), 'passage')} may say it in other words: see the list.")
    if plan.yours:
        names = ", ".join(place.path for place in plan.yours)
        lines.append(f"Your own files that hold it, untouched: {names}.")
    return " ".join(lines)
