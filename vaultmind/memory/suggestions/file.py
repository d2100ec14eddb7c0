"""Suggestions.md: what waits for the person's approval, as tasks to tick. Pure: text in, text out.

    - [ ] **main** wants to remember: Prefers short answers ^s-k3f9
        - nothing → the text above, for **main**, under *Preferences*
        - why: said twice
        - 2026-02-20 10:00, [[VaultMind/…/2026-02-20_001#^m7|the message]] %%{"op":"remember",…}%%

`[x]` accepts, `[-]` rejects. What counts is what stands there when it is ticked: the person may
have changed the words. A settled one moves to the end of the file, dated; a rejected one is not
made again. Every line that is not ours stays where it is, newlines and byte order mark too.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

from vaultmind.errors import DamagedMemory, NotFound
from vaultmind.memory.brain import block_ids, new_block
from vaultmind.memory.suggestions.item import (
    Listed,
    State,
    Suggestion,
    parse,
    render,
    render_failure,
    render_settled,
    says_failure,
    suggestion_of,
)
from vaultmind.memory.suggestions.words import WORDS, Failure, SettledAs, language_of, words_of
from vaultmind.vault.bullets import HEADING, MARKER, plain, prose
from vaultmind.vault.edits import newline_of, with_newlines
from vaultmind.vault.oneline import unescape
from vaultmind.vault.paths import VaultPaths

__all__ = [
    "Listed",
    "SettledAs",
    "State",
    "Suggestion",
    "add",
    "erase",
    "expire",
    "known",
    "new_id",
    "parse",
    "render",
    "settle",
    "suggestion_of",
    "tell",
    "warn",
]

EXPIRE_DAYS = 30
ID_START = "s-"

_Part = Literal["waiting", "settled"]
_FRONT_MATTER = re.compile(
    "\ufeff?" + r"(?:---[ \t]*\r?\n(?:.*?\n)??---[ \t]*(?:\r?\n|$))?", re.DOTALL
)
_EMPTY = tuple(words.empty for words in WORDS.values())
_BLANK = "\ufeff \t\r\n"


def new_id(text: str, rng: random.Random) -> str:
    """Return a fresh id for a suggestion in this text."""
    return ID_START + new_block({one.removeprefix(ID_START) for one in block_ids(text)}, rng)


def known(text: str, suggestion: Suggestion) -> Listed | None:
    """Return the one that makes this suggestion needless: it waits, or was rejected.

    What was accepted or has expired may be suggested again.
    """
    listed = (one for one in parse(text) if one.outcome in (None, "rejected"))
    return next((one for one in listed if one.means(suggestion)), None)


def add(text: str, suggestion: Suggestion, paths: VaultPaths, language: str = "en") -> str:
    """Return the text with a suggestion at the end of those that wait.

    The text itself where the same one waits or was rejected. Raises DamagedMemory where a
    person's open comment or code would hide it wherever it stands.
    """
    if known(text, suggestion):
        return text
    told = _language(text, language)
    start = _introduced(text, told)
    return _placed(start, "waiting", told, (render(suggestion, paths, told),))


def settle(text: str, suggestion_id: str, outcome: SettledAs, on: str, language: str = "en") -> str:
    """Return the text with a suggestion moved to the settled ones, dated `on` (an ISO date).

    Our lines under it go; where a person changed or added any, all move along. Raises NotFound
    for an id that does not wait, DamagedMemory as `add` does.
    """
    waits = [
        one for one in parse(text) if one.state != "settled" and one.suggestion.id == suggestion_id
    ]
    if not waits:
        raise NotFound(f"No suggestion {suggestion_id!r} waits in Suggestions.md.")
    one = next((one for one in waits if one.state == outcome), waits[0])  # a hand may double one
    return _settled(text, (one,), outcome, on, _language(text, language))


def tell(text: str, one: Listed, failure: Failure | None, language: str = "en") -> str:
    """Return the text with a line under a suggestion that says why it could not be applied.

    Without a failure, without that line. Raises DamagedMemory where it would not be read.
    """
    first, *below = text[one.start : one.end].split("\n")
    lines = [first, *(line for line in below if not says_failure(line))]
    item = "\n".join(lines).rstrip("\r")
    if failure:
        item += newline_of(text) + render_failure(one, first, failure, _language(text, language))
    new = text[: one.start] + item + text[one.end :]
    if len(parse(new)) != len(parse(text)):
        raise DamagedMemory("Suggestions.md holds an open comment or code that hides every line.")
    return new


def warn(text: str, note: str, language: str = "en") -> str:
    """Return the text with a note for the person at its end, which no longer says it is empty."""
    newline = newline_of(text)
    start = _introduced(text, _language(text, language)).rstrip("\r\n")
    return f"{start}{newline}{newline}{with_newlines(note, newline)}{newline}"


def expire(
    text: str, now: datetime, days: int = EXPIRE_DAYS, language: str = "en"
) -> tuple[str, tuple[Suggestion, ...]]:
    """Return the text with what waited longer than `days` settled as expired, and which these are.

    What is ticked is left to be applied; what lost its time stays.
    """
    gone = []
    for one in parse(text):
        time = _time(one.suggestion.time)
        if one.state == "waiting" and time and now - time > timedelta(days=days):
            gone.append(one)
    if not gone:
        return text, ()
    new = _settled(text, gone, "expired", now.date().isoformat(), _language(text, language))
    return new, tuple(one.suggestion for one in gone)


def erase(text: str, says: Callable[[str], bool]) -> str:
    """Return the text without each suggestion, settled or not, of which any line says so.

    `says` gets each line of an item as a reader sees it, and its texts. Lines that a person
    put under it go too.
    """
    for one in reversed(parse(text)):
        lines = text[one.start : one.end].split("\n")
        shown = [unescape(plain(MARKER.sub("", line, count=1))[0]) for line in lines]
        texts = (one.suggestion.text, one.suggestion.old, one.suggestion.reason)
        if any(says(line) for line in (*shown, *texts) if line):
            text = _without(text, one)
    return text


def _settled(text: str, ones: Sequence[Listed], outcome: SettledAs, on: str, language: str) -> str:
    items = []
    for one in reversed(ones):
        lines = [line.rstrip("\r") for line in text[one.start : one.end].split("\n")]
        items.append(render_settled(one, lines, outcome, on, language))
        text = _without(text, one)
    return _placed(text, "settled", language, items[::-1])


def _without(text: str, one: Listed) -> str:
    stop = text.find("\n", one.end)
    return text[: one.start] + (text[stop + 1 :] if stop >= 0 else "")


def _placed(text: str, part: _Part, language: str, items: Sequence[str]) -> str:
    """Return the text with items at the end of their part, or wherever they can be read."""
    title = f"## {words_of(language).waiting if part == 'waiting' else words_of(language).settled}"
    item = "\n".join(items)
    before = _count(text, part)
    for new in (
        _at_part(text, part, title, item),
        _insert(text, len(text), f"{title}\n\n{item}"),
        _on_top(text, f"{title}\n\n{item}"),
    ):
        wanted = tuple(here + len(items) * (n == 0) for n, here in enumerate(before))
        if _count(new, part) == wanted:
            return new
    raise DamagedMemory("Suggestions.md holds an open comment or code that hides every line.")


def _count(text: str, part: _Part) -> tuple[int, int]:
    """Return how many suggestions stand in a part, and how many in the other."""
    found = [(one.state == "settled") == (part == "settled") for one in parse(text)]
    return found.count(True), found.count(False)


def _at_part(text: str, part: _Part, title: str, item: str) -> str:
    own = {getattr(words, part) for words in WORDS.values()}
    later = {words.settled for words in WORDS.values()} if part == "waiting" else set()
    titles = _headings(text)
    at = next((i for i, (_, name) in enumerate(titles) if name in own), None)
    if at is not None:
        ends = [start for start, _ in titles[at + 1 :]]
        return _insert(text, ends[0] if ends else len(text), item)
    before = next((start for start, name in titles if name in later), len(text))
    return _insert(text, before, f"{title}\n\n{item}")


def _insert(text: str, at: int, item: str) -> str:
    """Return the text with an item after the last line before `at`, a heading's or the end."""
    newline = newline_of(text)
    last_end = len(text[:at].rstrip("\r\n \t"))
    stop = text.find("\n", last_end, at)
    head, tail = (text[:at], text[at:]) if stop < 0 else (text[: stop + 1], text[stop + 1 :])
    if head.strip(_BLANK):
        head += "" if head.endswith("\n") else newline
        last = text[text.rfind("\n", 0, last_end) + 1 : last_end]
        head += "" if MARKER.match(last) and MARKER.match(item) else newline
    gap = newline if tail and not tail.startswith(("\n", "\r\n")) else ""
    return head + with_newlines(item, newline) + newline + gap + tail


def _on_top(text: str, lines: str) -> str:
    newline = newline_of(text)
    match = _FRONT_MATTER.match(text)
    at = match.end() if match else 0
    lead = "" if not at or text[:at].endswith(("\n", "\ufeff")) else newline
    if text[at:].lstrip("\r\n").startswith((" ", "\t")):  # else it would be nested under ours
        lines += "\n\n---"
    return text[:at] + lead + with_newlines(lines, newline) + newline * 2 + text[at:]


def _introduced(text: str, language: str) -> str:
    """Return the text with its first words: what a file that holds none yet begins with."""
    words = words_of(language)
    if not text.strip(_BLANK):
        return text.rstrip(" \t\r\n") + f"# {words.title}\n\n{words.intro}\n"
    for start, end, line in prose(text):
        if line.strip() in _EMPTY:
            return text[:start] + words.intro + text[end:]
    return text


def _headings(text: str) -> list[tuple[int, str]]:
    return [
        (start, plain(match.group(1))[0])
        for start, _, line in prose(text)
        if (match := HEADING.match(line))
    ]


def _language(text: str, language: str) -> str:
    return language_of(tuple(title for _, title in _headings(text))) or language


def _time(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
