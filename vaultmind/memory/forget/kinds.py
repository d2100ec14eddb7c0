"""Forgetting reaches every kind of record: each registers here how it finds what said a fact."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from vaultmind.errors import NotFound, PathRefused, UnreadableNote
from vaultmind.memory.brain import block_ids, new_block
from vaultmind.memory.match import SAME_SHARE, says, share_of
from vaultmind.ports import MessageFinder
from vaultmind.types import Fact, MessageRef
from vaultmind.vault.bullets import MARKER, plain
from vaultmind.vault.files import Change, VaultReader
from vaultmind.vault.parts import Part, name_part, parts
from vaultmind.vault.paths import VaultPaths

CANDIDATES = 200
"""Messages that are looked at for one fact."""

_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]*))?\]\]")
_SOURCE = re.compile(r"/memory/(?:sessions|summaries)/")

Edit = Callable[[str, Change], object]
"""Changes a record through the gate: its path, and what makes the new text of the old."""


Ref = MessageRef
SummaryRef = MessageRef
"""A part of a summary or episode is named as a message is: its record is a path, without `.md` (of
a run, with `.jsonl`), its block the part's; of a line of a run `L12`."""


class RecordKind(Protocol):
    """A kind of record that may repeat a fact after it has left the brain."""

    def said(self, agent: str, fact: Fact, edit: Edit) -> Iterable[Ref]:
        """Return what of this kind said a fact. `edit` gives ids to what has none yet."""
        ...

    def near(self, agent: str, words: str) -> Iterable[tuple[Ref, str]]:
        """Return what of this kind may say some words that no fact says, with its text."""
        ...


class Messages:
    """The message that a fact names as its source, and those that say it in whatever order."""

    def __init__(self, finder: MessageFinder) -> None:
        self._finder = finder

    def said(self, agent: str, fact: Fact, edit: Edit) -> list[MessageRef]:
        """Return the fact's evidence and the messages whose words contain what it says."""
        own = [fact.evidence] if fact.evidence else []
        return own + [ref for ref, text in self.near(agent, fact.text) if says(text, fact.text)]

    def near(self, agent: str, words: str) -> Iterable[tuple[MessageRef, str]]:
        """Return the messages that hold some of the words."""
        return self._finder.messages_about(agent, words, CANDIDATES)


class Summaries:
    """Parts of the agent's summaries that say a fact, its active context among them.

    Those too that tell it in other words, known by the messages that they name as their source.
    Each gets a block id, by which it stays hidden wherever it moves.
    """

    def __init__(
        self,
        reader: VaultReader,
        paths: VaultPaths,
        rng: random.Random,
        messages: Messages | None = None,
    ) -> None:
        self._reader, self._paths, self._rng, self._messages = reader, paths, rng, messages

    def said(self, agent: str, fact: Fact, edit: Edit) -> Iterable[Ref]:
        """Return the parts that say the fact, each named by its id."""
        refs = self._messages.said(agent, fact, edit) if self._messages else []
        cited = {
            f"{self._paths.session(ref.agent, ref.session).removesuffix('.md')}#^{ref.block}"
            for ref in refs
        }
        return self._said_in(agent, self._files(agent), fact, cited, edit)

    def near(self, agent: str, words: str) -> Iterable[tuple[Ref, str]]:
        """Return nothing: a summary repeats what messages say."""
        return ()

    def _said_in(
        self, agent: str, paths: Iterable[str], fact: Fact, cited: set[str], edit: Edit
    ) -> Iterator[Ref]:
        """Yield the parts that say it, each with an id; what cites one of them may say it, too."""
        for path in paths:
            blocks: list[str] = []

            def named(text: str, blocks: list[str] = blocks) -> str:
                blocks.clear()
                for part in reversed(parts(text)):
                    if not _tells(part, fact, cited):
                        continue
                    block = part.block or new_block(block_ids(text), self._rng)
                    new = text if part.block else name_part(text, part, block)
                    if part.block or new != text:
                        blocks.append(block)
                        text = new
                return text

            try:
                text = self._reader.read(path).text
                if named(text) != text:
                    edit(path, _over(named))
            except (NotFound, PathRefused, UnreadableNote):
                continue  # not to be read, so not recalled either
            for block in blocks:
                cited.add(f"{path.removesuffix('.md')}#^{block}")
                yield SummaryRef(agent, path.removesuffix(".md"), block)

    def _files(self, agent: str) -> Iterator[str]:
        """Yield what may be summed up before what sums it up: L1 before L2."""
        yield self._paths.active_context(agent)
        folder = self._paths.root / self._paths.summaries(agent)
        yield from map(self._paths.relative, sorted(folder.rglob("*.md")))


def without_sources(text: str) -> str:
    """Return a text as a reader sees it, without the links that only name where it comes from."""
    return _LINK.sub(lambda m: "" if _SOURCE.search(m[1]) else m[2] or m[1], text)


def key_of(ref: Ref) -> tuple[str, str, str]:
    """Return (agent, session or summary, id of the message or part)."""
    return ref.agent, ref.session, ref.block or ref.id


def kind_of(ref: Ref) -> str:
    """Return what is named, in words."""
    if "/" not in ref.session:
        return "message"
    run, episode = ref.session.endswith(".jsonl"), "/episodes/" in ref.session
    return "run message" if run else "episode line" if episode else "summary paragraph"


def _over(change: Callable[[str], str]) -> Change:
    return lambda file: change(file.text) if file else None


def _tells(part: Part, fact: Fact, cited: set[str]) -> bool:
    shown = without_sources(plain(MARKER.sub("", part.text, count=1))[0])
    if says(shown, fact.text):
        return True
    cites = any(match[1] in cited for match in _LINK.finditer(part.text))
    return cites and share_of(shown, fact.text) >= SAME_SHARE
