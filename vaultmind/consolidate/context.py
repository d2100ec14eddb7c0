"""The active context: put better by what a conversation was about, as an agent or a model says it.

It was written when the session ended. Words that are held against the talk take the place of the
sentences chosen then; the other sections stay as far as there is room. What a person has changed
in it meanwhile stays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vaultmind.consolidate.state import State
from vaultmind.consolidate.types import Settled, Understood
from vaultmind.errors import NotFound, PathRefused, UnreadableNote
from vaultmind.memory.match import mentions
from vaultmind.memory.sections import heading
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.session.active import (
    BODY_TOKENS,
    ActiveContextFile,
    body_of,
    has_recap,
    link,
    speaks_of,
)
from vaultmind.session.files import plain_text, session_of
from vaultmind.session.sentences import LANGUAGES, headings, sentences
from vaultmind.session.summary import section_text
from vaultmind.tokens import count
from vaultmind.types import Caller
from vaultmind.vault.bullets import HEADING
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.oneline import escape
from vaultmind.vault.properties import front_matter

if TYPE_CHECKING:
    from vaultmind.memory.gate import Gate

KEPT = "The active context was changed since, and was left as it is."


class ActiveContext:
    """Puts active contexts better. One run at a time."""

    def __init__(
        self, gate: Gate, reader: VaultReader, written: ActiveContextFile, clock: Clock
    ) -> None:
        self._gate = gate
        self._reader = reader
        self._written = written
        self._clock = clock

    def note(self, agent: str, path: str, state: State) -> None:
        """Keep in mind how an agent's active context was just written for a session."""
        text = self._text(agent)
        if speaks_of(text) == link(path):
            state.tell(agent, digest(text))

    def better(
        self,
        agent: str,
        path: str,
        understood: Understood,
        settled: Sequence[Settled],
        state: State,
    ) -> str:
        """Write an agent's active context anew if it speaks of a session; return a note, or "".

        `settled`: what became of the facts that were understood.
        """
        text = self._text(agent)
        summary = understood.summary if understood.by != "extractive" else ""
        projects = [
            one.fact
            for one in settled
            if one.section == "current" and one.outcome in ("written", "unchanged")
            if not mentions(text, one.fact)
        ]
        if speaks_of(text) != link(path) or not (projects or summary):
            return ""
        if has_recap(text, session_of(path)):
            return ""  # the agent's own words, held against the talk: they stay
        known = state.told(agent)
        front = front_matter(text)
        size = front.properties.get("tokens") if front else None
        if digest(text) != known if known else size != count(plain_text(text)):
            return KEPT
        left = self._written.read(agent, path, self._clock())
        language = left.language
        more = {heading("current", language): [escape(one) for one in projects]}
        about = [escape(one) for one in sentences(summary)]

        body = mask(with_about(left.body, about, language, BODY_TOKENS, more)).text
        leaves = replace(left, body=body, slight=False)
        write, before = self._written.change(leaves, self._clock()), digest(text)

        def change(file: FileText | None) -> str | None:
            if file is None or digest(file.text) != before:
                return None  # another session ended, or a person writes in it
            return write(file)

        active = self._reader.paths.active_context(agent)
        reason = "what a session leaves, summed up"
        if self._gate.save(active, change, Caller("agent", agent), reason) is None:
            return KEPT
        self.note(agent, path, state)
        return ""

    def _text(self, agent: str) -> str:
        try:
            return self._reader.read(self._reader.paths.active_context(agent)).text
        except (NotFound, PathRefused, UnreadableNote):
            return ""


def digest(text: str) -> str:
    """Return what changes when somebody changes what an active context says of its session."""
    words = plain_text(body_of(text))
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]


def with_about(
    text: str,
    about: Sequence[str],
    language: str,
    max_tokens: int,
    more: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Return the body of an active context with other bullets on what the talk was about.

    `text` is what the conversation leaves without them: its other sections stay, behind those of
    `more`, as far as there is room. At least one bullet is kept.
    """
    kept = list(about)
    title = headings(language)["about"]
    sections = _sections(text)
    if not kept:
        kept = next((items for name, items in sections if name == title), [])
    body = section_text(title, kept)
    while len(kept) > 1 and count(plain_text(body)) > max_tokens:
        kept.pop()
        body = section_text(title, kept)
    titles = {headings(code)["about"].casefold() for code in LANGUAGES}
    others = [one for one in sections if one[0].casefold() not in titles]
    for name, items in (*(more or {}).items(), *others):
        fitting: list[str] = []
        for item in items:
            whole = f"{body}\n\n{section_text(name, [*fitting, item])}"
            if count(plain_text(whole)) <= max_tokens:
                fitting.append(item)
        if fitting:
            section = section_text(name, fitting)
            body = f"{body}\n\n{section}" if kept else section
    return body


def _sections(text: str) -> list[tuple[str, list[str]]]:
    """Return the headings of an active context, each with its bullets."""
    sections: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if match := HEADING.match(line):
            sections.append((match[1], []))
        elif line.startswith("- ") and sections:
            sections[-1][1].append(line[2:])
    return sections
