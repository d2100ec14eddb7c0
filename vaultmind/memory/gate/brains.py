"""One agent's brain under the gate's hand: tried, changed, and set aside when it is damaged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from vaultmind.errors import DamagedMemory, NotFound, UnreadableNote
from vaultmind.memory.brain import damage, new_brain
from vaultmind.memory.changes import Ask, Step, correct, drop, forget, remember
from vaultmind.memory.suggestions.file import warn
from vaultmind.ports import Clock
from vaultmind.types import Fact, MessageRef
from vaultmind.vault.files import Change, FileText, VaultReader

MAX_ASIDES = 5
"""How often one write sets a brain aside that comes back damaged, as a sync program may do."""

Witness = Callable[[], MessageRef | None]
"""Logs the words asked with, when a write is about to be made; returns where they stand."""

Guard = Callable[[Step], None]
"""Raises what stops a step that would be written."""


class Writer(Protocol):
    """The part of the vault's writer that a brain needs."""

    def edit(self, relative: str, change: Change, tries: int = ..., /) -> FileText | None:
        """Change a file by compare-and-swap."""
        ...

    def append(self, relative: str, text: str, /) -> None:
        """Append to a file."""
        ...

    def set_aside(self, relative: str, now: datetime, /) -> str:
        """Rename a damaged file; return its new name."""
        ...


@dataclass(frozen=True, slots=True)
class Watch:
    """Who looks on while a brain is changed, and may stop it by raising."""

    guard: Guard
    """Sees each step that would be written, before it is."""
    witness: Witness | None
    """Called once, when nothing stops the step any more."""
    damaged: Callable[[str], None]
    """Told why a brain is damaged, before it is set aside."""
    aside: Callable[[str, str, str], None]
    """Told, once it is, its new path, why, and both in a sentence."""
    begin: Callable[[Ask, Step], None]
    """Sees each step right before it is written."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What a change of a brain came to."""

    step: Step
    ask: Ask
    """With the evidence that was logged for it."""


class Damaged(Exception):
    """A brain must be set aside before anything is written."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Unwitnessed(Exception):
    """A write is about to be made whose evidence is not logged yet."""


class Brains:
    """Changes brains, each under its agent's lock."""

    def __init__(self, reader: VaultReader, writer: Writer, tries: int, clock: Clock) -> None:
        self._reader = reader
        self._paths = reader.paths
        self._writer = writer
        self._tries = tries
        self._clock = clock

    def change(self, ask: Ask, watch: Watch) -> Changed:
        """Do what is asked to the brain as it stands; again whenever a person's edit came first.

        Raises DamagedMemory for a brain that comes back damaged however often it is set aside.
        """
        steps: list[Step] = []
        witness, asides = watch.witness, 0

        def change(file: FileText | None) -> str | None:
            if file and (reason := damage(file.text)):
                raise Damaged(reason)
            steps.append(self._step(file.text if file else None, ask))
            if steps[-1].outcome.outcome == "written":
                watch.guard(steps[-1])
                if witness:
                    raise _Unwitnessed
                watch.begin(ask, steps[-1])
            return steps[-1].text

        while True:
            try:
                self._edit(ask.path, change)
                return Changed(steps[-1], ask)
            except Damaged as found:
                watch.damaged(found.reason)
                if asides == MAX_ASIDES:
                    again = f"{ask.path} came back damaged {asides} times: {found.reason}."
                    raise DamagedMemory(again, hint="Mend it, and look at what syncs it.") from None
                self._set_aside(ask, found.reason, watch)
                asides += 1
            except _Unwitnessed:
                evidence, witness = witness() if witness else None, None
                ask = replace(ask, write=replace(ask.write, evidence=evidence))

    def look(self, ask: Ask) -> Step:
        """Return what a change would come to; a damaged brain counts as none."""
        text = self.text(ask.path)
        return self._step(None if not text or damage(text) else text, ask)

    def drop_archived(self, agent: str, gone: tuple[Fact, ...]) -> None:
        """Take facts out of the archive, wherever they stand there."""
        if self.text(self._paths.archive(agent)):
            path = self._paths.archive(agent)
            self._writer.edit(
                path, lambda file: drop(file.text, gone) if file else None, self._tries
            )

    def text(self, path: str) -> str:
        """Return a file's text; empty where there is none that can be read."""
        try:
            return self._reader.read(path).text
        except (NotFound, UnreadableNote):
            return ""

    def _step(self, text: str | None, ask: Ask) -> Step:
        archive = self.text(self._paths.archive(ask.write.agent))
        if ask.write.op == "remember":
            return remember(text, ask, archive)
        return (correct if ask.write.op == "replace" else forget)(text, archive, ask)

    def _edit(self, relative: str, change: Change) -> FileText | None:
        try:
            return self._writer.edit(relative, change, self._tries)
        except UnreadableNote as error:
            if self._is_text(relative):
                raise
            raise Damaged(error.reason) from error

    def _set_aside(self, ask: Ask, reason: str, watch: Watch) -> None:
        """Set a damaged brain aside, start a new one, and tell the person."""
        path, now = ask.path, self._clock()
        aside = self._writer.set_aside(path, now)
        told = f"{path} was damaged: {reason}. It was set aside, whole, as {aside}"
        watch.aside(aside, reason, f"{told}, and a new one was started.")
        self._edit(path, lambda file: None if file else new_brain(ask.write.agent, ask.language))
        note = (
            f"> [!warning] {now:%Y-%m-%d %H:%M} · a damaged memory file\n"
            f"> {told}, and a new one was started. "
            f"Copy back what you want to keep: [[{aside.removesuffix('.md')}]]"
        )
        self._tell(note, ask.language)

    def _tell(self, note: str, language: str) -> None:
        path = self._paths.suggestions
        try:
            self._writer.edit(path, lambda file: warn(file.text if file else "", note, language))
        except UnreadableNote:
            self._writer.append(path, f"\n{note}\n")

    def _is_text(self, relative: str) -> bool:
        """Tell whether a file is sound text, or cannot be read for another reason."""
        try:
            raw = self._paths.absolute(relative).read_bytes()
        except OSError:
            return True
        try:
            return "\0" not in raw.decode("utf-8")
        except UnicodeDecodeError:
            return False
