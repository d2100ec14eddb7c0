"""A prompt as the task of an episode, and whether another prompt names another task."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal

from vaultmind.episodes.types import TaskMark
from vaultmind.planner.task import alike, comparable, names_nothing, understand
from vaultmind.planner.types import TaskKind
from vaultmind.redact import blank_passages, mask
from vaultmind.vault.oneline import one_line

OTHER = 0.2
"""Tasks less alike than this are not the same."""
LEAST_TERMS = 4
"""Telling words of a prompt that names a task of its own; fewer go on with what is done."""
MAX_CHARS = 4000
"""Of a prompt that are kept of it as a task."""
_GOES_ON = re.compile(
    r"\b(?:also|still|instead|again|too|undo|revert|as well|after all"
    r"|też|także|również|nadal|wciąż|zamiast|znowu|jeszcze raz|cofnij"
    r"|тоже|также|всё ещё|все еще|вместо|снова|опять|верни"
    r"|auch|immer noch|stattdessen|wieder|nochmal|aussi|encore|también|todavía)\b"
    r"|^\W*(?:no|nope|nie|нет|nein|but|ale|но|aber|yes|tak|да|ja|ok(?:ay)?)\b",
    re.IGNORECASE,
)
"""Words by which a prompt goes on with what is done. To split a task in two costs more than to
keep two together: its chain breaks."""
_COMMAND = re.compile(r"\s*/[\w:-]+\s*")


def says_nothing(prompt: str) -> bool:
    """Tell whether a prompt names no task: `go on`, a command of the host's."""
    return not prompt.strip() or bool(_COMMAND.fullmatch(prompt)) or names_nothing(prompt)


def task_words(prompt: str) -> str:
    """Return a prompt's words as episodes keep them: masked, on one line."""
    return one_line(mask(blank_passages(prompt)).text)[:MAX_CHARS]


def task_mark(prompt: str, source: str, kind: TaskKind | Literal[""] = "") -> TaskMark:
    """Return a prompt as episodes keep it: masked, on one line, with what it is about.

    What it is about is told by the whole prompt, as for a plan: their fingerprints are the same.
    """
    told = understand(prompt, source, kind)
    return TaskMark(
        text=task_words(prompt),
        kind=told.predicted,
        fingerprint=told.task_fingerprint,
        risk=told.risk,
        issues=told.entities.references,
    )


def is_another(before: Sequence[str], prompt: str, touched: Collection[str]) -> bool:
    """Tell whether a prompt names a task of its own, unlike all before it.

    One that names a file that was touched, or says little, goes on with what is done.
    """
    told = understand(prompt, "")
    named = {*told.entities.paths, *told.entities.identifiers}
    names = {path.rsplit("/", 1)[-1].casefold() for path in named}
    stems = {name.partition(".")[0] for name in names}
    known = {path.rsplit("/", 1)[-1].casefold() for path in touched}
    if names & known or stems & {name.partition(".")[0] for name in known}:
        return False
    if len(told.terms) < LEAST_TERMS or _GOES_ON.search(prompt):
        return False
    own = comparable(told)
    return all(alike(comparable(understand(one, "")), own) < OTHER for one in before)
