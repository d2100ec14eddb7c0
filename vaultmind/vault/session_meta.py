"""The front matter of a session: what it is, how it stands, what it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vaultmind.vault.nesting import yaml_string
from vaultmind.vault.properties import front_matter

BOM = "\ufeff"
EXTRACTION = "extraction"
"""What is pending where a session has ended and its facts were not taken from it yet."""

PIPE = "pipe:"
"""Begins the name of a conversation that no host names: it is that of a client's connection."""

_TEXTS = (
    *("id", "agent", "started", "ended", "summarised_in", "conversation", "device", "pending"),
    *("consolidated", "client", "project"),
)


@dataclass(frozen=True, slots=True)
class SessionMeta:
    """The front matter of a session. Times are ISO 8601 with an offset."""

    id: str
    agent: str
    started: str = ""
    ended: str = ""
    state: Literal["open", "ended"] = "open"
    segments: int = 1
    topics: tuple[str, ...] = ()
    summarised_in: str = ""
    source: str = ""
    """The session's name in the file it was imported from; empty for one of our own."""
    conversation: str = ""
    """The host's own name of the talk, e.g. `claude-code:<uuid>`, or that of the client's pipe,
    `pipe:<name>`; empty where it has none."""
    device: str = ""
    """The device that made the file, and alone consolidates it by itself."""
    pending: str = ""
    """`extraction`: it has ended, and what it leaves in memory is still to be taken from it."""
    consolidated: str = ""
    """When that was done; empty before."""
    client: str = ""
    """What the client calls itself with which it was held, e.g. `claude-code`; empty if unknown."""
    project: str = ""
    """The name of the folder that it was held in; empty where nobody said."""
    title: str = ""
    """What it was about, in a few words: its first alias, as Obsidian shows it."""


def is_hosts(conversation: str) -> bool:
    """Tell whether a host names a conversation: then it tells when that ends, and gives ids."""
    return bool(conversation) and not conversation.startswith(PIPE)


def runs(meta: SessionMeta) -> bool:
    """Tell whether it is a session of our own that has not ended.

    One that does not say which it is, and whose, may be of any conversation: nothing is added.
    """
    named = bool(meta.id and meta.agent)
    return named and meta.state == "open" and not meta.ended and not meta.source


def render_header(meta: SessionMeta, newline: str = "\n") -> str:
    """Return the front matter of a session and the blank line after it."""
    names = ("conversation", "client", "project", "source", "device")
    extra = {name: getattr(meta, name) for name in names}
    rows = {
        **{name: getattr(meta, name) for name in ("id", "agent", "started", "ended", "state")},
        "segments": meta.segments,
        "topics": f"[{', '.join(map(yaml_string, meta.topics))}]",
        "summarised_in": yaml_string(meta.summarised_in) if meta.summarised_in else "",
        **{name: yaml_string(value) for name, value in extra.items() if value},
    }
    lines = (f"{name}: {value}".rstrip() for name, value in rows.items())
    return newline.join(["---", *lines, "---", "", ""])


def parse_meta(text: str) -> SessionMeta:
    """Return a session file's front matter alone; never raises."""
    return read_meta(text, [])[1]


def read_meta(text: str, faults: list[str]) -> tuple[int, SessionMeta]:
    """Return where the body starts, and the front matter as far as it can be read.

    What is wrong with it is added to `faults`, in words.
    """
    skipped = len(BOM) if text.startswith(BOM) else 0
    found = front_matter(text[skipped:])
    if found is None:
        faults.append("line 1: no front matter")
        return skipped, SessionMeta("", "")
    if found.fault:
        faults.append(found.fault)
    return skipped + found.body_start, _meta(found.properties)


def _meta(values: dict[str, object]) -> SessionMeta:
    def text(value: object) -> str:
        return str(value).strip() if isinstance(value, (str, int, float)) else ""

    topics, aliases, source = (values.get(name) for name in ("topics", "aliases", "source"))
    segments = text(values.get("segments"))
    return SessionMeta(
        **{name: text(values.get(name)) for name in _TEXTS},
        state="ended" if values.get("state") == "ended" else "open",
        segments=int(segments) if segments.isdecimal() else 1,
        topics=tuple(map(str, topics)) if isinstance(topics, list) else (),
        source=source if isinstance(source, str) else text(source),
        title=str(aliases[0]) if isinstance(aliases, list) and aliases else text(aliases),
    )
