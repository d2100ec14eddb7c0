"""The active context, put better once a session was consolidated.

It was written when the session ended. A model's summary takes the place of the sentences chosen
then, and what the conversation says of running projects stands in it. What a person has changed
in it meanwhile stays.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from vaultmind.consolidate.means import MemoryGate
from vaultmind.consolidate.model.understood import Understood
from vaultmind.consolidate.state import State
from vaultmind.consolidate.types import Settled
from vaultmind.errors import NotFound, PathRefused, UnreadableNote
from vaultmind.memory.match import mentions
from vaultmind.memory.sections import heading
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.session.active import (
    BODY_TOKENS,
    ActiveContextFile,
    Leaves,
    body_of,
    has_recap,
    link,
    speaks_of,
)
from vaultmind.session.files import plain_text, session_of
from vaultmind.session.sentences import headings, sentences
from vaultmind.session.summary import section_text
from vaultmind.tokens import count
from vaultmind.types import Caller
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.oneline import escape
from vaultmind.vault.properties import front_matter

KEPT = "The active context was changed since, and was left as it is."
ORDER = ("about", "project", "question", "next", "decision", "fact")
"""The sections take turns in this order while there is room, ..."""
SHOWN = ("about", "project", "decision", "fact", "question", "next")
"""... and are shown in this one."""

SUMMARY_TOKENS = 200
"""Room of a model's summary: open threads need theirs."""

_SECTION = re.compile(r"(?m)^## (.+)$")


class ActiveContext:
    """Puts active contexts better. One run at a time."""

    def __init__(
        self, gate: MemoryGate, reader: VaultReader, written: ActiveContextFile, clock: Clock
    ) -> None:
        self._gate = gate
        self._reader = reader
        self._written = written
        self._clock = clock

    def note(self, agent: str, path: str, state: State) -> None:
        """Keep in mind how an agent's active context was just written for a session."""
        file = self._file(agent)
        text = file.text if file else ""
        if speaks_of(text) == link(path):
            state.tell(agent, digest(text))

    def better(
        self,
        agent: str,
        path: str,
        found: tuple[Understood, Sequence[Settled]],
        state: State,
    ) -> str:
        """Write an agent's active context anew if it speaks of a session; return a note, or "".

        `found`: what the session came to, and what became of its facts.
        """
        understood, settled = found
        projects = _projects(settled)
        summary = understood.summary if understood.by != "extractive" else ""
        file = self._file(agent)
        text = file.text if file else ""
        if speaks_of(text) != link(path) or not (projects or summary):
            return ""
        if has_recap(text, session_of(path)):
            return ""  # the agent's own words, held against the talk: they stay
        if not is_ours(text, state.told(agent)):
            return KEPT
        left = self._written.read(agent, path, self._clock())
        body = composed(left, sentences(summary), projects)
        change = self._change(replace(left, body=body, slight=False), digest(text))
        if not body or change(file) == text:
            return ""
        caller = Caller("agent", agent)
        active = self._reader.paths.active_context(agent)
        if self._gate.save(active, change, caller, "what a session leaves, summed up") is None:
            return KEPT
        self.note(agent, path, state)
        return ""

    def _change(self, leaves: Leaves, before: str) -> Change:
        write = self._written.change(leaves, self._clock())

        def change(file: FileText | None) -> str | None:
            if (
                file is None
                or digest(file.text) != before
                or speaks_of(file.text) != link(leaves.path)
            ):
                return None  # another session ended, or a person writes in it
            return write(file)

        return change

    def _file(self, agent: str) -> FileText | None:
        try:
            return self._reader.read(self._reader.paths.active_context(agent))
        except (NotFound, PathRefused, UnreadableNote):
            return None


def digest(text: str) -> str:
    """Return what changes when somebody changes what an active context says of its session."""
    words = plain_text(body_of(text))
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]


def is_ours(text: str, known: str) -> bool:
    """Tell whether an active context says what was written: by its digest, else by its size."""
    if known:
        return digest(text) == known
    found = front_matter(text)
    return found is not None and found.properties.get("tokens") == count(plain_text(text))


def composed(
    left: Leaves, summary: Sequence[str], projects: Sequence[str], max_tokens: int = BODY_TOKENS
) -> str:
    """Return the body of an active context: what there is room for, the weightiest first."""
    sections, language = _sections(left), left.language
    if summary:
        sections["about"] = [escape(one) for one in summary]
    said = [line for lines in sections.values() for line in lines]
    unsaid = [one for one in projects if not any(mentions(line, one) for line in said)]
    sections["project"] = [escape(one) for one in unsaid]
    if not summary and not sections["project"]:
        return ""
    chosen: dict[str, list[str]] = {name: [] for name in SHOWN}
    rest = {name: list(sections.get(name, ())) for name in ORDER}
    whole = [("about", line) for line in rest.pop("about", [])] if summary else []
    for name, line in (*whole, *_turns(rest)):
        chosen[name].append(line)
        most = SUMMARY_TOKENS * max_tokens // BODY_TOKENS if (name, line) in whole else max_tokens
        if count(plain_text(_text(chosen, language))) > most:
            chosen[name].pop()
    return mask(_text(chosen, language)).text


def _turns(rest: dict[str, list[str]]) -> Iterable[tuple[str, str]]:
    longest = max(map(len, rest.values()), default=0)
    for turn in range(longest):
        for name, lines in rest.items():
            if turn < len(lines):
                yield name, lines[turn]


def _sections(left: Leaves) -> dict[str, list[str]]:
    """Return the bullets that were chosen when the session ended, by section."""
    names = {title: name for name, title in headings(left.language).items()}
    pieces = _SECTION.split(left.body)
    found: dict[str, list[str]] = {}
    for name, text in zip(("", *pieces[1::2]), pieces[::2], strict=True):
        lines = [line[2:] for line in text.split("\n") if line.startswith("- ")]
        found.setdefault(names.get(name, "about"), []).extend(lines)
    return found


def _text(sections: dict[str, list[str]], language: str) -> str:
    titles = headings(language) | {"project": heading("current", language)}
    return "\n\n".join(
        section_text(titles[name], sections[name]) for name in SHOWN if sections[name]
    )


def _projects(settled: Sequence[Settled]) -> tuple[str, ...]:
    """Return what the facts say of what is going on, as it stands in memory."""
    return tuple(
        one.fact
        for one in settled
        if one.section == "current" and one.category in ("PROJECT", "UPDATE")
        if one.outcome in ("written", "unchanged")
    )
