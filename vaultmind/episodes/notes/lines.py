"""An event as a line of an episode's note, and back: a bullet that a person reads. Pure.

    - 10:00:03 read `src/auth.py` › `refresh` %%{"time":"2026-11-22T10:00:03+01:00",…}%% ^e12

What can be read from the words is read from them, so that what a person corrects counts; the
comment holds the rest: the day, who says so, and what the words could not show as it is.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, cast

from vaultmind.episodes.types import Change, Event, EventKind, How
from vaultmind.vault.nesting import comment
from vaultmind.vault.oneline import escape, unescape

HOWS: tuple[How, ...] = ("hook", "reported", "git", "files", "person", "plan")
CHANGES: tuple[Change, ...] = ("added", "modified", "removed")
_WORDS: dict[str, tuple[EventKind, Change | None, bool | None]] = {
    "read": ("read", None, None),
    "found": ("hit", None, None),
    "added": ("edit", "added", None),
    "changed": ("edit", "modified", None),
    "removed": ("edit", "removed", None),
    "edited": ("edit", None, None),
    "saw added": ("delta", "added", None),
    "saw changed": ("delta", "modified", None),
    "saw removed": ("delta", "removed", None),
    "saw": ("delta", None, None),
    "decided": ("decision", None, None),
    "was told": ("feedback", None, None),
    "planned": ("plan", None, None),
    "committed": ("commit", None, None),
    "ran well": ("run", None, True),
    "ran and failed": ("run", None, False),
    "ran": ("run", None, None),
}
"""What a line calls each kind of event."""
VERBS = tuple(_WORDS)
_VERB = {meaning: words for words, meaning in _WORDS.items()}
_KIND_VERB = {kind: next(w for w, m in _WORDS.items() if m == (kind, None, None))
              for kind, _, _ in _WORDS.values()}  # fmt: skip
_BULLET = re.compile(
    r"[-*+] +(?P<shown>\d{1,2}:\d{2}.*?)(?:[ \t]+%%(?P<meta>\{.*\})%%)?"
    r"(?:[ \t]+\^(?P<block>[A-Za-z0-9-]+))?[ \t]*"
)
_SHOWN = re.compile(
    r"(?P<clock>\d{1,2}:\d{2}(?::\d{2})?) "
    rf"(?P<verb>{'|'.join(sorted(_WORDS, key=len, reverse=True))})"
    r"(?: (?:\[\[(?P<link>[^\[\]|]+)(?:\|[^\[\]]*)?\]\]"
    r"|(?P<ticks>`++)(?P<path>.+?)(?P=ticks)(?!`)))?"
    r"(?: › (?P<marks>`++)(?P<symbol>.+?)(?P=marks)(?!`))?"
    r"(?: as `(?P<commit>[^`]+)`)?"
    r"(?:: (?P<text>.*))?"
)
_UNLINKABLE = set("[]|#^\\%`")
_ID = re.compile(r"e(\d+)")
MAX_LINE = 32_000
"""Characters of an event's line, which has less: to look for what is one in a longer one takes the
square of its length."""


@dataclass(frozen=True, slots=True)
class PlacedEvent:
    """An event and where its line stands in the note: `start` to `end`, the newline included."""

    event: Event
    start: int
    end: int


def line_of(event: Event, *, links: bool = False) -> str:
    """Return an event's bullet, on one line without its newline.

    With `links` its file is one that Obsidian can open.
    """
    shown = _shown(event, links)
    read = event_of(f"- {shown}", event.time[:10])
    extra: dict[str, Any] = {"time": event.time, "how": event.how}
    for name in ("kind", "path", "symbol", "text", "change", "commit", "ok"):
        said = getattr(event, name)
        if read is None or getattr(read, name) != said:
            extra[name] = said
    if event.tokens:
        extra["tokens"] = event.tokens
    block = f" ^{event.block}" if event.block else ""
    return f"- {shown} {comment(extra)}{block}"


def event_of(line: str, day: str = "") -> Event | None:
    """Return what a line says was done; None for one that is no event.

    `day` is the ISO date of a line whose comment is gone. Never raises.
    """
    bullet = _BULLET.fullmatch(line.strip()) if len(line) <= MAX_LINE else None
    if bullet is None:
        return None
    meta, shown = _meta(bullet["meta"]), _SHOWN.fullmatch(bullet["shown"])
    if shown is None and meta.get("kind") not in _KIND_VERB:
        return None
    kind, change, ok = _WORDS[shown["verb"]] if shown else (meta["kind"], None, None)
    link, _, heading = ((shown and shown["link"]) or "").partition("#")
    text = {
        "path": link or _code(shown and shown["path"]),
        "symbol": heading or _code(shown and shown["symbol"]),
        "commit": (shown and shown["commit"]) or "",
        "text": unescape((shown and shown["text"]) or ""),
    }
    text |= {name: meta[name] for name in text if isinstance(meta.get(name), str)}
    clock = shown["clock"] if shown else bullet["shown"].split(" ")[0]
    how, tokens = meta.get("how"), meta.get("tokens")
    said = meta.get("change")
    return Event(
        kind=kind,
        time=_time(meta.get("time"), day, clock),
        **text,
        change=said if said in CHANGES else change or "",
        ok=meta["ok"] if isinstance(meta.get("ok"), bool) else ok,
        tokens=tokens if type(tokens) is int and tokens > 0 else 0,
        how=cast("How", how) if how in HOWS else "person",
        block=bullet["block"] or "",
    )


def placed_events(text: str, day: str = "", begin: int = 0) -> list[PlacedEvent]:
    """Return the events of a note in the order of its lines."""
    found, at = [], begin
    for line in text[begin:].splitlines(keepends=True):
        if line.lstrip()[:1] in ("-", "*", "+") and (event := event_of(line, day)) is not None:
            found.append(PlacedEvent(event, at, at + len(line)))
            day = event.time[:10] or day
        at += len(line)
    return found


def number_of(block: str) -> int:
    """Return the number of an event's id; 0 for any other id."""
    match = _ID.fullmatch(block)
    return int(match[1]) if match else 0


def _shown(event: Event, links: bool) -> str:
    clock = event.time[11:19] or "00:00"
    meaning = (event.kind, event.change or None, event.ok)
    verb = _VERB.get(meaning, _KIND_VERB[event.kind])
    shown = f"{clock} {verb}"
    symbol = event.symbol
    if event.path and links and not _UNLINKABLE & set(event.path):
        heading = f"#{symbol}" if symbol and not _UNLINKABLE & set(symbol) else ""
        shown += f" [[{event.path}{heading}]]"
        symbol = "" if heading else symbol
    elif event.path:
        shown += f" {_ticked(event.path)}"
    shown += f" › {_ticked(symbol)}" if symbol else ""
    shown += f" as `{event.commit}`" if event.commit and "`" not in event.commit else ""
    return shown + (f": {escape(event.text)}" if event.text else "")


def _ticked(text: str) -> str:
    """Return a text in as many backticks as it needs; nothing in it may end the comment."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks, pad = "`" * (longest + 1), " " if "`" in text else ""
    return f"{ticks}{pad}{text.replace('%%', '% %')}{pad}{ticks}"


def _code(shown: str | None) -> str:
    said = shown or ""
    return said[1:-1] if "`" in said and said[:1] == said[-1:] == " " else said


def _meta(raw: str | None) -> dict[str, Any]:
    try:
        found = json.loads(raw or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _time(said: object, day: str, clock: str) -> str:
    """Return when it was: the comment's time, else the day of the lines above with the clock."""
    if isinstance(said, str) and len(said) >= len("2026-11-22T10:00"):
        return said
    hours, _, rest = clock.partition(":")
    return f"{day}T{hours:0>2}:{rest if ':' in rest else rest + ':00'}" if day else ""
