"""Write a vault of 2,300 notes in English, Polish and Russian whose notes are hard to tell apart.

Sentences of real prose (benchmarks/data/large_vault/*.toml) are put together so that for every
note there are others about the same thing elsewhere, and others about the same place with another
thing: a dishwasher in ten houses, ten appliances in one house. The same seed gives the same bytes;
the questions of benchmarks/data/note_questions.jsonl were written by reading this vault as seed 11
makes it.

A family of notes has `rows` (what depends on one another, `columns` by |) and a context: given
(`by`), a first and a last name (`firsts`, `lasts`), or days (`dates`). With `by` no row meets a
context twice; else every context has one note. `text` is a list of paragraphs, each a list of
ways to say it; `{bank}` is a choice from the family's own or shared lists, the same one in the
whole note, `{bank:2}` a second one, `{bank:cap}` begins with a capital, `{3-9}` is a number.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data" / "large_vault"
LANGUAGES = ("en", "pl", "ru")
SEED = 11
_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}|\{(\d+)-(\d+)\}")
_LINKED = 0.25
"""Share of notes that end with a link to another note of their family."""


@dataclass(frozen=True, slots=True)
class Note:
    """A file of the vault."""

    path: str
    text: str


@dataclass(slots=True)
class _Saying:
    """What the slots of one note have been filled with."""

    banks: Mapping[str, Any]
    given: dict[str, str]
    rng: random.Random

    def fill(self, text: str) -> str:
        """Return a text without slots; what fills one may have slots itself."""
        while _SLOT.search(text):
            text = _SLOT.sub(self._one, text)
        return text

    def _one(self, slot: re.Match[str]) -> str:
        name, form, low, high = slot.groups()
        if name is None:
            return str(self.rng.randint(int(low), int(high)))
        key = name if form in (None, "cap") else f"{name}:{form}"
        if key not in self.given:
            taken = set(self.given.values())
            bank = self.banks[name]
            left = [one for one in bank if one not in taken] or bank
            self.given[key] = self.rng.choice(left)
        value = self.given[key]
        return value[0].upper() + value[1:] if form == "cap" else value


def large_vault(seed: int = SEED) -> Iterator[Note]:
    """Yield every note: the same ones for the same seed."""
    for lang in LANGUAGES:
        told = tomllib.loads((DATA / f"{lang}.toml").read_text("utf-8"))
        shared = told.pop("shared")
        for name, family in told.items():
            yield from _family(shared | family, random.Random(f"{seed} {lang} {name}"))


def write_vault(out: Path, seed: int = SEED) -> int:
    """Write the vault below a folder and return how many notes it has."""
    (out / ".obsidian").mkdir(parents=True, exist_ok=True)
    count = 0
    for note in large_vault(seed):
        path = out / note.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note.text, "utf-8")
        count += 1
    return count


def _family(banks: Mapping[str, Any], rng: random.Random) -> Iterator[Note]:
    seen: dict[str, str] = {}
    for given in _givens(banks, rng):
        saying = _Saying(banks, given, rng)
        title = saying.fill(banks["title"])
        folder = saying.fill(banks["folder"])
        path = f"{folder}/{title}.md"
        if path in seen:
            path = f"{folder}/{title} (2).md"
            if path in seen:
                continue
        paragraphs = [saying.fill(rng.choice(ways)) for ways in banks["text"]]
        if seen and rng.random() < _LINKED:
            paragraphs.append(f"→ [[{rng.choice(list(seen.values()))}]]")
        seen[path] = title
        tags = ", ".join(rng.sample(banks["tags"], k=min(len(banks["tags"]), rng.randint(1, 2))))
        head = f"---\ntags: [{tags}]\n---\n" if rng.random() < 0.7 else ""
        heading = f"# {title}\n\n" if rng.random() < 0.6 else ""
        yield Note(path, head + heading + "\n\n".join(paragraphs) + "\n")


def _givens(banks: Mapping[str, Any], rng: random.Random) -> list[dict[str, str]]:
    """Return what each note of a family is about."""
    columns = banks["columns"].split()
    rows = [[part.strip() for part in row.split("|")] for row in banks["rows"]]
    about = [dict(zip(columns, row, strict=True)) for row in rows]
    context, count = banks["context"], banks["count"]
    if "by" in banks:
        pairs = list(product(about, banks["by"]))
        return [row | {context: one} for row, one in rng.sample(pairs, k=min(count, len(pairs)))]
    contexts = rng.sample(_once(banks), k=count)
    return [about[at % len(about)] | {context: one} for at, one in enumerate(contexts)]


def _once(banks: Mapping[str, Any]) -> list[str]:
    """Return contexts of which each is used once: names of two parts, or days."""
    if "dates" in banks:
        first, last = (date.fromisoformat(one) for one in banks["dates"])
        days = (last - first).days
        return [(first + timedelta(at)).isoformat() for at in range(days + 1)]
    return [f"{first} {last}" for first, last in product(banks["firsts"], banks["lasts"])]
