"""Erasing: everything that says a thing is taken out of every file and index, then looked for.

In the order: messages, summaries, runs, suggestions, copies, audit texts, facts, then logs and the
index. What the rest is found by goes last, so that an erasure which was killed in the middle is
finished by doing it again. The search after it, by text, by meaning and over raw bytes, is the
answer.
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
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vaultmind import errors
from vaultmind.language.words import SOFT, bare, content, fold
from vaultmind.memory.audit import newest_first, ref_of, refs_of
from vaultmind.memory.brain import block_ids, parse_brain
from vaultmind.memory.forget.kinds import key_of
from vaultmind.memory.forget.taking import OTHERS, Erasable, Taken, Target
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.memory.match import find
from vaultmind.plural import counted
from vaultmind.ports import Clock, IndexErasing, Report, silent
from vaultmind.redact import mask
from vaultmind.types import Caller, Progress
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
_OWN_NOTES = (".md", ".canvas", ".txt")
_UNSEARCHED = frozenset({".git", "node_modules"})
_BLOCK = re.compile(r"\^([A-Za-z0-9-]+)")
_LINK = re.compile(
    r" ?\[\[(?P<to>(?P<record>[^\[\]|#]+)#\^[A-Za-z0-9-]+)(?P<shown>\|[^\[\]]*)?\]\]"
)


@dataclass(frozen=True, slots=True)
class Erasure:
    """A wish to erase what some words say. Only the person may have it."""

    text: str
    """The words, or a fact's block id (`^k3f9`)."""
    caller: Caller
    agent: str = ""
    """Only this agent's memory; empty: every agent's."""
    seal: str = ""
    """Of the preview that was confirmed: what was found may not have changed since."""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that would be erased."""

    kind: str
    agent: str
    path: str
    place: str
    """`^m7`, `line 12`, `front matter`."""
    excerpt: str


@dataclass(frozen=True, slots=True)
class Place:
    """A file that is not touched and still holds it, or could not be cleaned."""

    path: str
    excerpt: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """What an erasure would remove. Nothing is touched yet."""

    text: str
    meant: tuple[str, ...]
    """Facts that the words mean, said otherwise: what says these goes as well."""
    found: tuple[Found, ...]
    counts: dict[str, int]
    """How many of each kind."""
    yours: tuple[Place, ...]
    """Your own notes that hold it: they stay."""
    state_files: tuple[str, ...]
    """Files of the state folder that hold its bytes: they are cleaned."""
    seal: str
    message: str


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure came to, as the search after it found."""

    outcome: Literal["erased", "partial", "not_found"]
    counts: dict[str, int]
    paths: tuple[str, ...]
    """Files that were changed."""
    left: tuple[Place, ...]
    """Where it still stands: the erasure is partial."""
    yours: tuple[Place, ...]
    near: tuple[Place, ...]
    """Passages that mean nearly the same, in other words; `why` is the cosine."""
    searched: tuple[str, ...]
    """How the verifying search looked: by `text`, by `meaning`, by `bytes`."""
    faults: tuple[str, ...]
    message: str


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
    others: tuple[str, ...]
    """Files of agents that are not meant."""

    @property
    def counts(self) -> dict[str, int]:
        """Return how many of each kind."""
        return dict(Counter(item.kind.name for item in self.items for _ in item.taken))

    @property
    def seal(self) -> str:
        """Return a mark of what was found: the same finds have the same one."""
        finds = [[one.path, each.place, each.text] for one in self.items for each in one.taken]
        return hashlib.sha256(json.dumps([self.wanted.texts, finds]).encode()).hexdigest()[:16]


class Erasing:
    """Previews and does erasures, one at a time. Used by the gate alone."""

    def __init__(
        self,
        reader: VaultReader,
        stores: tuple[tuple[Erasable, ...], Path | None],
        edit: Callable[[str, Change], object],
        hide: Callable[..., object],
        note: Callable[..., None],
        clock: Clock,
    ) -> None:
        """Take the kinds of record and the state folder as `stores`, and the gate's ways to change
        a file, to hide messages and to write an audit line.
        """
        self._reader, self._paths, self._clock = reader, reader.paths, clock
        (self._erasables, self._state_dir), self._edit = stores, edit
        self._hide, self._note = hide, note
        self._lock = threading.Lock()

    def preview(self, erasure: Erasure) -> Preview:
        """Return what would be removed. Raises NotAllowed, BadArgument, NotFound."""
        plan = self._plan(erasure)
        found = [
            Found(item.kind.name, item.agent, item.path, one.place, excerpt(one.text, plan.wanted))
            for item in plan.items
            for one in item.taken
        ]
        names = self._in_state(plan)
        said = "Nothing in the memory says it."
        if plan.items:
            files = counted(len({item.path for item in plan.items}), "file")
            said = f"To be erased in {files}: {_told(plan)}. This cannot be undone."
        elif names:
            said = "No file of the memory says it; the index or the log still hold its bytes."
        if plan.yours:
            holds = "holds" if len(plan.yours) == 1 else "hold"
            files = counted(len(plan.yours), "file")
            said += f" {files} of your own {holds} it and will not be touched."
        return Preview(
            erasure.text, plan.meant, tuple(found[:MOST_SHOWN]), plan.counts, plan.yours, names,
            plan.seal, said,
        )  # fmt: skip

    def erase(self, erasure: Erasure, index: IndexErasing, report: Report = silent) -> Erased:
        """Remove it, search for it, and return what the search found.

        Raises NotAllowed for every caller but the person; WriteConflict where something else
        would go than the preview showed, BadArgument, NotFound: then nothing was touched.
        """
        with self._lock:
            plan = self._plan(erasure)
            if erasure.seal and not secrets.compare_digest(erasure.seal, plan.seal):
                raise errors.WriteConflict(
                    "What would be erased has changed since it was shown.",
                    hint="Nothing was erased; look at it again.",
                )
            index.begin()
            paths, left, gone = list[str](), dict[str, Place](), set[str]()
            for number, item in enumerate(plan.items):
                report(Progress(number, len(plan.items), item.kind.name))
                try:
                    gone |= self._take(item, plan.wanted)
                    paths.append(item.path)
                except errors.VaultMindError as error:
                    left[item.path] = Place(item.path, why=error.message)
            paths += self._without_links(plan.agents, gone) if gone else []
            try:
                _empty_logs(self._state_dir, plan.wanted)
            except OSError as error:
                left["the log"] = Place("the log", why=str(error))
            faults = index.scrub(dict.fromkeys([*paths, *left])).faults
            for place in self._left(plan, index):
                left.setdefault(place.path, place)
            erased = _erased(plan, paths, [*left.values()], faults, index)
            places = Counter(item.agent for item in plan.items for _ in item.taken if item.agent)
            for agent, number in places.items():
                done = "" if erased.outcome == "erased" else ", not whole"
                reason = f"{counted(number, 'place')}{done}"
                self._note(erasure.caller, agent, "erase", "written", reason=reason)
        return erased

    def _take(self, item: Item, wanted: Wanted) -> set[str]:
        """Take it out of one file, as it stands then; what is hidden stays so whatever happens.

        Returns what links named and is not there any more: `record#^block`.
        """
        taken, gone = item.taken, set[str]()
        self._hide((one.ref for one in taken if one.ref), erased=True)

        def change(file: FileText | None) -> str | None:
            nonlocal taken, gone
            if file is None:
                return None
            new = item.kind.without(self._target(item.path, item.agent, file.text), wanted)
            taken, gone = new.taken, block_ids(file.text) - block_ids(new.text)
            return new.text if taken else None

        self._edit(item.path, change)
        self._hide((one.ref for one in taken if one.ref), erased=True)
        return {f"{item.path.removesuffix('.md')}#^{block}" for block in gone}

    def _without_links(self, agents: Iterable[str], gone: set[str]) -> Iterator[str]:
        """Take links to what is gone out of the agents' records; yield the files that had any.

        A link that only names a source goes; one with words of its own leads to the file.
        """

        def led(match: re.Match[str]) -> str:
            if match["to"] not in gone:
                return match[0]
            shown, gap = match["shown"] or "", match[0][0].strip("[")
            return "" if shown == "|source" else f"{gap}[[{match['record']}{shown}]]"

        for agent in agents:
            for file in sorted((self._paths.root / self._paths.memory(agent)).rglob("*.md")):
                path = self._paths.relative(file)
                text = self._text(path)
                if _LINK.sub(led, text) != text:
                    with suppress(errors.VaultMindError):  # it leads nowhere then
                        self._edit(path, lambda it: _LINK.sub(led, it.text) if it else None)
                        yield path

    # --- what would go --------------------------------------------------------------------

    def _plan(self, erasure: Erasure) -> Plan:
        """Return what would go. Raises BadArgument for words that say nothing, NotFound for an
        id that no fact has.
        """
        if erasure.caller.kind != "person":
            raise errors.NotAllowed(
                f"{erasure.caller.name} may not erase: only the person may, on the command line.",
                hint="Nothing was touched. The person can run `vaultmind forget --everywhere`.",
            )
        every = self._paths.agent_names()
        agents = (erasure.agent,) if erasure.agent else every
        wanted, meant = self._meant(erasure, agents)
        items = tuple(self._items(wanted, agents, shared=agents == every))
        rest = tuple(name for name in every if name not in agents)
        others = tuple(one.path for one in self._items(wanted, rest, shared=False))
        yours = tuple(
            Place(path, excerpt(text, wanted))
            for path in self._own_files()
            if wanted.says(text := self._text(path, lenient=True))
        )
        return Plan(wanted, agents, agents == every, meant, items, yours, others)

    def _meant(self, erasure: Erasure, agents: tuple[str, ...]) -> tuple[Wanted, tuple[str, ...]]:
        """Return what is wanted: the words, the facts they mean, and the messages these are of."""
        text = " ".join(erasure.text.split())
        block, files = _BLOCK.fullmatch(text), (self._paths.brain, self._paths.archive)
        facts = [
            [one for path in files for one in parse_brain(self._text(path(agent))).all()]
            for agent in agents
        ]
        lines = [line for line in newest_first(self._paths, agents) if not line.erased]
        meant = [own[at].text for own in facts for at in find(own, text).found]
        if block and not meant:  # the audit may say what a fact said that is not there any more
            told = (
                one for line in lines if line.block == block[1] for one in (line.before, line.after)
            )
            meant = [one for one in told if one]
            if not meant:
                raise errors.NotFound(f"No fact has the id {text}.")
        elif not block and all(word.folded in SOFT for word in content(text)):
            raise errors.BadArgument("text", erasure.text, "words that say what to erase")
        texts = (*([] if block else [text]), *meant)
        says = Wanted(texts).says
        refs = [one.evidence for own in facts for one in own if says(one.text)]
        for line in lines:
            if says(line.before) or says(line.after):
                refs += [ref_of(line.evidence), *refs_of(line.hidden)]
        wanted = Wanted(texts, (key_of(one) for one in refs if one), erasure.agent)
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
        return Target(path, agent, text, self._clock().date().isoformat())

    def _text(self, path: str, *, lenient: bool = False) -> str:
        """Return a file's text; empty for one that is no text, or not there any more."""
        try:
            if lenient:
                return self._paths.absolute(path).read_text("utf-8", "replace")
            return self._reader.read(path).text
        except (errors.NotFound, errors.PathRefused, errors.UnreadableNote, OSError):
            return ""

    # --- what is left ---------------------------------------------------------------------

    def _left(self, plan: Plan, index: IndexErasing) -> Iterator[Place]:
        """Yield what still says it, in the memory, the index and the state folder."""
        for item in self._items(plan.wanted, plan.agents, shared=plan.whole):
            said = excerpt(item.taken[0].text, plan.wanted)
            yield Place(item.path, said, "the file still says it")
        stays = {*(place.path for place in plan.yours), *plan.others}
        for text in plan.wanted.texts:
            for chunk in index.saying(text, CANDIDATES):
                if chunk.path not in stays and plan.wanted.says(chunk.text):
                    yield Place(chunk.path, excerpt(chunk.text, plan.wanted), "the index has it")
            for file in search(self._paths.root / self._paths.memory_dir, text):
                path = self._paths.relative(file)
                concerns = plan.whole or self._paths.agent_of(path) in plan.agents
                if concerns and path not in stays:
                    yield Place(path, why="its bytes hold it")
        for name in self._in_state(plan):
            yield Place(name, why="its bytes hold it")

    def _in_state(self, plan: Plan) -> tuple[str, ...]:
        """Return files of the state folder that hold it, but for what files explain that stay."""
        top, stays = self._state_dir, (*(one.path for one in plan.yours), *plan.others)
        kept = [self._text(path) for path in stays]
        texts = [one for one in plan.wanted.texts if not any(map(Wanted([one]).says, kept))]
        found = (
            {str(file.relative_to(top)) for one in texts for file in search(top, one)}
            if top
            else ()
        )
        return tuple(sorted(found))


def search(root: Path, text: str) -> Iterator[Path]:
    """Yield the files below a folder whose bytes hold a text: in any case, plain, as JSON."""
    forms = {form for one in (text, fold(text)) for form in (one, one.upper(), one.lower())}
    forms |= {json.dumps(one)[1:-1] for one in forms}
    needles = {one.encode("utf-8", "replace").lower() for one in forms if len(one) > 1}
    said = b"|".join(map(re.escape, sorted(needles)))
    if len(text) < _WORD_BELOW:  # a whole word
        said = rb"(?<![a-z0-9])(?:" + said + rb")(?![a-z0-9])"
    for path in sorted(root.rglob("*")) if needles else ():
        if not path.is_file() or path.is_symlink():
            continue
        with path.open("rb") as file:
            kept = b""
            while block := file.read(_BLOCK_BYTES):
                data = kept + block.lower()
                if any(one in data for one in needles) and re.search(said, data):
                    yield path
                    break
                kept = data[-max(map(len, needles)) - 1 :]


def _empty_logs(folder: Path | None, wanted: Wanted) -> None:
    """Empty a folder's logs of which a line says it."""
    for path in sorted(folder.glob("*.log*")) if folder else ():
        if path.is_file() and any(map(wanted.says, path.read_text("utf-8", "replace").split("\n"))):
            path.write_bytes(b"")


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


def _told(plan: Plan) -> str:
    return ", ".join(f"{name}: {number}" for name, number in plan.counts.items())


def _erased(
    plan: Plan, paths: Iterable[str], left: Sequence[Place], faults: tuple[str, ...],
    index: IndexErasing,
) -> Erased:  # fmt: skip
    """Return what an erasure came to, by what is still there, and say it in words."""
    near = index.nearest_to(plan.wanted.texts[:NEAR_TEXTS], MOST_NEAR)
    passages = tuple(
        Place(f"{one.path}{one.anchor}", excerpt(one.text, plan.wanted), f"{cosine:.2f}")
        for one, cosine in near or ()
        if not plan.wanted.says(one.text)
    )
    own = ", ".join(place.path for place in plan.yours)
    found = "; ".join((*(f"{place.path} ({place.why})" for place in left), *faults))
    looked = "text and raw bytes" if near is None else "text, meaning and raw bytes"
    nowhere = f"A search by {looked} finds it nowhere in the memory or the index."
    said = counted(len(passages), "passage")
    lines = (
        f"Erased: {_told(plan)}." if plan.items else "No file of the memory said it.",
        f"Only in part. Left: {found}." if found else nowhere,
        "Meaning was not searched: no embedder is loaded." if near is None else "",
        f"{said} may say it in other words: see the list." if passages else "",
        f"Your own files that hold it, untouched: {own}." if own else "",
    )
    return Erased(
        "partial" if found else "erased" if plan.items else "not_found",
        plan.counts, tuple(dict.fromkeys(paths)), tuple(left), plan.yours, passages,
        ("text", "bytes") if near is None else ("text", "meaning", "bytes"), faults,
        " ".join(filter(None, lines)),
    )  # fmt: skip
