"""active_context.md: what the last session left, and in a line or two what those before it did.

It is written anew by whoever knows later. A session that was over earlier than the one of which
it speaks finds its place among those before.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from vaultmind.errors import BadArgument, VaultMindError
from vaultmind.redact import blank_private, without_private
from vaultmind.session.lifecycle.lately import (
    NOWHERE,
    TOKENS,
    Lead,
    Recent,
    Where,
    chosen,
    condensed,
    divided,
    lead_of,
    parted,
    section,
    split_lead,
    thinned,
    without_entry,
    without_labels,
)
from vaultmind.session.lifecycle.recallable import session_of
from vaultmind.session.records.reading import Hides, plain_text
from vaultmind.session.records.store import iso, parse_time
from vaultmind.tokens import count
from vaultmind.vault.edits import newline_of, remove_property, set_property, with_newlines
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.parts import without_hidden
from vaultmind.vault.paths import SESSION_ID
from vaultmind.vault.properties import front_matter

MAX_TOKENS = 300
"""Size of an active context."""
TRIES = 3
"""How often a text is fitted: pieces count a little more together than each alone."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Leaves:
    """What a session leaves for the next one."""

    agent: str
    path: str
    said: datetime
    """When something was said in it last."""
    within: Callable[[int], str]
    """Returns it as Markdown of at most so many tokens."""
    where: Where = NOWHERE
    language: str = "en"
    slight: bool = False
    """Whether it says nothing for which what is there should make way."""

    @property
    def session(self) -> str:
        """Return the session's id."""
        return session_of(self.path)


@dataclass(frozen=True, slots=True)
class _Page:
    """An active context as it stands."""

    head: str
    """Its front matter."""
    session: str
    """The last conversation's; empty where it names none, ..."""
    said: datetime | None
    """... and when it was over."""
    lead: Lead
    own: str
    """What it says of that one, below its first line."""
    seen: str
    """The same without what was forgotten, and what a person marked as private."""
    entries: tuple[Recent, ...]


class Telling:
    """Makes the changes by which an active context comes to tell of a session. Any thread."""

    def __init__(self, reader: VaultReader, hides: Hides) -> None:
        """What `hides` knows for forgotten is told of no earlier session."""
        self._reader = reader
        self._hides = hides

    def change(self, leaves: Leaves, now: datetime) -> Change:
        """Return the change that tells of a session, under a person's own properties.

        In full, unless a later session has left something: then in a line or two, and nothing is
        written where there is no room for it. A date later than now is of a clock that was
        wrong. A slight session takes the place of none that says anything.
        """

        def change(file: FileText | None) -> str | None:
            before = file.text if file else ""
            page = self._page(leaves.agent, before)
            if leaves.slight and _tokens(page.lead.text, page.own):
                return None
            later = page.said is not None and leaves.said < page.said <= now
            if later and page.session != leaves.session:
                text = self._added(leaves, page)
            else:
                text = self._replaced(leaves, page)
            return None if text is None else with_newlines(text, newline_of(before))

        return change

    def _page(self, agent: str, text: str) -> _Page:
        found = front_matter(text)
        values = found.properties if found else {}
        head = text[: found.body_start] if found else ""
        body = text[len(head) :].replace("\r\n", "\n")
        named = SESSION_ID.findall(str(values.get("session") or ""))
        record = self._reader.paths.active_context(agent).removesuffix(".md")
        seen = without_hidden(body, lambda block: self._hides(agent, record, block))
        seen = without_private(seen)  # a line that is carried on leaves its passage
        seen = without_labels(seen) if seen != body else body
        first, own = split_lead(divided(body)[0])
        rest, entries = divided(seen)
        return _Page(
            head=head,
            session=named[-1] if named else "",
            said=_date(values.get("date")),
            lead=first,
            own=own,
            seen=split_lead(rest)[1],
            entries=entries,
        )

    def _replaced(self, leaves: Leaves, page: _Page) -> str:
        """Return the text that tells of a session in full, and of the one there as of an earlier.

        Its own text gives way to the others' lines as far as these are sure of their room.
        """
        entries = [one for one in page.entries if one.session != leaves.session]
        if page.session and page.said and page.session != leaves.session:
            was = condensed(page.seen, page.session, page.said, page.lead)
            entries += [was] if was else []
        picked = self._picked(leaves.agent, entries, leaves.said, leaves.where.project)
        first = lead_of(leaves.session, leaves.said, leaves.where).text
        room = MAX_TOKENS - _tokens(first)
        own, below, shown = leaves.within(room), "", list[Recent]()
        if picked:
            left = max(TOKENS, room - _tokens(own))
            below, shown = section(picked, left, leaves.language)
        for _ in range(TRIES):
            excess = _tokens(first, own, below) - MAX_TOKENS
            if excess <= 0 or not shown:
                break
            room = _tokens(own) - excess
            own = leaves.within(max(room, 1))
        if _tokens(first, own, below) > MAX_TOKENS:
            below, shown = "", []
        head = _set(page.head, "session", link(leaves.path))
        head = _set(head, "date", iso(leaves.said))
        return self._text(leaves.agent, head, (first, own, below), shown)

    def _added(self, leaves: Leaves, page: _Page) -> str | None:
        """Return the text with a line or two on a session that was over before the last one.

        None where there is no room for it.
        """
        first = lead_of(leaves.session, leaves.said, leaves.where)
        mine = condensed(leaves.within(MAX_TOKENS), leaves.session, leaves.said, first)
        if mine is None or page.said is None:
            return None
        entries = [*(one for one in page.entries if one.session != mine.session), mine]
        picked = self._picked(leaves.agent, entries, page.said, page.lead.project)
        room = MAX_TOKENS - _tokens(page.lead.text, page.own)
        below, shown = section(picked, max(TOKENS, room), leaves.language)
        if mine.session not in [one.session for one in shown]:
            return None
        own = thinned(page.own, MAX_TOKENS - _tokens(page.lead.text, below))
        if _tokens(page.lead.text, own, below) > MAX_TOKENS:
            return None
        return self._text(leaves.agent, page.head, (page.lead.text, own, below), shown)

    def _picked(
        self, agent: str, entries: Sequence[Recent], said: datetime, project: str
    ) -> list[Recent]:
        return chosen(entries, said, project, lambda session: self._is_there(agent, session))

    def _is_there(self, agent: str, session: str) -> bool:
        try:
            return self._reader.exists(self._reader.paths.session(agent, session))
        except VaultMindError:
            return False

    def _text(
        self, agent: str, head: str, pieces: tuple[str, str, str], shown: Sequence[Recent]
    ) -> str:
        paths = self._reader.paths
        links = [link(paths.session(agent, one.session)) for one in shown]
        head = _set(head, "earlier", links) if links else remove_property(head, "earlier")
        body = _joined(*pieces)
        head = _set(head, "tokens", count(plain_text(body)))
        return f"{head}\n{body}\n"


def recap_block(session: str, number: int) -> str:
    """Return the block id of a sentence of an agent's own recap of a session."""
    return f"{session.replace('_', '-')}-r{number}"


def has_recap(text: str, session: str) -> bool:
    """Tell whether an active context holds an agent's own recap of a session."""
    ours = re.escape(recap_block(session, 0)[:-1])
    return re.search(rf"(?m) \^{ours}\d+\r?$", text) is not None


def link(path: str) -> str:
    """Return how an active context names the session that it speaks of."""
    return f"[[{path.removesuffix('.md')}]]"


def speaks_of(text: str) -> str:
    """Return the link to the session that an active context speaks of; empty where it says none."""
    found = front_matter(text)
    value = found.properties.get("session") if found else None
    return value if isinstance(value, str) else ""


def own_text(text: str) -> str:
    """Return what an active context's file says of the session that it speaks of."""
    return parted(_body(text))[0]


def told_beside(text: str, session: str, running: str) -> str:
    """Return an active context's body as one conversation is told it.

    Without what it says of that `session` itself; `running` is a section on what goes on now.
    """
    own, below = parted(blank_private(_body(text)))  # whole: a part of it may lack its tag
    found = front_matter(text)
    named = SESSION_ID.findall(str(found.properties.get("session") or "")) if found else []
    own = "" if session and session in named else own
    return _joined(own, running, without_entry(below, session) if session else below)


def _body(text: str) -> str:
    found = front_matter(text)
    return text[found.body_start if found else 0 :].replace("\r\n", "\n")


def _joined(*pieces: str) -> str:
    return "\n\n".join(filter(None, (one.strip("\n") for one in pieces)))


def _tokens(*pieces: str) -> int:
    return count(plain_text(_joined(*pieces)))


def _set(head: str, key: str, value: str | int | list[str]) -> str:
    try:
        return set_property(head, key, value)
    except BadArgument:
        log.warning("the properties of the active context are broken, and were left alone")
        return head


def _date(value: object) -> datetime | None:
    try:
        return parse_time(str(value)) if value else None
    except ValueError:
        return None
