"""One agent's brain under the gate's hand: tried, changed, left alone when it is damaged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

from vaultmind.errors import BrokenMemory, NotFound, UnreadableNote
from vaultmind.memory.brain import MEND, WRITING_WAITS, damage
from vaultmind.memory.changes import Ask, Step, correct, drop, forget, remember
from vaultmind.memory.limits import Limits, ended
from vaultmind.memory.rights.policy import inferred
from vaultmind.memory.suggestions.file import warn
from vaultmind.types import Fact, MessageRef
from vaultmind.vault.files import Change, FileText, VaultReader

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


@dataclass(frozen=True, slots=True)
class Watch:
    """Who looks on while a brain is changed, and may stop it by raising."""

    guard: Guard
    """Sees each step that would be written, before it is."""
    witness: Witness | None
    """Called once, when nothing stops the step any more."""
    begin: Callable[[Ask, Step], None]
    """Sees each step right before it is written."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What a change of a brain came to."""

    step: Step
    ask: Ask
    """With the evidence that was logged for it."""


class _Damaged(Exception):
    """A brain must be mended before anything is written."""


class _Unwitnessed(Exception):
    """A write is about to be made whose evidence is not logged yet."""


class Brains:
    """Changes brains, each under its agent's lock."""

    def __init__(self, reader: VaultReader, writer: Writer, tries: int) -> None:
        self._reader = reader
        self._paths = reader.paths
        self._writer = writer
        self._tries = tries

    def change(self, ask: Ask, watch: Watch) -> Changed:
        """Do what is asked to the brain as it stands; again whenever a person's edit came first.

        Raises BrokenMemory for a damaged brain: it is left as it stands, and the person told.
        """
        steps: list[Step] = []
        witness = watch.witness

        def change(file: FileText | None) -> str | None:
            if file and (reason := damage(file.text)):
                raise _Damaged(reason)
            steps.append(self._step(file.text if file else None, ask))
            if steps[-1].outcome.outcome == "written":
                watch.guard(steps[-1])
                if witness:
                    raise _Unwitnessed
                watch.begin(ask, steps[-1])
                self._keep_ended(ask, steps[-1])
            return steps[-1].text

        while True:
            try:
                self._edit(ask, change)
                return Changed(steps[-1], ask)
            except _Unwitnessed:
                evidence, witness = witness() if witness else None, None
                ask = replace(ask, write=replace(ask.write, evidence=evidence))

    def look(self, ask: Ask) -> Step:
        """Return what a change would come to. Raises BrokenMemory as `change` does."""
        steps: list[Step] = []

        def look(file: FileText | None) -> None:
            if file and (reason := damage(file.text)):
                raise _Damaged(reason)
            steps.append(self._step(file.text if file else None, ask))

        self._edit(ask, look)
        return steps[-1]

    def drop_archived(self, agent: str, gone: tuple[Fact, ...], *, ended: bool) -> None:
        """Take facts out of the archive; with `ended` also those that no longer hold."""
        if self.text(self._paths.archive(agent)):
            path = self._paths.archive(agent)
            self._writer.edit(
                path,
                lambda file: drop(file.text, gone, ended=ended) if file else None,
                self._tries,
            )

    def _keep_ended(self, ask: Ask, step: Step) -> None:
        """Write what a fact takes the place of into the archive, before the brain lets it go."""
        if not step.ended:
            return
        day = date.fromisoformat(ask.today)
        limits = Limits(self._paths, ask.write.agent, day, ask.language)
        path = self._paths.archive(ask.write.agent)
        self._writer.edit(
            path,
            lambda file: ended(file.text if file else "", step.ended, limits),
            self._tries,
        )

    def text(self, path: str) -> str:
        """Return a file's text; empty where there is none that can be read."""
        try:
            return self._reader.read(path).text
        except (NotFound, UnreadableNote):
            return ""

    def _step(self, text: str | None, ask: Ask) -> Step:
        archive = self.text(self._paths.archive(ask.write.agent))
        if ask.write.op == "remember" or (ask.write.op == "replace" and inferred(ask.write)):
            return remember(text, ask, archive)
        return (correct if ask.write.op == "replace" else forget)(text, archive, ask)

    def _edit(self, ask: Ask, change: Change) -> None:
        try:
            self._writer.edit(ask.path, change, self._tries)
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

        path = self._paths.suggestions
        try:
            self._writer.edit(path, warned, self._tries)
        except UnreadableNote:
            self._writer.append(path, f"\n{note}\n")
        return BrokenMemory(f"Not written: {told}", hint=MEND)
