"""Forgetting reaches what a model said of messages, whatever words it took for it.

A line of the messages' own words says a fact or does not. A model's line may say it in others: so
it is hidden with any of the messages that it was drawn from, in the sliding summary and in the
active context that was made of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from vaultmind.errors import NotFound, PathRefused, UnreadableNote
from vaultmind.memory.forget.kinds import CANDIDATES, Edit, Ref, SummaryRef
from vaultmind.memory.match import says
from vaultmind.ports import MessageFinder
from vaultmind.session.summary_file import drawn_in
from vaultmind.types import Fact, MessageRef
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

Said = tuple[MessageRef, str]


class DrawnLines:
    """Implements the gate's `RecordKind`: a model's lines of messages that say a fact."""

    name = "summaries by a model"

    def __init__(self, finder: MessageFinder, reader: VaultReader, paths: VaultPaths) -> None:
        self._finder = finder
        self._reader = reader
        self._paths = paths

    def said(self, agent: str, fact: Fact, edit: Edit) -> Iterable[Ref]:
        """Return the lines whose messages contain what the fact says."""
        found = [one for one in self._about(agent, fact.text) if says(one[1], fact.text)]
        if fact.evidence and fact.evidence.agent == agent:
            found.append((fact.evidence, fact.text))
        return [ref for ref, _ in self._drawn_from(agent, found)]

    def near(self, agent: str, words: str) -> Iterable[tuple[Ref, str]]:
        """Return the lines whose messages hold some of the words, with a message's text."""
        return self._drawn_from(agent, self._about(agent, words))

    def _about(self, agent: str, words: str) -> list[Said]:
        return list(self._finder.messages_about(agent, words, CANDIDATES))

    def _drawn_from(self, agent: str, said: Iterable[Said]) -> Iterator[tuple[SummaryRef, str]]:
        texts: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for message, text in said:
            if message.block:
                texts[message.session][message.block] = text
        context = self._paths.active_context(agent)
        for session, there in texts.items():
            own = f"{session.replace('_', '-')}-"
            for path in self._files(agent, session):
                for block, sources in drawn_in(self._text(path)).items():
                    if path == context and not block.startswith(own):
                        continue  # an active context tells of several sessions
                    named = next((one for one in sources if one in there), "")
                    if named:
                        yield SummaryRef(agent, path.removesuffix(".md"), block), there[named]

    def _files(self, agent: str, session: str) -> list[str]:
        """Return the sliding summaries of a session, and the active context."""
        folder = self._paths.root / self._paths.summaries(agent) / "rolling"
        found = [
            self._paths.relative(path)
            for path in sorted(folder.glob("*.md"))
            if path.stem == session or path.stem.startswith(f"{session}-")
        ]
        return [*found, self._paths.active_context(agent)]

    def _text(self, path: str) -> str:
        try:
            return self._reader.read(path).text
        except (NotFound, PathRefused, UnreadableNote):
            return ""  # not to be read, so not recalled either
