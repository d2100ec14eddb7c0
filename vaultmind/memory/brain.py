"""brain.md: a person's file that we add single lines to. Parsing, and pure surgical edits.

Every edit keeps each byte it does not name: prose, comments, order, newlines, front matter. A
change is a list of moves, bullets that leave or come: applied once or twice they come to the same
text, and turned round they undo it.
A fact that we wrote looks like this; one that a person typed is just a bullet:

    - Prefers short answers %%2026-02-20 said [[…/sessions/2026-02-20_001#^m7|source]]%% ^k3f9

One that an agent reported has the person's words beside its source: `…|source]] “short ones, ok?”`.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from textwrap import dedent

from vaultmind.errors import UnreadableNote
from vaultmind.memory.wording import heading, section_of
from vaultmind.redact import blank_private, mask
from vaultmind.types import SECTIONS, Fact, MessageRef, Section
from vaultmind.vault.files import line_span, newline_of, with_newlines
from vaultmind.vault.oneline import escape, one_line, short
from vaultmind.vault.parts import HEADING, MARKER, Bullet, bullets, parts, plain, prose
from vaultmind.vault.paths import AGENT_NAME, SESSION_ID, VaultPaths
from vaultmind.vault.properties import front_matter

BLOCK_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
BLOCK_LENGTH = 4
JOINT = "; "
"""Stands between facts that one change took away."""
MEND = "Open it in Obsidian and fix it."
WRITING_WAITS = "Its intact lines are still read; nothing is written to it until it is fixed."

PROVENANCE = re.compile(
    r"%%(?:(?P<date>\d{4}-\d{2}-\d{2}) (?P<how>[a-z_]+)"
    r"(?: \[\[(?P<link>[^\]|]+)(?:\|[^\]]*)?\]\])?"
    r"(?: “(?P<quote>[^\n]*?)”)?)?"
    r"(?: ?until (?P<until>\d{4}-\d{2}-\d{2}))?%%"
)
_ACTS = re.compile(r"(?<=%)(?=%)|(?<=\[)(?=\[)|(?<=\])(?=\])|(?<=<)")
"""Where a space keeps a quotation from ending the comment it stands in, or acting in a note."""
MOST_QUOTED = 200
"""Characters of a quotation beside a fact."""
_EVIDENCE = re.compile(
    rf".*/({AGENT_NAME.pattern})/memory/sessions/({SESSION_ID.pattern})(?:\.md)?"
    r"(?:#\^([A-Za-z0-9-]+))?"
)
_MERGE = re.compile(r"^<{7}(?: .*)?\r?$(?s:.*?)^>{7}(?: .*)?\r?$", re.MULTILINE)
_BLOCK_IDS = re.compile(r"\^([A-Za-z0-9-]+)")
_EMPTY_LINE = re.compile(r"\A\r?\n")
_NEXT_LINE = re.compile(r"\r?\n[^\S\n]*\S")
_UNINDENTED = re.compile(r"\n[^\s]")
_REST_OF_ITEM = re.compile(
    r"\r?(?:\n[^\S\n]*\S[^\n]*|(?:\n[^\S\n]*)+\n[ \t]+\S[^\n]*)*"  # below it, or indented
)
"""What is a list item's own for Obsidian: a bullet put between would take it over."""
_TAB = 4


@dataclass(frozen=True, slots=True)
class PlacedFact:
    """A fact and where its bullet stands. Offsets are into the brain's text."""

    fact: Fact
    start: int
    end: int
    """The end of its last line, without the newline."""
    tree_end: int
    """The end of the last bullet nested under it; `end` where there is none."""
    private: bool
    """Whether a private passage stands within its lines: nothing but a person may take these."""

    @property
    def is_kept(self) -> bool:
        """Tell whether the log may hold all that it says, so that an undo brings it back."""
        return not self.private and mask(self.fact.text).text == self.fact.text


@dataclass(frozen=True, slots=True)
class PlacedHeading:
    """A heading that stands for a section, or for something of the person's own."""

    section: Section | None
    title: str
    start: int
    end: int
    """The end of its line, without the newline."""


@dataclass(frozen=True, slots=True)
class Brain:
    """A brain (or its archive) as read."""

    facts: tuple[PlacedFact, ...]
    headings: tuple[PlacedHeading, ...]
    damaged: str = ""
    """Why nothing may be written until the person mends it; empty for a sound one."""

    def all(self) -> tuple[Fact, ...]:
        """Return the facts without their places."""
        return tuple(placed.fact for placed in self.facts)


@lru_cache(maxsize=16)
def parse_brain(text: str) -> Brain:
    """Return what a brain says to others: without private passages, each place as in the text.

    Lenient: whatever is no fact is left for the person.
    """
    sound, reason = sound_text(text)
    text = blank_private(sound)
    headings = tuple(
        PlacedHeading(section_of(title := plain(match.group(1))[0]), title, start, end)
        for start, end, line in prose(text)
        if (match := HEADING.match(line))
    )
    found = bullets(text)
    facts = tuple(_placed(found, i, sound, text) for i in range(len(found)))
    return Brain(facts, headings, reason)


def sound_text(text: str) -> tuple[str, str]:
    """Return a brain's sound lines at their places, others blank, and what is wrong with it.

    What stands between merge markers is not sound.
    """
    sound = _MERGE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return sound, "it contains merge markers (<<<<<<< and >>>>>>>)" if sound != text else ""


def fault(text: str) -> str:
    """Return what is wrong with a brain's front matter; its facts are read and written."""
    front = front_matter(text)
    return f"its {front.fault}" if front and front.fault else ""


def own_paragraphs(text: str) -> list[tuple[str, str]]:
    """Return each paragraph that is no fact, as a reader sees it, with the heading above it.

    Private passages are left out.
    """
    brain, seen, own = parse_brain(text), blank_private(text), list[tuple[str, str]]()
    for part in parts(seen):
        facts = (one.end for one in brain.facts if one.start <= part.start < one.end)
        said, _ = plain(seen[max(facts, default=part.start) : part.start + len(part.text)])
        above = (one.title for one in reversed(brain.headings) if one.start < part.start)
        own += [(next(above, ""), said)] if said else []
    return own


def new_brain(agent: str, language: str) -> str:
    """Return an empty brain with its four sections, for a person to fill in too."""
    title = f"# {agent.capitalize()} - Brain\n"
    return title + "".join(f"\n## {heading(section, language)}\n" for section in SECTIONS)


def new_block(taken: Collection[str], rng: random.Random) -> str:
    """Return a fresh block id that is not among those taken."""
    while True:
        block = "".join(rng.choices(BLOCK_LETTERS, k=BLOCK_LENGTH))
        if block not in taken:
            return block


def block_ids(text: str) -> set[str]:
    """Return everything in a text that may be a block id."""
    return set(_BLOCK_IDS.findall(text))


def render_fact(fact: Fact, paths: VaultPaths) -> str:
    """Return what follows a bullet's mark: the escaped text, its provenance, its block id."""
    source = f" [[{paths.link(fact.evidence)}|source]]" if fact.evidence else ""
    quote = _ACTS.sub(" ", one_line(fact.quote).replace("`", "'"))
    source += f" “{short(quote, MOST_QUOTED)}”" if quote else ""
    told = [f"{fact.written} {fact.how or 'said'}{source}"] if fact.written else []
    told += [f"until {fact.until}"] if fact.until else []
    provenance = f" %%{' '.join(told)}%%" if told else ""
    return f"{escape(fact.text)}{provenance}" + (f" ^{fact.block}" if fact.block else "")


def add_bullet(text: str, bullet: str, section: Section, language: str) -> str:
    """Return the text with a bullet, and what is nested under it, at the end of its section.

    A missing section gets its heading at the end. Raises UnreadableNote if it is read nowhere.
    """
    return add_item(text, bullet, heading(section, language), lambda one: one.section == section)


def add_item(text: str, item: str, title: str, belongs: Callable[[PlacedHeading], bool]) -> str:
    """Return the text with a list item below the heading it belongs to, made where it is missing.

    Raises UnreadableNote where a person's open comment or code would swallow it.
    """
    brain = parse_brain(text)
    wanted = len(brain.facts) + len(parse_brain(item).facts)
    if known := next(filter(belongs, brain.headings), None):
        new = _insert(text, _after_section(text, brain, known), item)
    else:
        new = _append(text, f"## {title}\n\n{item}")
    after = parse_brain(new)
    if not after.damaged and len(after.facts) == wanted:
        return new
    raise UnreadableNote("The file", "an unclosed comment or code block would hide the new line")


def cut(text: str, start: int, end: int) -> str:
    """Return the text without the lines from one place to another.

    Where they stood alone between two empty lines, one of these goes as well.
    """
    first, stop = line_span(text, start, end)
    head, tail = text[:first], text[stop:]
    if head.endswith(("\n\n", "\n\r\n")):
        tail = _EMPTY_LINE.sub("", tail, count=1)
    return head + tail


def _placed(found: tuple[Bullet, ...], i: int, text: str, seen: str) -> PlacedFact:
    """Return one of some bullets; `seen` is the text without private passages."""
    bullet = found[i]
    depth, end = _indent(bullet), bullet.end
    for below in found[i + 1 :]:
        if _indent(below) <= depth or _UNINDENTED.search(seen, end, below.start):
            break
        end = below.end
    private = text[bullet.start : end] != seen[bullet.start : end]
    return PlacedFact(_fact(bullet), bullet.start, bullet.end, end, private)


def _fact(bullet: Bullet) -> Fact:
    match = PROVENANCE.search(bullet.raw)
    said = match.groupdict("") if match else defaultdict[str, str](str)
    return Fact(
        bullet.text, section_of(bullet.heading), bullet.block, message_at(said["link"]),
        said["date"], said["how"], said["quote"], said["until"],
    )  # fmt: skip


def message_at(link: str) -> MessageRef | None:
    """Return the message that a link to a session leads to, as `VaultPaths.link` writes it."""
    found = _EVIDENCE.fullmatch(link)
    return MessageRef(*found.groups(default="")) if found else None


def _indent(bullet: Bullet) -> int:
    spaces = bullet.raw[: len(bullet.raw) - len(bullet.raw.lstrip(" \t"))]
    return len(spaces.expandtabs(_TAB))


def _after_section(text: str, brain: Brain, known: PlacedHeading) -> int:
    """Return the end of the line a new bullet of the section goes after."""
    later = [one.start for one in brain.headings if one.start > known.start]
    stop = later[0] if later else len(text)
    own = [placed for placed in brain.facts if known.end <= placed.start < stop]
    if not own:
        return known.end
    item = _REST_OF_ITEM.match(text, max(placed.tree_end for placed in own), stop)
    return item.end() if item else known.end


def _insert(text: str, at: int, item: str) -> str:
    """Return the text with an item on lines of its own after the line that ends at `at`."""
    newline, head = newline_of(text), text[:at].rstrip("\r")
    tail, item = text[len(head) :], with_newlines(item, newline_of(text))
    if HEADING.match(head[head.rfind("\n") + 1 :]):
        gap = newline if _NEXT_LINE.match(tail) else ""
        return f"{head}{newline}{newline}{item}{gap}{tail}"
    return f"{head}{newline}{item}{tail}"


def _append(text: str, lines: str) -> str:
    newline = newline_of(text)
    lead = "" if not text or text.endswith("\n") else newline
    gap = newline if text.strip("\ufeff \t\r\n") and not text.endswith(("\n\n", "\n\r\n")) else ""
    return text + lead + gap + with_newlines(lines, newline) + newline


# --- changes as moves ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Move:
    """A bullet, with what is nested under it, that left or came with a change."""

    line: str = ""
    """As it stands in the file; in the audit, secrets masked."""
    section: str = ""
    came: bool = False
    """Whether it came; else it left."""
    archive: bool = False
    """In the archive; else in the brain."""
    whole: bool = False
    """Whether nothing had to be masked: only then can an undo put it back."""

    @property
    def fact(self) -> Fact:
        """Return the fact that the bullet says."""
        facts = parse_brain(self.line).all()
        section = next((one for one in SECTIONS if one == self.section), None)
        return replace(facts[0], section=section) if facts else Fact("", section)


def leaving(text: str, placed: PlacedFact, *, alone: bool = False, archive: bool = False) -> Move:
    """Return the move of a bullet out of a text: with what is nested under it, or alone."""
    end = placed.end if alone else placed.tree_end
    line = dedent(text[placed.start : end].replace("\r", "")).strip()
    return Move(line, placed.fact.section or "", archive=archive, whole=True)


def coming(fact: Fact, paths: VaultPaths, *, archive: bool = False) -> Move:
    """Return the move of a fact into a brain or its archive."""
    line = f"- {render_fact(fact, paths)}"
    return Move(line, fact.section or "", came=True, archive=archive, whole=True)


def masked(moves: Sequence[Move]) -> tuple[Move, ...]:
    """Return moves as the audit may hold them."""
    found = ((one, mask(one.line).text) for one in moves)
    return tuple(replace(one, line=new, whole=one.whole and new == one.line) for one, new in found)


def find_fact(text: str, fact: Fact) -> PlacedFact | None:
    """Return where a fact stands as it did: by its id and its words, masked."""
    said = mask(one_line(fact.text)).text
    for placed in parse_brain(text).facts:
        one = placed.fact
        is_it = (one.block, one.until) == (fact.block, fact.until)
        if is_it and mask(one_line(one.text)).text == said:
            return placed
    return None


def apply(text: str, moves: Sequence[Move], *, archive: bool, language: str = "en") -> str:
    """Return a brain or archive after the moves that concern it.

    The first bullet that came stands where the first one that left stood, with its mark and what
    is nested under it, where both are of one section. Raises UnreadableNote for a text that
    can take nothing.
    """
    own = [move for move in moves if move.archive is archive]
    left, came = ([one for one in own if one.came is has_come] for has_come in (False, True))
    if left and came and not find_fact(text, came[0].fact):
        old, new = left[0], came[0]
        placed = find_fact(text, old.fact)
        if placed and "\n" not in old.line + new.line and old.section == new.section:
            mark = MARKER.match(text, placed.start)  # it stays, as what is nested below does
            start, line = mark.end() if mark else placed.start, MARKER.sub("", new.line, count=1)
            text = text[:start] + line + text[placed.end :]
            left, came = left[1:], came[1:]
    for move in left:
        if placed := find_fact(text, move.fact):
            text = cut(text, placed.start, placed.tree_end)
    for move in came:
        if not find_fact(text, move.fact):
            text = add_bullet(text, move.line, move.fact.section or "user", language)
    return text
