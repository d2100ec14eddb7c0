"""The file of a summary: front matter that names its sources, paragraphs that end in links.

A paragraph of ours ends in a block id that is made of its words, so that one which was hidden
stays hidden when it is written again, and one that a person has changed is told from ours. What
a person typed or changed is never rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vaultmind.consolidate.levels.writer import Paragraph, unmark
from vaultmind.consolidate.types import Level
from vaultmind.errors import BadArgument
from vaultmind.tokens import count
from vaultmind.vault.bullets import plain
from vaultmind.vault.edits import newline_of, remove_property, set_property, with_newlines
from vaultmind.vault.oneline import escape, unescape
from vaultmind.vault.parts import Part, content_block, parts
from vaultmind.vault.properties import front_matter

SOURCES: dict[Level, str] = {"L1": "sessions", "L2": "l1_summaries"}
"""The property that names what a summary is made of."""
PENDING = "summary"
"""The `pending` of a summary that a model is still to write."""
SHOWN = "source"
"""What a link to a source is shown as."""

_LINK = re.compile(r"\[\[([^\[\]|#]+)(?:#([^\[\]|]*))?(?:\|[^\[\]]*)?\]\]")
_OUR_LINKS = re.compile(rf"(?: \[\[[^\[\]|]+\|{SHOWN}\]\])+$")
_BLOCK_AT_END = re.compile(r"(?<![ \t])[ \t]+\^[A-Za-z0-9-]+[ \t]*$")
_ALONE = re.compile(r"\[\[([^\[\]]+)\]\]")


@dataclass(frozen=True, slots=True)
class Placed:
    """A paragraph of a summary as it stands in its file."""

    text: str
    """Its words, without links at the end and block id."""
    block: str
    links: tuple[tuple[str, str], ...]
    """(path without `.md`, block) of each source."""
    start: int
    end: int

    @property
    def is_ours(self) -> bool:
        """Tell whether it stands as we wrote it."""
        return bool(self.block) and self.block == block_of(self.text)


@dataclass(frozen=True, slots=True)
class LevelFile:
    """A summary's file as read. It may be one that a person made."""

    id: str
    """The `id` property; empty where there is none."""
    sources: tuple[str, ...]
    """Names of the files it is made of, without folder and `.md`."""
    summarised_in: str = ""
    device: str = ""
    fault: str = ""
    """What is wrong with its front matter, in words."""
    pending: bool = False
    """Whether a model is still to write it."""
    tries: int = 0
    """How often one has failed to."""


@dataclass(frozen=True, slots=True)
class Properties:
    """What the front matter of a summary says."""

    id: str
    agent: str
    level: Level
    sources: tuple[str, ...]
    """Vault-relative paths without `.md`."""
    created: str
    token_count: int
    by: str
    language: str
    device: str
    pending: bool = False
    tries: int = 0


def link_of(path: str, block: str = "") -> str:
    """Return the link to a source, or to a part of it, as a paragraph ends in it."""
    return f"[[{path}#^{block}|{SHOWN}]]" if block else f"[[{path}|{SHOWN}]]"


def block_of(text: str) -> str:
    """Return the block id of a paragraph of ours."""
    return content_block(text)


def stem_of(link: str) -> str:
    """Return the name of the file that a link or a path is to, without folder and `.md`."""
    found = _LINK.search(link)
    path = found[1] if found else link
    return path.strip().rpartition("/")[2].removesuffix(".md")


def read_level(text: str, level: Level) -> LevelFile:
    """Return what a summary's front matter says; never raises.

    Where the front matter is broken, all that it links to counts as its sources: nothing is summed
    up twice for a mistyped quote.
    """
    found = front_matter(text)
    if found is None:
        return LevelFile("", ())
    values = found.properties
    named = values.get(SOURCES[level])
    links = [str(one) for one in named] if isinstance(named, list) else [str(named or "")]
    if found.fault:
        links = [match.group() for match in _LINK.finditer(text[found.start : found.end])]
    stems = (stem_of(one) for line in links for one in _several(line))
    return LevelFile(
        _word(values.get("id")),
        tuple(dict.fromkeys(stem for stem in stems if stem)),
        _word(values.get("summarised_in")),
        _word(values.get("device")),
        found.fault,
        values.get("pending") == PENDING,
        tries if type(tries := values.get("tries")) is int and tries > 0 else 0,
    )


def paragraphs_of(text: str) -> tuple[Placed, ...]:
    """Return the paragraphs and list items of a summary's file, in order."""
    return tuple(_placed(one, text) for one in parts(text))


def rendered(properties: Properties, heading: str, lines: Sequence[str]) -> str:
    """Return a new summary's file."""
    body = "\n\n".join([f"# {heading}", *lines])
    return with_properties(f"\n{body}\n", properties)


def lines_of(paragraphs: Sequence[Paragraph], paths: dict[str, str]) -> list[str]:
    """Return paragraphs as they stand in a file; `paths` are those of the sources, by id."""
    found = []
    for one in paragraphs:
        marks = [unmark(source) for source in one.sources]
        links = dict.fromkeys(
            link_of(paths[source], block) for source, block in marks if source in paths
        )
        text = escape(one.text)
        found.append(" ".join([text, *links, f"^{block_of(unescape(text))}"]))
    return found


def rewritten(text: str, properties: Properties, lines: Sequence[str]) -> str:
    """Return a summary's file with new paragraphs of ours in the place of the old ones.

    What a person typed or changed stays, to the byte; and where that tells of a source already,
    nothing of ours stands beside it. Raises BadArgument for front matter that is broken.
    """
    theirs = [one for one in paragraphs_of(text) if not one.is_ours]
    lines = [line for line in lines if not _is_told(line, theirs)]
    tokens = count("\n\n".join([*(one.text for one in theirs), *map(_said_in, lines)]))
    text = with_properties(text, replace(properties, token_count=tokens))
    newline = newline_of(text)
    own = [one for one in paragraphs_of(text) if one.is_ours]
    at = own[0].start if own else None
    for one in reversed(own):
        text = text[: one.start] + text[one.end :].lstrip("\r\n")
    body = with_newlines("\n\n".join(lines), newline)
    if not lines:
        return text
    if at is None:
        return f"{text.rstrip()}{newline * 2}{body}{newline}"
    gap = newline * 2 if text[at:].strip() else newline
    return f"{text[:at]}{body}{gap}{text[at:]}"


def _is_told(line: str, theirs: Sequence[Placed]) -> bool:
    """Tell whether a person's own paragraphs have the place, or tell of the sources, of a line."""
    new = paragraphs_of(line)
    sources = {stem_of(path) for one in new for path, _ in one.links}
    told = {stem_of(path) for one in theirs for path, _ in one.links}
    same = {one.block for one in new} & {one.block for one in theirs if one.block}
    return bool(same) or bool(sources and sources <= told)


def _said_in(line: str) -> str:
    return " ".join(one.text for one in paragraphs_of(line))


def with_properties(text: str, properties: Properties) -> str:
    """Return the text with our properties set. Raises BadArgument where they are broken."""
    values: dict[str, str | int | list[str]] = {
        "id": properties.id,
        "agent": properties.agent,
        SOURCES[properties.level]: [f"[[{path}]]" for path in properties.sources],
        "created": properties.created,
        "token_count": properties.token_count,
        "by": properties.by,
        "language": properties.language,
        "device": properties.device,
    }
    for key, value in values.items():
        text = set_property(text, key, value)
    return with_tries(text, properties.tries if properties.pending else None)


def with_tries(text: str, tries: int | None) -> str:
    """Return a summary's text that says how often models have failed to write it.

    None: it waits for none. Raises BadArgument for front matter that is broken.
    """
    if tries is None:
        if not read_level(text, "L1").pending:
            return text
        return remove_property(remove_property(text, "pending"), "tries")
    return set_property(set_property(text, "pending", PENDING), "tries", tries)


def marked(summary: str) -> str:
    """Return the `summarised_in` of what a summary, by its path without `.md`, sums up."""
    return f"[[{summary}]]"


def with_mark(text: str, summary: str) -> str | None:
    """Return a source's text with its mark; None where it has one or cannot get one."""
    found = front_matter(text)
    if found is None or found.fault or _word(found.properties.get("summarised_in")):
        return None
    try:
        return set_property(text, "summarised_in", marked(summary))
    except BadArgument:
        return None


def _several(line: str) -> list[str]:
    """Return the links of a property's value; the value itself where it holds none."""
    return [match.group() for match in _ALONE.finditer(line)] or [line]


def _placed(part: Part, text: str) -> Placed:
    body = _BLOCK_AT_END.sub("", part.text) if part.block else part.text
    ours = _OUR_LINKS.search(body)
    said = body[: ours.start()] if ours else body
    links = tuple(
        (match[1].strip(), (match[2] or "").removeprefix("^"))
        for match in _LINK.finditer(ours.group() if ours else body)
    )
    shown = unescape(said) if ours else plain(said)[0]
    end = part.start + len(part.text)
    if part.block and (named := re.compile(rf"\s*\^{part.block}").match(text, end)):
        end = named.end()
    return Placed(shown, part.block, links, part.start, end)


def _word(value: object) -> str:
    return str(value).strip() if isinstance(value, (str, int, float)) else ""
