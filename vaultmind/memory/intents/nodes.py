"""What a phrase becomes: a small grammar that is walked over a sentence's words.

A place is `2 * word + passed`, where `passed` says that the gap before the word is already
accounted for. What holds no slot is walked once for each place of a sentence, whichever of the
rules asks: the word lists are shared, so thousands of phrasings cost a few hundred steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Series
from dataclasses import dataclass, field

from vaultmind.memory.intents.text import MASK
from vaultmind.memory.intents.tokens import COMMA, SPACE

Captures = tuple[tuple[str, int, int], ...]
"""Slots that were filled: which, its first word, one past its last."""
Ends = tuple[int, ...]
PASSED = 1


@dataclass(slots=True)
class Stretch:
    """Words of a text that a node is walked over: up to `end`, which may move between uses."""

    words: Series[str]
    gaps: Series[str]
    end: int
    called: frozenset[int] = frozenset()
    """Words that are an agent's name."""
    known: dict[tuple[int, int], Ends] = field(default_factory=dict)

    def at(self, place: int) -> str | None:
        """Return the word at a place if nothing but a space or a comma stands before it."""
        word = place >> 1
        if word >= self.end or not (place & PASSED or self.gaps[word] in (SPACE, COMMA)):
            return None
        return self.words[word]


class Node:
    """A part of a phrase."""

    __slots__ = ("first", "marked", "nullable", "slotted")

    def __init__(
        self, first: frozenset[str] | None, nullable: bool, slotted: bool, marked: bool = False
    ) -> None:
        self.first = first
        """The words it can begin with; None for any."""
        self.nullable = nullable
        self.slotted = slotted
        self.marked = marked
        """Whether it can begin with a comma, a colon or the end."""

    def ends(self, place: int, stretch: Stretch) -> Ends:
        """Return the places where it can end if it begins at a place, the farthest first."""
        raise NotImplementedError

    def walk(
        self, place: int, stretch: Stretch, captures: Captures
    ) -> Iterator[tuple[int, Captures]]:
        """Yield where it can end, with the slots filled on the way."""
        for end in self.ends(place, stretch):
            yield end, captures


class Word(Node):
    """One word as it stands."""

    __slots__ = ("word",)

    def __init__(self, word: str) -> None:
        super().__init__(frozenset({word}), False, False)
        self.word = word

    def ends(self, place: int, stretch: Stretch) -> Ends:
        return ((place >> 1) * 2 + 2,) if stretch.at(place) == self.word else ()


class Affix(Node):
    """Any word, or one that begins or ends as given: `*`, `save*`, `*am`."""

    __slots__ = ("head", "tail")

    def __init__(self, pattern: str) -> None:
        super().__init__(None, False, False)
        self.head, _, self.tail = pattern.partition("*")

    def ends(self, place: int, stretch: Stretch) -> Ends:
        word = stretch.at(place)
        if word is None or word[0] == MASK:
            return ()
        fits = word.startswith(self.head) and word.endswith(self.tail)
        return ((place >> 1) * 2 + 2,) if fits else ()


class Mark(Node):
    """A comma, or a colon or dash, between two words."""

    __slots__ = ("gaps",)

    def __init__(self, gaps: frozenset[str]) -> None:
        super().__init__(frozenset(), False, False, marked=True)
        self.gaps = gaps

    def ends(self, place: int, stretch: Stretch) -> Ends:
        word = place >> 1
        there = not place & PASSED and word < stretch.end and stretch.gaps[word] in self.gaps
        return (place | PASSED,) if there else ()


class End(Node):
    """Nothing more comes."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(frozenset(), False, False, marked=True)

    def ends(self, place: int, stretch: Stretch) -> Ends:
        return (place,) if place >> 1 >= stretch.end else ()


class Slot(Node):
    """Words that the sentence brings itself: as few as will do."""

    __slots__ = ("kind", "most", "plain")

    def __init__(self, kind: str, most: int, plain: bool) -> None:
        super().__init__(None, False, True)
        self.kind, self.most, self.plain = kind, most, plain

    def walk(
        self, place: int, stretch: Stretch, captures: Captures
    ) -> Iterator[tuple[int, Captures]]:
        if stretch.at(place) is None:
            return
        first = place >> 1
        for last in range(first + 1, min(stretch.end, first + self.most) + 1):
            if self.plain and last > first + 1 and stretch.gaps[last - 1] != SPACE:
                return
            yield last * 2, (*captures, (self.kind, first, last))


class Rest(Node):
    """Any words, one at least."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, False, False)

    def ends(self, place: int, stretch: Stretch) -> Ends:
        """Return every later place."""
        return tuple(word * 2 for word in range(stretch.end, place >> 1, -1))


class Maybe(Node):
    """What may be missing."""

    __slots__ = ("inside",)

    def __init__(self, inside: Node) -> None:
        super().__init__(inside.first, True, inside.slotted, inside.marked)
        self.inside = inside

    def ends(self, place: int, stretch: Stretch) -> Ends:
        found = self.inside.ends(place, stretch)
        return found if place in found else (*found, place)

    def walk(
        self, place: int, stretch: Stretch, captures: Captures
    ) -> Iterator[tuple[int, Captures]]:
        yield from self.inside.walk(place, stretch, captures)
        yield place, captures


class Either(Node):
    """One of several; the word that stands there says which are worth a look."""

    __slots__ = ("_any", "_by_word", "choices")

    def __init__(self, choices: Series[Node]) -> None:
        self.choices = choices
        firsts = [choice.first for choice in choices]
        known = [first for first in firsts if first is not None]
        first = frozenset[str]().union(*known) if len(known) == len(firsts) else None
        super().__init__(
            first,
            any(choice.nullable for choice in choices),
            any(choice.slotted for choice in choices),
            any(choice.marked for choice in choices),
        )
        self._by_word: dict[str, list[Node]] = {}
        self._any = [c for c in choices if c.first is None or c.nullable or c.marked]
        for choice in choices:
            if choice not in self._any:
                for word in choice.first or ():
                    self._by_word.setdefault(word, []).append(choice)

    def ends(self, place: int, stretch: Stretch) -> Ends:
        word = stretch.at(place)
        choices = self._by_word.get(word, ()) if word is not None else ()
        if not choices and not self._any:
            return ()
        key = (id(self), place)
        if key not in stretch.known:
            found = {end for c in (*choices, *self._any) for end in c.ends(place, stretch)}
            stretch.known[key] = tuple(sorted(found, reverse=True))
        return stretch.known[key]

    def walk(
        self, place: int, stretch: Stretch, captures: Captures
    ) -> Iterator[tuple[int, Captures]]:
        if not self.slotted:
            yield from super().walk(place, stretch, captures)
            return
        word = stretch.at(place)
        choices = self._by_word.get(word, ()) if word is not None else ()
        for choice in (*choices, *self._any):
            yield from choice.walk(place, stretch, captures)


class Sequence(Node):
    """Parts one after another."""

    __slots__ = ("parts",)

    def __init__(self, parts: Series[Node]) -> None:
        solid = next((i for i, part in enumerate(parts) if not part.nullable), len(parts))
        leading = parts[: solid + 1]
        firsts = [part.first for part in leading]
        known = [first for first in firsts if first is not None]
        super().__init__(
            frozenset[str]().union(*known) if len(known) == len(firsts) else None,
            all(part.nullable for part in parts),
            any(part.slotted for part in parts),
            any(part.marked for part in leading),
        )
        self.parts = tuple(parts)

    def ends(self, place: int, stretch: Stretch) -> Ends:
        places: Ends = (place,)
        for part in self.parts:
            if len(places) == 1:
                places = part.ends(places[0], stretch)
            else:
                found = {end for start in places for end in part.ends(start, stretch)}
                places = tuple(sorted(found, reverse=True))
            if not places:
                return ()
        return places

    def walk(
        self, place: int, stretch: Stretch, captures: Captures
    ) -> Iterator[tuple[int, Captures]]:
        yield from (
            self._walk(0, place, stretch, captures)
            if self.slotted
            else super().walk(place, stretch, captures)
        )

    def _walk(
        self, part: int, place: int, stretch: Stretch, captures: Captures
    ) -> Iterator[tuple[int, Captures]]:
        if part == len(self.parts):
            yield place, captures
            return
        for end, filled in self.parts[part].walk(place, stretch, captures):
            yield from self._walk(part + 1, end, stretch, filled)
