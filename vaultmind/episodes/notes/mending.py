"""Changes of an episode's note that leave every other line as it is. Pure: text in, text out."""

from __future__ import annotations

import re

from vaultmind.episodes.notes.lines import MAX_LINE, VERBS, event_of, number_of, placed_events
from vaultmind.episodes.notes.note import EVENTS

_BEGUN = re.compile(r"- \d{2}:\d{2}:(?:\d|\d{2}(?: (?P<said>.*))?)")
"""The first letters of a line of ours: it has seconds, which nobody writes by hand."""
_BEHIND_VERB = re.compile(r"(?: (?:\[(?:\[.*)?|[`›%].*|a|as|as (?:`.*)?)?|:(?: .*)?)?")
_WHOLE = re.compile(r".*%%\{.*\}%%[ \t]+\^e\d+[ \t]*")
_COMMENTED = re.compile(r"(?P<said>.*%%\{.*\}%%)[ \t]*(?:\^[a-z0-9-]*)?")


def mended(text: str) -> str:
    """Return a note without the half of a line that a crash left at its end.

    A line whose comment is whole keeps what it says, and gets its id again. What does not read as
    one of ours begins stays; of a person's line that does, `tears` knows.
    """
    start = text.rfind("\n") + 1
    last = text[start:].rstrip("\r")
    if len(last) > MAX_LINE:
        return text
    if _WHOLE.fullmatch(last):
        return _renamed(text, start, last) if _is_twice(text, start, last) else text
    commented = _COMMENTED.fullmatch(last)
    if commented is not None and event_of(commented["said"]) is not None:
        return _renamed(text, start, last)
    return text[:start] if _is_torn(last) else text


def with_event(text: str, line: str) -> str:
    """Return a note with an event's line after its last one."""
    newline = "\r\n" if "\r\n" in text else "\n"
    placed = placed_events(text)
    if placed:
        at = placed[-1].end
    else:
        heading = re.search(rf"(?m)^{EVENTS}[ \t]*(?:\r?\n)*", text)
        at = heading.end() if heading else len(text)
    gap = "" if not at or text[at - 1] == "\n" else newline
    after = "" if placed or not text[at:].strip() else newline
    return f"{text[:at]}{gap}{line}{newline}{after}{text[at:]}"


def next_number(text: str) -> int:
    """Return the number of the next event's id: one that is gone is not used again here."""
    return 1 + max((number_of(block) for block in re.findall(r"\^(e\d+)\b", text)), default=0)


def _is_torn(last: str) -> bool:
    """Tell whether a line reads, as far as it goes, to the letter as one of ours begins."""
    begun = _BEGUN.fullmatch(last)
    said = (begun and begun["said"]) or ""
    return begun is not None and any(
        verb.startswith(said)
        or (said.startswith(verb) and _BEHIND_VERB.fullmatch(said[len(verb) :]))
        for verb in VERBS
    )


def _is_twice(text: str, start: int, last: str) -> bool:
    """Tell whether a line's id is another's: its last digits were cut off."""
    block = re.search(r"\^(e\d+)[ \t]*$", last)
    return bool(block and re.search(rf"\^{block[1]}[ \t]*\r?$", text[:start], re.MULTILINE))


def _renamed(text: str, start: int, last: str) -> str:
    said = re.sub(r"[ \t]*\^[a-z0-9-]*[ \t]*$", "", last)
    newline = "\r\n" if "\r\n" in text else "\n"
    return f"{text[:start]}{said} ^e{next_number(text[:start])}{newline}"
