"""A note as data: properties, headings, links, tags, blocks, tasks. Reading only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vaultmind.vault.inline import (
    BlockId,
    Callout,
    Field,
    Link,
    Task,
    blocks_in,
    callouts_in,
    fields_in,
    links_in,
    tags_in,
    tasks_in,
)
from vaultmind.vault.properties import front_matter, words_of
from vaultmind.vault.structure import Unit, blanked, structure_of

__all__ = ["BlockId", "Callout", "Field", "Heading", "Link", "Note", "Task", "Unit", "parse_note"]


MAX_TAGS = 500
"""Number of a note's tags that are kept: each of its chunks carries them all."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading line. `end` is without its newline."""

    level: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Note:
    """What a note holds. Every offset is into the text as given, newlines and all."""

    properties: dict[str, object]
    """Dates, times and links as the text that was typed."""
    title_property: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    """From properties and text, without `#`; nested ones whole: `projects/oven`."""
    headings: tuple[Heading, ...]
    links: tuple[Link, ...]
    blocks: tuple[BlockId, ...]
    fields: tuple[Field, ...]
    tasks: tuple[Task, ...]
    callouts: tuple[Callout, ...]
    comments: tuple[tuple[int, int], ...]
    """Spans of `%%…%%`, marks included."""
    code: tuple[tuple[int, int], ...]
    """Spans of fenced, indented and inline code."""
    units: tuple[Unit, ...]
    """The blocks at the top level: heading, paragraph, list, quote, code."""
    items: tuple[tuple[int, int], ...]
    """Spans of list items, without the items inside them."""
    faults: tuple[str, ...]
    body_start: int


def parse_note(text: str) -> Note:
    """Return what a note holds; broken front matter is a fault, never an error.

    `text` has no byte order mark. Links, tags and the like in code and comments are not
    taken.
    """
    front = front_matter(text)
    properties = front.properties if front else {}
    body = front.body_start if front else 0
    structure = structure_of(text, body)
    plain = blanked(text, ((0, body), *structure.code, *structure.comments))
    title = properties.get("title")
    return Note(
        properties=properties,
        title_property=str(title).strip() if isinstance(title, (str, int, float)) else "",
        aliases=_unique([*_listed(properties, "aliases"), *_listed(properties, "alias")]),
        tags=_unique([*_property_tags(properties), *tags_in(plain)])[:MAX_TAGS],
        headings=tuple(
            Heading(unit.level, unit.text, unit.start, unit.end)
            for unit in structure.units
            if unit.kind == "heading"
        ),
        links=links_in(plain),
        blocks=blocks_in(plain, structure),
        fields=fields_in(plain),
        tasks=tasks_in(plain),
        callouts=callouts_in(plain, structure),
        comments=structure.comments,
        code=structure.code,
        units=structure.units,
        items=structure.items,
        faults=(front.fault,) if front and front.fault else (),
        body_start=body,
    )


def _listed(properties: dict[str, object], key: str, split: str = ",") -> tuple[str, ...]:
    """Return a property's words; its name's case does not matter, as in Obsidian."""
    return tuple(
        word
        for name, value in properties.items()
        if name.lower() == key
        for word in words_of(value, split)
    )


def _property_tags(properties: dict[str, object]) -> Iterable[str]:
    for key in ("tags", "tag"):
        for word in _listed(properties, key, r"[,\s]+"):
            if tag := word.lstrip("#").strip("/ "):
                yield tag


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    """Return words in order, each once whatever its case."""
    kept: dict[str, str] = {}
    for word in words:
        kept.setdefault(word.casefold(), word)
    return tuple(kept.values())
