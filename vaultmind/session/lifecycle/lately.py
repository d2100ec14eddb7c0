"""The conversations before the last one, in a line or two each, as an active context tells of them.

Each stands under a heading of its own: when, with which client, in which project. Its lines are
bullets of the active context that it once had, as they stood there, block ids and a person's
edits and all. So whatever forgets, erases or hides a sentence reaches it here as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache

from vaultmind.memory.words import fold
from vaultmind.redact import mask
from vaultmind.session.records.reading import plain_text
from vaultmind.session.records.store import iso, time_or_none
from vaultmind.session.sentences import LANGUAGES, headings, sentences, shortened, telling_parts
from vaultmind.session.summary_file import check
from vaultmind.tokens import count
from vaultmind.vault.bullets import HEADING, MARKER, Bullet, bullets, plain
from vaultmind.vault.edits import delete_lines
from vaultmind.vault.nesting import comment
from vaultmind.vault.oneline import escape

MOST = 4
"""Conversations that are told of before the last one, ..."""
LINES = 2
"""... in so many lines each, ..."""
LATELY = timedelta(days=7)
"""... as long as they are not older than this beside it."""
TOKENS = 110
"""Room that is theirs in any case; more where the last conversation leaves some."""
LINE_TOKENS = 32
NAME_SHOWN = 40
"""Characters of a client's or a project's name."""
CLIENTS = {"claude-code": "Claude Code", "claude-ai": "Claude Desktop"}
"""What people call the clients that call themselves otherwise."""
NAMELESS = frozenset({"mcp", "cli", "http"})
"""Ways to us that say nothing of who took them."""
SECTIONS = ("decision", "next", "question", "about", "fact")
"""The sections of an active context, by what of them is told first."""

_ENTRY = re.compile(r"^###[ \t]+([^\n]*?%%(\{[^\n]*\})%%)[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,3}[ \t]", re.MULTILINE)
_LEAD = re.compile(r"\n*((?!#)[^\n]*?%%(\{[^\n]*\"session\"[^\n]*\})%%)[ \t]*(?:\n|\Z)")
_BARE = re.compile(r"[ \t]*+(?:[-*+]|\d{1,9}[.)])?[ \t]*+(?:\[.\])?[ \t]*+")
"""What is left of a bullet that says nothing any more."""
_LABELS = re.compile(r"[-*+] \w+(, \w+){0,2}( · \w+(, \w+){0,2})*")
"""The bullet of topics as `summary.closing` writes it: up to three words each."""
_KNOWN = re.compile(r"%%(\{.*?\})%%")
_RECAP = re.compile(r"-r\d+")


@dataclass(frozen=True, slots=True)
class Where:
    """With what a conversation was held, as people call it; empty where nobody said."""

    client: str = ""
    project: str = ""

    @property
    def words(self) -> str:
        """Return both in words."""
        named = CLIENTS.get(self.client.casefold(), self.client)
        named = "" if self.client.casefold() in NAMELESS else named
        return ", ".join(filter(None, map(_name, (named, self.project))))


NOWHERE = Where()


@dataclass(frozen=True, slots=True)
class Lead:
    """The line above what is told of a conversation: when it was held, and with what."""

    text: str = ""
    """As it stands; empty where there is none."""
    project: str = ""


@dataclass(frozen=True, slots=True)
class Recent:
    """A conversation before the last one."""

    session: str
    said: datetime
    """When something was said in it last."""
    lead: Lead
    lines: tuple[str, ...]
    """The bullets, what matters most first."""

    @property
    def text(self) -> str:
        """Return it as it stands in the file."""
        return "\n".join([f"### {self.lead.text}", *self.lines])


def lead_of(session: str, said: datetime, where: Where) -> Lead:
    """Return the line of a conversation."""
    shown = ", ".join(filter(None, (said.strftime("%Y-%m-%d %H:%M"), where.words)))
    known: dict[str, object] = {"session": session, "said": iso(said)}
    known |= {"project": where.project} if where.project else {}
    return Lead(f"{escape(shown)} {comment(known)}", where.project)


def split_lead(own: str) -> tuple[Lead, str]:
    """Return the first line of what is told of the last conversation, and the rest."""
    found = _LEAD.match(own)
    if found is None:
        return Lead(), own
    return Lead(found[1], _project(_json(found[2]))), own[found.end() :]


def divided(body: str) -> tuple[str, tuple[Recent, ...]]:
    """Return an active context's text on the last conversation, and what it tells of others."""
    own, below = parted(body)
    found = list(_ENTRY.finditer(below))
    ends = [*(one.start() for one in found[1:]), len(below)]
    entries = (_entry(one, below[one.end() : end]) for one, end in zip(found, ends, strict=False))
    return own, tuple(one for one in entries if one)


def parted(body: str) -> tuple[str, str]:
    """Return an active context's text on the last conversation, and all that follows it."""
    found = (_title().search(body), _ENTRY.search(body))
    first = min((one.start() for one in found if one), default=len(body))
    return body[:first], body[first:]


def without_entry(below: str, session: str) -> str:
    """Return what follows the last conversation without what it says of a session."""
    found = list(_ENTRY.finditer(below))
    ends = [*(one.start() for one in found[1:]), len(below)]
    for one, end in reversed(list(zip(found, ends, strict=False))):
        if _json(one[2]).get("session") == session:
            below = below[: one.start()] + below[end:]
    return below


def condensed(body: str, session: str, said: datetime, lead: Lead) -> Recent | None:
    """Return what is told of a conversation of which this was the text, once another followed."""
    lines = tuple(_best(body) or _of_prose(body))
    lead = lead if lead.text else lead_of(session, said, NOWHERE)
    return Recent(session, said, lead, lines) if lines else None


def thinned(own: str, max_tokens: int) -> str:
    """Return what is told of the last conversation without as many of our lines as is needed.

    The lightest go first; what a person, a model or the agent itself put there stays.
    """
    lines = [(one, _known(one)) for one in bullets(own)]
    light = [one for one, known in lines if _is_ours(one, known)]
    light.sort(key=lambda one: _weight(_known(one)), reverse=True)
    gone: list[Bullet] = []
    text = own
    while light and count(plain_text(text)) > max_tokens:
        gone.append(light.pop())
        text = own
        for one in sorted(gone, key=lambda each: -each.start):
            text = delete_lines(text, one.start, one.end)
    return text


def chosen(
    entries: Iterable[Recent], said: datetime, project: str, keeps: Callable[[str], bool]
) -> list[Recent]:
    """Return the conversations that are told of beside one that was held last, newest first.

    Of a project's many the newest alone stands before those of others: a day of work does not
    push out what was talked about beside it. `keeps` tells whether a session is still there.
    """
    newest = sorted(entries, key=lambda one: one.said, reverse=True)
    newest = [one for one in newest if one.said <= said and said - one.said <= LATELY]
    seen = {project} - {""}
    first: list[Recent] = []
    rest: list[Recent] = []
    for one in newest:
        (rest if one.lead.project in seen else first).append(one)
        seen |= {one.lead.project} - {""}
    there = [one for one in (*first, *rest) if keeps(one.session)]
    return sorted(there[:MOST], key=lambda one: one.said, reverse=True)


def section(
    entries: Sequence[Recent], room: int, language: str, title: str = "before"
) -> tuple[str, list[Recent]]:
    """Return the section on other conversations than the last one, and those that it tells of.

    A line of each first, the newest first, then second ones, as far as there is room.
    """
    entries = _once(entries)
    title = f"## {headings(language)[title]}"
    shown: list[Recent] = []
    for turn in range(1, LINES + 1):
        for one in entries:
            more = replace(one, lines=one.lines[:turn])
            others = [other for other in shown if other.session != one.session]
            known = len(others) < len(shown)
            if len(one.lines) < turn or (turn > 1 and not known):
                continue
            tried = sorted([*others, more], key=lambda each: each.said, reverse=True)
            if count(plain_text(_section(title, tried))) <= room:
                shown = tried
    return (_section(title, shown) if shown else ""), shown


def without_labels(text: str) -> str:
    """Return an active context without the words of its labels that nothing else in it says.

    They were taken from messages some of which are hidden by now.
    """
    lines = text.splitlines(keepends=True)
    said = "".join(line for line in lines if not _LABELS.fullmatch(line.strip())).casefold()
    kept: list[str] = []
    for line in lines:
        if not _LABELS.fullmatch(line.strip()):
            kept.append(line)
            continue
        topics = (
            ", ".join(word for word in topic.split(", ") if word.casefold() in said)
            for topic in line.strip()[2:].split(" · ")
        )
        if left := " · ".join(filter(None, topics)):
            kept.append(line.replace(line.strip(), f"- {left}"))
    return "".join(kept)


def _once(entries: Iterable[Recent]) -> list[Recent]:
    """Return the conversations, what several of them said told of the newest alone."""
    said: set[str] = set()
    found: list[Recent] = []
    for one in entries:
        words = {line: fold(plain(MARKER.sub("", line, count=1))[0]) for line in one.lines}
        lines = tuple(line for line in one.lines if words[line] not in said)
        said.update(words.values())
        found += [replace(one, lines=lines)] if lines else []
    return found


def _section(title: str, entries: Iterable[Recent]) -> str:
    return "\n\n".join([title, *(one.text for one in entries)])


def _entry(match: re.Match[str], text: str) -> Recent | None:
    known = _json(match[2])
    said = time_or_none(str(known.get("said", "")))
    after = _HEADING.search(text)
    text = text[: after.start()] if after else text
    lines = [line.rstrip() for line in text.splitlines() if not _BARE.fullmatch(plain(line)[0])]
    session = known.get("session")
    if said is None or said.tzinfo is None or not lines or not isinstance(session, str):
        return None
    return Recent(session, said, Lead(match[1], _project(known)), tuple(_items(lines)))


def _items(lines: Iterable[str]) -> list[str]:
    """Return lines as bullets, what continues one joined to it."""
    items: list[str] = []
    for line in lines:
        if items and not MARKER.match(line):
            items[-1] = f"{items[-1]}\n{line}"
        else:
            items.append(line)
    return items


@cache
def _title() -> re.Pattern[str]:
    """Return what finds the heading above what is told of earlier conversations."""
    titles = (re.escape(headings(code)["before"]) for code in LANGUAGES)
    return re.compile(rf"^##[ \t]+(?:{'|'.join(titles)})[ \t]*$", re.MULTILINE | re.IGNORECASE)


def _best(body: str) -> list[str]:
    """Return the bullets that tell most of a conversation.

    What a person, a model or the agent itself put there goes first, then a decision (else what it
    was about), what is next, what is open; the user's words before the assistant's. The labels
    stay behind.
    """
    groups: dict[str, list[tuple[bool, float, str]]] = {"": [], **{name: [] for name in SECTIONS}}
    sections = _sections()
    for one in bullets(body):
        if not one.block and _LABELS.fullmatch(one.raw.strip()):
            continue
        known = _known(one)
        name = sections.get(one.heading.casefold(), "about") if _is_ours(one, known) else ""
        weight = _weight(known) if name else 0.0
        groups[name].append((known.get("by") != "assistant", weight, _raw(one, known)))
    ordered = {
        name: [raw for *_, raw in sorted(group, key=lambda one: one[:2], reverse=True)]
        for name, group in groups.items()
    }
    leading = "decision" if ordered["decision"] else "about"
    first, *more = ordered[leading] or [""]
    turns = [first, *ordered["next"][:1], *ordered["question"][:1], *more]
    rest = [raw for name in SECTIONS for raw in ordered[name]]
    return list(dict.fromkeys(filter(None, (*ordered[""], *turns, *rest))))[:LINES]


def _is_ours(bullet: Bullet, known: dict[str, object]) -> bool:
    """Tell whether a bullet says what we chose when the conversation ended."""
    return known.get("c") == check(bullet.text) and not _RECAP.search(bullet.block)


def _weight(known: dict[str, object]) -> float:
    weight = known.get("w")
    return float(weight) if isinstance(weight, (int, float)) else 0.0


def _project(known: dict[str, object]) -> str:
    project = known.get("project")
    return project if isinstance(project, str) else ""


def _raw(bullet: Bullet, known: dict[str, object]) -> str:
    """Return a bullet as it stands; one that is not ours is cut where it is long."""
    if known or bullet.block or count(bullet.text) <= 2 * LINE_TOKENS:
        return bullet.raw.strip()
    return f"- {escape(shortened(bullet.text, LINE_TOKENS, telling_parts))}"


def _of_prose(body: str) -> list[str]:
    """Return the first sentences of a text without bullets, as bullets."""
    told = [line for line in plain_text(body).splitlines() if not HEADING.match(line)]
    said = sentences("\n".join(told))[:LINES]
    return [f"- {escape(shortened(one, LINE_TOKENS, telling_parts))}" for one in said]


def _sections() -> dict[str, str]:
    """Return the sections' names by their headings in any language."""
    return {headings(code)[name].casefold(): name for code in LANGUAGES for name in SECTIONS}


def _known(bullet: Bullet) -> dict[str, object]:
    found = _KNOWN.search(bullet.raw)
    known = _json(found[1]) if found else {}
    return known if "c" in known else {}


def _json(text: str) -> dict[str, object]:
    try:
        known = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}


def _name(given: str) -> str:
    """Return a name that a client gave as a few plain words."""
    return " ".join(mask(given).text.replace("%", "").split())[:NAME_SHOWN].strip(" ,")
