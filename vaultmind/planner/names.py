"""Names and words: which files are called what a task speaks of, which texts share its words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Generic, Literal, TypeVar

from vaultmind.index.words.stopwords import BY_LANGUAGE
from vaultmind.index.words.terms import fold, stems
from vaultmind.planner.code import INSTALL
from vaultmind.planner.types import FileRecord

COMMON_SHARE, MOST_TEXTS = 0.25, 1500
"""A word that more of the texts have tells nothing."""
MOST_LOOKED_AT = 5000
"""Texts that the words of one task are looked for in, the rarest words first."""
FULL, FLAT = 1.2, 0.6
"""BM25's k1 and b."""
ENOUGH = 0.6
"""Share of what a text tells, by which another is as like it as need be."""
MOST_WORDS = 400
"""Different words of one text."""
_RAW = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\dA-Za-z_]+")
Key = TypeVar("Key", str, int)


def stems_of(text: str) -> list[str]:
    """Return the stems of a text's words; a name that is joined (`camelCase`, `gpt4`) in parts."""
    return [stem for raw in _RAW.findall(text) for stem in _stems(raw)]


def written_in(text: str) -> dict[str, str]:
    """Return of each stem of a text how it is written there first."""
    written: dict[str, str] = {}
    for raw in _RAW.findall(text):
        for stem in _stems(raw):
            written.setdefault(stem, raw)
    return written


@lru_cache(maxsize=50_000)
def _stems(raw: str) -> tuple[str, ...]:
    parts = [raw] if raw.islower() or raw.istitle() else _PARTS.findall(raw)
    wanted = parts if len(parts) == 1 else [raw, *parts]
    found = (
        stems(one, "en")[0] for one in wanted if len(one) > 1 and fold(one) not in BY_LANGUAGE["en"]
    )
    return tuple(dict.fromkeys(found))


def may_hold(words: Iterable[str], text: str) -> bool:
    """Tell whether a text is to be looked at closely for stems: these have no accents."""
    return not text.isascii() or _beginnings(tuple(words)).search(text) is not None


@lru_cache(maxsize=16)
def _beginnings(words: tuple[str, ...]) -> re.Pattern[str]:
    starts = "|".join(re.escape(word[:3]) for word in words) or r"(?!)"
    return re.compile(starts, re.IGNORECASE)


class WordTable(Generic[Key]):
    """Texts by a key, and the keys of each word's texts. Not for two threads at once."""

    def __init__(self) -> None:
        self.counts: dict[Key, Counter[str]] = {}
        """Of each text, how often it has which word."""
        self.texts: dict[str, dict[Key, int]] = {}
        """Of each word, how often which text has it."""
        self._total = 0
        """Words of all texts."""

    def put(self, key: Key, text: str | None) -> None:
        """Take a text in place of the one before; None: it is gone."""
        for word in (before := self.counts.pop(key, Counter())):
            del self.texts[word][key]
            if not self.texts[word]:
                del self.texts[word]
        self._total -= before.total()
        if text is not None:
            counts = self.counts[key] = Counter(stems_of(text)[:MOST_WORDS])
            self._total += counts.total()
            for word, count in counts.items():
                self.texts.setdefault(word, {})[key] = count

    def worth(self, word: str) -> float:
        """Return how much a word tells, from 0: its inverse document frequency."""
        count, among = len(self.texts.get(word, ())), len(self.counts)
        return math.log(1.0 + (among - count + 0.5) / (count + 0.5)) if count else 0.0

    def texts_with(self, word: str) -> Iterable[Key]:
        """Return the texts that have a word; none for one that most have."""
        each = self.texts.get(word, {})
        most = min(max(3.0, COMMON_SHARE * len(self.counts)), MOST_TEXTS)
        return each if len(each) <= most else ()

    def like(self, text: str, most: int) -> dict[Key, float]:
        """Return how like one text those are that share most with it, best first, 0 to 1.

        1 is the best where it holds most of what the text tells; where even the best holds
        little of it, all are less. Of equals the one with the lower key comes first.
        """
        wanted = dict.fromkeys(stems_of(text))
        scores = sorted(self._scores(wanted).items(), key=lambda one: (-one[1], one[0]))
        best = scores[0][1] if scores else 1.0
        unknown = math.log(2.0 + 2.0 * len(self.counts)) / 2
        told = math.fsum(self.worth(one) or unknown for one in wanted) or 1.0
        sure = min(1.0, best / (ENOUGH * told)) ** 0.5
        return {key: sure * score / best for key, score in scores[:most]}

    def _scores(self, words: Iterable[str]) -> dict[Key, float]:
        """Return BM25 of every text that has one of some words, but for those that most have."""
        mean = self._total / max(1, len(self.counts)) or 1.0
        scores: dict[Key, float] = {}
        looked_at = 0
        for word in sorted(words, key=lambda one: (len(self.texts.get(one, ())), one)):
            looked_at += len(self.texts.get(word, ()))
            if looked_at > MOST_LOOKED_AT:
                break
            worth = self.worth(word)
            for key in self.texts_with(word):
                count = self.texts[word][key]
                length = 1.0 - FLAT + FLAT * len(self.counts[key]) / mean
                gain = worth * count * (FULL + 1.0) / (count + FULL * length)
                scores[key] = scores.get(key, 0.0) + gain
        return scores


# --- names ------------------------------------------------------------------------------

MOST_NAMES = 120
"""Definitions and headings of a file whose names count."""
MOST_NEAR = 40
"""Files of a folder in which a file would lie: of a larger one the place says nothing."""
CODE_SHARE = 0.15
"""Share of code files from which a source is one of code."""
_ENDINGS = ("test", "tests", "spec", "index", "init", "main")


class Names:
    """Tables of the names in a source, which follow its records. Not for two threads at once."""

    def __init__(self) -> None:
        self.by_path = WordTable[str]()
        self.by_definition = WordTable[str]()
        self.folders: dict[str, set[str]] = {}
        """Of each folder the files that lie in it."""
        self._records: dict[str, FileRecord] = {}
        self._tables: dict[str, set[str]] = {}
        """Files by the last part of a definition's name (`=total`), and by their own (`cart`)."""
        self._code = self.unread = 0
        """Files of code; those of them that are text only, since what reads them is missing."""

    @property
    def stuff(self) -> Literal["code", "notes"]:
        """Return what the source is made of, as far as ranking goes."""
        return "code" if self._code >= CODE_SHARE * max(1, len(self._records)) else "notes"

    def put(self, path: str, record: FileRecord | None) -> None:
        """Take a record in place of the one before; None: the file is gone."""
        before = self._records.pop(path, None)
        if before is not None:
            self._count(before, -1)
            for key in _keys(before):
                self._tables[key].discard(path)
            self.folders[_folder(path)].discard(path)
        if record is not None:
            self._records[path] = record
            self._count(record, 1)
            for key in _keys(record):
                self._tables.setdefault(key, set()).add(path)
            self.folders.setdefault(_folder(path), set()).add(path)
        self.by_path.put(path, _path_words(record) if record else None)
        self.by_definition.put(path, " ".join(told_by(record)) if record else None)

    def _count(self, record: FileRecord, step: int) -> None:
        self._code += step * (record.shape == "code")
        self.unread += step * (INSTALL in record.fault)

    def whole(self, path: str, words: frozenset[str]) -> float:
        """Return how much of a file's own name a task says, 0 to 1, rare words counting more."""
        own = [one for one in stems_of(_stem(path)) if one not in _ENDINGS]
        total = sum(self.by_path.worth(one) for one in own)
        return sum(self.by_path.worth(one) for one in own if one in words) / (total or 1.0)

    def named(self, paths: Sequence[str]) -> dict[str, float]:
        """Return the files that a task names by path: 1, or less where a name fits several."""
        found: dict[str, float] = {}
        for wanted in paths:
            name = wanted.strip("./").replace("\\", "/").lower()
            fitting = self._tables.get(name.rpartition("/")[2], ())
            ending = [one for one in fitting if f"/{one.lower()}".endswith(f"/{name}")]
            # a longer name, as a traceback has it, ends in a file of the source
            under = ending or [one for one in fitting if name.endswith(f"/{one.lower()}")]
            for path in under:
                found[path] = max(found.get(path, 0.0), 1.0 / len(under))
        return found

    def at(self, path: str) -> Iterator[str]:
        """Yield the files that a path names: by itself, or as the folder in which they lie."""
        yield from self.named((path,))
        name = path.strip("/")
        for folder, inside in self.folders.items():
            if folder == name or folder.startswith(f"{name}/"):
                yield from inside

    def near(self, missing: Sequence[str]) -> dict[str, float]:
        """Return what lies where files that are not there would, 0 to 1: more in small folders."""
        found: dict[str, float] = {}
        for wanted in missing:
            parts = wanted.strip("/").split("/")[:-1]
            tried = (
                self.folders.get("/".join(parts[start:end]))
                for end in range(len(parts), 0, -1)
                for start in range(max(1, end - 1))  # a path may begin outside of the source
            )
            inside = next(filter(None, tried), set())
            share = 1.0 / (1.0 + math.log1p(len(inside)) / 2)
            for path in inside if len(inside) <= MOST_NEAR else ():
                found[path] = max(found.get(path, 0.0), share)
        return found

    def defined(self, identifiers: Sequence[str]) -> dict[str, float]:
        """Return the files that define what a task names, 1 or less where several do."""
        found: dict[str, float] = {}
        for wanted in identifiers:
            fitting = self._tables.get(f"={_last(wanted)}", ())
            for path in fitting:
                found[path] = max(found.get(path, 0.0), 1.0 / len(fitting) ** 0.5)
        return found


def told_by(one: FileRecord) -> list[str]:
    """Return the texts of a file's definitions, headings, tags and abstract."""
    names = [f"{each.name} {each.summary}" for each in one.definitions[:MOST_NAMES]]
    names += [heading.text for heading in one.headings[:MOST_NAMES]]
    return [*names, *one.tags, one.abstract]


def _path_words(one: FileRecord) -> str:
    title = one.title if one.shape in ("note", "text") else ""
    return f"{one.path.rpartition('.')[0] or one.path} {_stem(one.path)} {title}"


def _keys(one: FileRecord) -> set[str]:
    name = one.path.rpartition("/")[2].lower()
    return {name, _stem(name), *(f"={_last(each.name)}" for each in one.definitions)}


def _last(name: str) -> str:
    return name.rpartition(".")[2].rpartition(":")[2].rpartition("#")[2].strip("()").lower()


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name
