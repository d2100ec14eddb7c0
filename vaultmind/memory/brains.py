"""The files of one memory's facts under the gate's hand: brain.md and its archive.

The caller holds the agent's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vaultmind.errors import BrokenMemory, NotFound, UnreadableNote
from vaultmind.memory.audit import Move
from vaultmind.memory.brain import (
    MEND,
    WRITING_WAITS,
    PlacedFact,
    add_bullet,
    damage,
    parse_brain,
    remove_fact,
)
from vaultmind.memory.changes import Ask, Step
from vaultmind.memory.suggestions import warn
from vaultmind.redact import mask
from vaultmind.types import Fact
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.oneline import one_line
from vaultmind.vault.writer import VaultWriter

TRIES = 25
"""How often a write starts anew because someone else's edit came first."""


class _Damaged(Exception):
    """A brain must be mended before anything is written."""


class Brains:
    """Reads and changes brains and archives by compare-and-swap."""

    def __init__(self, writer: VaultWriter, reader: VaultReader) -> None:
        self._writer = writer
        self._reader = reader
        self._paths = reader.paths

    def carry_out(
        self,
        ask: Ask,
        step_of: Callable[[str | None], Step],
        begin: Callable[[Step], None],
    ) -> None:
        """Make a step of the files as they stand; again whenever a person's edit came first.

        `begin` is called right before anything is changed.
        """
        steps: list[Step] = []

        def change(text: str | None) -> str | None:
            step = step_of(text)
            if step.outcome.outcome != "written":
                return None
            steps[:] = [step]
            begin(step)
            self.move_in_archive(ask, step.moves, came=True)
            return step.brain

        self.edit_brain(ask, change)
        for step in steps:
            self.move_in_archive(ask, step.moves, came=False)

    def edit_brain(self, ask: Ask, change: Callable[[str | None], str | None]) -> None:
        """Change a brain. Raises BrokenMemory for a damaged one, and the person is told."""

        def sound(file: FileText | None) -> str | None:
            if file and (reason := damage(file.text)):
                raise _Damaged(reason)
            return change(file.text if file else None)

        try:
            self.edit(ask.path, sound)
        except _Damaged as error:
            raise self._broken(ask, str(error)) from None
        except UnreadableNote as error:
            raise self._broken(ask, error.reason) from error

    def _broken(self, ask: Ask, reason: str) -> BrokenMemory:
        """Tell the person that a brain is to be mended; return what is raised."""
        told = f"{ask.path} is damaged: {reason}. {WRITING_WAITS}"
        note = f"> [!warning] a damaged memory file\n> {told} {MEND}"

        def warned(file: FileText | None) -> str | None:
            text = file.text if file else ""
            return None if told in text else warn(text, note, ask.language)

        try:
            self.edit(self._paths.suggestions, warned)
        except UnreadableNote:
            self._writer.append(self._paths.suggestions, f"\n{note}\n")
        return BrokenMemory(f"Not written: {told}", hint=MEND)

    def move_in_archive(self, ask: Ask, moves: Sequence[Move], *, came: bool) -> None:
        """Bring into the archive what a step adds there, or take out what it takes away."""
        wanted = [move for move in moves if move.archive and move.came is came]
        start = f"# {ask.write.agent.capitalize()} - Archive\n"

        def change(file: FileText | None) -> str | None:
            text = file.text if file else start
            for move in wanted:
                at = find_move(text, move)
                if came and not at:
                    section = move.fact.section or "user"
                    text = add_bullet(text, move.line, section, ask.language)
                elif at and not came:
                    text = remove_fact(text, at[0])
            return text

        if wanted:
            self.edit(self._paths.archive(ask.write.agent), change)

    def archived(self, ask: Ask) -> str:
        """Return the text of the archive beside the brain of a write."""
        return self.text(self._paths.archive(ask.write.agent))

    def text(self, path: str) -> str:
        """Return a file's text; empty where there is none that can be read."""
        try:
            return self._reader.read(path).text
        except (NotFound, UnreadableNote):
            return ""

    def is_unreadable(self, agent: str) -> bool:
        """Tell whether brain or archive hold something that is no text."""
        for path in (self._paths.brain(agent), self._paths.archive(agent)):
            file = self._paths.absolute(path)
            if file.exists() and file.stat().st_size and not self.text(path):
                return True
        return False

    def edit(self, path: str, change: Change) -> FileText | None:
        """Change a file by compare-and-swap."""
        return self._writer.edit(path, change, TRIES)


def find_move(text: str, move: Move) -> list[PlacedFact]:
    """Return where the bullet of a move stands in a text: by its id and its words, masked."""
    fact = move.fact
    return [
        placed
        for placed in parse_brain(text).facts
        if placed.fact.block == fact.block
        and placed.fact.until == fact.until
        and mask(one_line(placed.fact.text)).text == mask(one_line(fact.text)).text
    ]


def says(text: str, fact: Fact) -> bool:
    """Tell whether a text holds a fact in the same words, under whatever id."""
    return any(one.text == fact.text for one in parse_brain(text).all())
