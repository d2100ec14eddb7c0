"""The files of one memory's facts: brain.md and its archive, changed by compare-and-swap.

The caller holds the agent's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vaultmind.errors import BrokenMemory, NotFound, UnreadableNote
from vaultmind.memory.brain import MEND, WRITING_WAITS, damage, new_brain, parse_brain
from vaultmind.memory.changes import Ask, Step
from vaultmind.memory.moves import Move, apply, find_fact, turned
from vaultmind.memory.suggestions import warn
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.writer import VaultWriter

TRIES = 25
"""How often a write starts anew because someone else's edit came first."""


class Brains:
    """Reads and changes brains and archives."""

    def __init__(self, writer: VaultWriter, reader: VaultReader) -> None:
        self._writer = writer
        self._reader = reader
        self._paths = reader.paths

    def carry_out(
        self, ask: Ask, step_of: Callable[[str | None], Step], begin: Callable[[Step], None]
    ) -> None:
        """Make a step of the files as they stand; again whenever a person's edit came first.

        `begin` is called right before anything is changed.
        """
        made: list[Step] = []

        def change(text: str | None) -> str | None:
            step = step_of(text)
            if step.outcome.outcome != "written":
                return None
            made[:] = [step]
            begin(step)
            self._archive(ask, [move for move in step.moves if move.came])
            if all(move.archive for move in step.moves):
                return None
            start = new_brain(ask.write.agent, ask.language) if text is None else text
            return apply(start, step.moves, archive=False, language=ask.language)

        self.edit_brain(ask, change)
        for step in made:
            self._archive(ask, step.moves)

    def _archive(self, ask: Ask, moves: Sequence[Move]) -> None:
        """Bring into the archive what comes there, and take out what leaves it."""
        start = f"# {ask.write.agent.capitalize()} - Archive\n"

        def change(file: FileText | None) -> str | None:
            text = file.text if file else start
            return apply(text, moves, archive=True, language=ask.language)

        if any(move.archive for move in moves):
            self._writer.edit(ask.archive, change, TRIES)

    def is_made(self, ask: Ask, moves: Sequence[Move]) -> bool:
        """Tell whether a brain stands as after some moves, whatever its archive says."""
        brain = self.text(ask.path)
        return all(bool(find_fact(brain, one.fact)) is one.came for one in moves if not one.archive)

    def take_back(self, ask: Ask, moves: Sequence[Move]) -> None:
        """Take out of the archive what came there from a brain that still says it."""
        standing = {fact.text for fact in parse_brain(self.text(ask.path)).all()}
        came = [one for one in moves if one.archive and one.came and one.fact.text in standing]
        self._archive(ask, turned(came))

    def edit_brain(self, ask: Ask, change: Callable[[str | None], str | None]) -> None:
        """Change a brain. Raises BrokenMemory for a damaged one, and the person is told."""
        reason = ""

        def sound(file: FileText | None) -> str | None:
            nonlocal reason
            reason = damage(file.text) if file else ""
            return None if reason else change(file.text if file else None)

        try:
            self._writer.edit(ask.path, sound, TRIES)
        except UnreadableNote as error:
            reason = error.reason
        if reason:
            raise self._broken(ask, reason)

    def _broken(self, ask: Ask, reason: str) -> BrokenMemory:
        """Tell the person that a brain is to be mended; return what is raised."""
        told = f"{ask.path} is damaged: {reason}. {WRITING_WAITS}"
        note = f"> [!warning] a damaged memory file\n> {told} {MEND}"

        def warned(file: FileText | None) -> str | None:
            text = file.text if file else ""
            return None if told in text else warn(text, note, ask.language)

        try:
            self._writer.edit(self._paths.suggestions, warned, TRIES)
        except UnreadableNote:
            self._writer.append(self._paths.suggestions, f"\n{note}\n")
        return BrokenMemory(f"Not written: {told}", hint=MEND)

    def text(self, path: str) -> str:
        """Return a file's text; empty where there is none that can be read."""
        try:
            return self._reader.read(path).text
        except (NotFound, UnreadableNote):
            return ""
