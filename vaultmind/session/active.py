"""active_context.md: what the last session left. It is written anew by whoever knows later."""

from __future__ import annotations

import logging
import re
from datetime import datetime

from vaultmind.errors import BadArgument
from vaultmind.session.reading import plain_text
from vaultmind.session.store import iso, parse_time
from vaultmind.tokens import count
from vaultmind.vault.edits import newline_of, set_property, with_newlines
from vaultmind.vault.files import Change, FileText
from vaultmind.vault.properties import front_matter

log = logging.getLogger(__name__)


def telling(body: str, path: str, said: datetime, now: datetime, *, slight: bool) -> Change:
    """Return the change that makes a body the active context, under a person's own properties.

    One that a later session left stays, unless its date is in the future: a clock was wrong. A
    slight one takes the place of none that says anything.
    """
    values: dict[str, str | int] = {
        "session": f"[[{path.removesuffix('.md')}]]",
        "date": iso(said),
        "tokens": count(plain_text(body)),
    }

    def change(file: FileText | None) -> str | None:
        before = file.text if file else ""
        found = front_matter(before)
        known = _date(found.properties.get("date") if found else None)
        if known and said < known <= now:
            return None
        head = before[: found.body_start] if found else ""
        if slight and plain_text(before[len(head) :]).strip():
            return None
        try:
            for key, value in values.items():
                head = set_property(head, key, value)
        except BadArgument:
            log.warning("the properties of the active context are broken, and were left alone")
        return with_newlines(f"{head}\n{body}\n", newline_of(before))

    return change


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


def _date(value: object) -> datetime | None:
    try:
        return parse_time(str(value)) if value else None
    except ValueError:
        return None
