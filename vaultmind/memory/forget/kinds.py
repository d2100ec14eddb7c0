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
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.parts import Part, name_part, parts
from vaultmind.vault.paths import VaultPaths

CANDIDATES = 200
"""Messages that are looked at for one fact."""

_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]*))?\]\]")
_SOURCE = re.compile(r"/memory/(?:sessions|summaries)/")

Edit = Callable[[str, Change], object]
"""Changes a record through the gate: its path, and what makes the new text of the old."""
Ref = MessageRef
"""A message, or a part of a summary or episode: its record is a path then, without `.md` (of a run,
with `.jsonl`), its block the part's; of a line of a run `L12`."""


class RecordKind(Protocol):
    """A kind of record that may repeat a fact after it has left the brain."""

    def said(self, agent: str, fact: Fact, edit: Edit) -> Iterable[Ref]:
        """Return what of this kind said a fact. `edit` gives ids to what has none yet."""
        ...


class Messages:
    """The message that a fact names as its source, and those that say it in whatever order."""

    def __init__(self, finder: MessageFinder) -> None:
        self._finder = finder

    def said(self, agent: str, fact: Fact, edit: Edit) -> list[Ref]:
        """Return the fact's evidence and the messages whose words contain what it says."""
        near = self._finder.messages_about(agent, fact.text, CANDIDATES)
        own = [fact.evidence] if fact.evidence else []
        return own + [ref for ref, text in near if says(text, fact.text)]


class Summaries:
    """Parts of the agent's summaries that say a fact, its active context among them.

    Those too that tell it in other words, known by the messages that they name as their source.
    Each gets a block id, by which it stays hidden wherever it moves.
    """

    def __init__(
        self, reader: VaultReader, paths: VaultPaths, rng: random.Random,
        messages: Messages | None = None,
    ) -> None:  # fmt: skip
        self._reader, self._paths, self._rng, self._messages = reader, paths, rng, messages

    def said(self, agent: str, fact: Fact, edit: Edit) -> Iterable[Ref]:
        """Return the parts that say the fact, each named by its id."""
        refs = self._messages.said(agent, fact, edit) if self._messages else []
        cited = set(map(self._paths.link, refs))
        summaries = (self._paths.root / self._paths.summaries(agent)).rglob("*.md")
        paths = map(self._paths.relative, sorted(summaries))  # L1 before L2, which sums it up
        return self._said_in(agent, [self._paths.active_context(agent), *paths], fact, cited, edit)

    def _said_in(
        self, agent: str, paths: Iterable[str], fact: Fact, cited: set[str], edit: Edit
    ) -> Iterator[Ref]:
        """Yield the parts that say it, each with an id; what cites one of them may say it, too."""
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

        for path in paths:
            try:
                file = self._reader.read(path)
                if named(file) != file.text:
                    edit(path, named)
            except (NotFound, PathRefused, UnreadableNote):
                continue  # not to be read, so not recalled either
            record = path.removesuffix(".md")
            cited |= {f"{record}#^{block}" for block in blocks}
            yield from [Ref(agent, record, block) for block in blocks]


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
