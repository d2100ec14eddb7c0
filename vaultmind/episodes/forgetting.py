"""Forgetting and erasing reach episodes: the lines that said a thing, offers, and the tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from vaultmind.episodes.files import OFFERS, EpisodeFiles
from vaultmind.episodes.note import LONG_TASK, NO_TASK, parsed, placed_events, title_span
from vaultmind.episodes.types import TASK, Event
from vaultmind.errors import BadArgument, NotFound, UnreadableNote, VaultMindError
from vaultmind.memory.forget.erasing import Erasable, without_sentences
from vaultmind.memory.forget.hiding import Edit, Ref
from vaultmind.memory.match import Wanted, says
from vaultmind.ports import IndexErasing
from vaultmind.types import Fact, Scrubbed
from vaultmind.vault.properties import set_property

if TYPE_CHECKING:
    from vaultmind.episodes.recorder import Episodes
    from vaultmind.episodes.watch import Watching


def episodes_said(
    notes: EpisodeFiles, watching: Callable[[], Watching], agent: str, fact: Fact, edit: Edit
) -> Iterator[Ref | str]:
    """Yield the tasks that say the fact, and the notes with lines that may.

    What was asked, where no note has it yet, has no place to be hidden at: it is let go of.
    """
    watching().let_go(agent)
    wanted = Wanted([fact.text])
    for name in notes.names(agent):
        with suppress(NotFound, UnreadableNote):  # not to be read, so not recalled either
            text = notes.file(name).text
            if wanted.may_be_in(text):
                if (task := parsed(text, "", "").task.text) and says(task, fact.text):
                    yield Ref(agent, notes.record(name), TASK)
                yield notes.path(name)


def said_in(event: Event) -> str:
    """Return all that an event says, in words."""
    return " ".join(filter(None, (event.text, event.path, event.symbol, event.commit)))


# --- erasing ------------------------------------------------------------------------------


def without_episode(text: str, path: str, wanted: Wanted) -> str:
    """Return an episode's note without what says it.

    An event that says it goes whole. With a task goes what was made of its words, the fingerprint,
    and what it refers to.
    """
    text = _without_task(text, path, wanted)
    for placed in reversed(placed_events(text)):
        meant = wanted.means(path, placed.event.block)
        line = text[placed.start : placed.end]
        if meant or wanted.says(said_in(placed.event)) or wanted.says(line):
            text = text[: placed.start] + text[placed.end :]
    return without_sentences(text, path, wanted)


def _without_task(text: str, path: str, wanted: Wanted) -> str:
    """Return the note without its task, where that says it."""
    title, task = title_span(text), parsed(text, "", "").task.text
    if title is None or not task or not (wanted.means(path, TASK) or wanted.says(task)):
        return text
    if text[title[0] : title[1]] == f"# {LONG_TASK}":
        below = text.find(f" ^{TASK}", title[1])
        start = text.rfind("\n", 0, below) + 1
        text = text[:start] + text[below + 1 :] if below > 0 else text
    text = f"{text[: title[0]]}# {NO_TASK}{text[title[1] :]}"
    for key, none in (("fingerprint", None), ("issues", [])):
        with suppress(BadArgument):  # broken front matter: its lines go one by one
            text = set_property(text, key, none)
    return text


def without_offers(text: str, path: str, wanted: Wanted) -> str:
    """Return no offers where one says it: they are of no use in part."""
    return "" if wanted.says(text) or any(map(wanted.says, text.splitlines())) else text


EPISODES: tuple[Erasable, ...] = (
    Erasable("offers", rf"agents/[^/]+/episodes/.*{re.escape(OFFERS)}", without_offers),
    Erasable("episodes", r"agents/[^/]+/episodes/.*\.(md|txt|jsonl)", without_episode),
)
"""What an erasure takes out of episodes; the gate is made with them. Conflict copies included."""


class EpisodesErasing:
    """Implements `IndexErasing`: takes erased texts out of all that is made of notes.

    It is not known here which texts: what was asked in conversations that go on is let go of
    whatever it says. What a plan offered is removed with whatever was taken out of its episode's
    note: it was chosen for the words that are gone.
    """

    def __init__(
        self, inner: IndexErasing, episodes: Episodes, watching: Callable[[], Watching]
    ) -> None:
        self._inner, self._episodes, self._watching = inner, episodes, watching
        self.saying, self.nearest_to = inner.saying, inner.nearest_to

    def begin(self) -> None:
        """Note that files are about to change; what was asked in no note yet is let go of."""
        self._watching().let_go()
        self._inner.begin()

    def scrub(self, paths: Iterable[str]) -> Scrubbed:
        """Clean the index, the tables, and remove the offers of what was touched."""
        touched = tuple(paths)
        self._watching().let_go()
        episodes, faults = self._episodes, list[str]()
        for name in sorted(filter(None, set(map(episodes.files.name_of, touched)))):
            try:
                episodes.drop_offers(name)
            except VaultMindError as error:
                faults.append(f"what plans offered in {name} could not be removed ({error})")
        scrubbed = self._inner.scrub(touched)
        try:
            faults += filter(None, [episodes.scrub()])
        except VaultMindError as error:
            faults.append(f"what is made of the notes could not be cleaned ({error})")
        return Scrubbed((*scrubbed.faults, *faults))
