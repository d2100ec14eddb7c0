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
    lines = [
        "---",
        f"id: {meta.id}",
        f"agent: {meta.agent}",
        f"started: {meta.started}",
        f"ended: {meta.ended}".rstrip(),
        f"state: {meta.state}",
        f"segments: {meta.segments}",
        f"topics: [{', '.join(yaml_string(topic) for topic in meta.topics)}]",
        f"summarised_in: {yaml_string(meta.summarised_in) if meta.summarised_in else ''}".rstrip(),
    ]
    if meta.conversation:
        lines.append(f"conversation: {yaml_string(meta.conversation)}")
    if meta.client:
        lines.append(f"client: {yaml_string(meta.client)}")
    if meta.project:
        lines.append(f"project: {yaml_string(meta.project)}")
    if meta.source:
        lines.append(f"source: {yaml_string(meta.source)}")
    if meta.device:
        lines.append(f"device: {yaml_string(meta.device)}")
    return newline.join([*lines, "---", "", ""])


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
    def text(key: str) -> str:
        value = values.get(key)
        return str(value).strip() if isinstance(value, (str, int, float)) else ""

    topics, aliases = values.get("topics"), values.get("aliases")
    source = values.get("source")
    return SessionMeta(
        id=text("id"),
        agent=text("agent"),
        started=text("started"),
        ended=text("ended"),
        state="ended" if text("state") == "ended" else "open",
        segments=int(text("segments")) if text("segments").isdecimal() else 1,
        topics=tuple(str(topic) for topic in topics) if isinstance(topics, list) else (),
        summarised_in=text("summarised_in"),
        source=source if isinstance(source, str) else text("source"),
        conversation=text("conversation"),
        device=text("device"),
        pending=text("pending"),
        consolidated=text("consolidated"),
        client=text("client"),
        project=text("project"),
        title=str(aliases[0]) if isinstance(aliases, list) and aliases else text("aliases"),
    )
