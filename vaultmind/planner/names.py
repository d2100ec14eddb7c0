"""Names and words: which files are called what a task speaks of, which texts share its words."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
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
MOST_NAMES = 120
"""Definitions and headings of a file whose names count."""
MOST_NEAR = 40
"""Files of a folder in which a file would lie: of a larger one the place says nothing."""
CODE_SHARE = 0.15
"""Share of code files from which a source is one of code."""
_ENDINGS = ("test", "tests", "spec", "index", "init", "main")
_RAW = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\dA-Za-z_]+")
Key = TypeVar("Key", str, int)


def stems_of(text: str) -> dict[str, str]:
    """Return the stems of a text's words, each with how it is written there first.

    A name that is joined (`camelCase`, `gpt4`) counts whole and in parts.
    """
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


class WordTable(Generic[Key]):
    """Texts by a key, and the keys of each word's texts. Not for two threads at once."""

    def __init__(self) -> None:
        self.counts: dict[Key, Counter[str]] = {}
        """Of each text, how often it has which word."""
        self.texts: dict[str, dict[Key, int]] = {}
        """Of each word, how often which text has it."""
        self._total = 0

    def put(self, key: Key, text: str | None) -> None:
        """Take a text in place of the one before; None: it is gone."""
        for word, count in self.counts.pop(key, {}).items():
            self._total -= count
            del self.texts[word][key]
            if not self.texts[word]:
                del self.texts[word]
        if text is not None:
            found = [stem for raw in _RAW.findall(text) for stem in _stems(raw)][:MOST_WORDS]
            self.counts[key] = Counter(found)
            self._total += len(found)
            for word, count in self.counts[key].items():
                self.texts.setdefault(word, {})[key] = count

    def worth(self, word: str) -> float:
        """Return how much a word tells, from 0: its inverse document frequency."""
        count, among = len(self.texts.get(word, ())), len(self.counts)
        return math.log(1.0 + (among - count + 0.5) / (count + 0.5)) if count else 0.0

    def like(self, text: str, most: int) -> dict[Key, float]:
        """Return how like one text those are that share most with it, best first, 0 to 1.

        1 is the best where it holds most of what the text tells; where even the best holds
        little of it, all are less. Of equals the one with the lower key comes first.
        """
        wanted = stems_of(text)
        scores = sorted(self._scores(wanted).items(), key=lambda one: (-one[1], one[0]))
        best = scores[0][1] if scores else 1.0
        unknown = math.log(2.0 + 2.0 * len(self.counts)) / 2
        told = math.fsum(self.worth(one) or unknown for one in wanted) or 1.0
        sure = min(1.0, best / (ENOUGH * told)) ** 0.5
        return {key: sure * score / best for key, score in scores[:most]}

    def _scores(self, words: Iterable[str]) -> dict[Key, float]:
        """Return BM25 of every text that has one of some words, but for those that most have."""
        mean = self._total / max(1, len(self.counts)) or 1.0
        common = min(max(3.0, COMMON_SHARE * len(self.counts)), MOST_TEXTS)
        scores: dict[Key, float] = defaultdict(float)
        looked_at = 0
        for word in sorted(words, key=lambda one: (len(self.texts.get(one, ())), one)):
            texts = self.texts.get(word, {})
            looked_at += len(texts)
            if looked_at > MOST_LOOKED_AT or len(texts) > common:
                break
            for key, count in texts.items():
                length = 1.0 - FLAT + FLAT * len(self.counts[key]) / mean
                scores[key] += self.worth(word) * count * (FULL + 1.0) / (count + FULL * length)
        return scores


class Names:
    """Tables of the names in a source, which follow its records. Not for two threads at once."""

    def __init__(self) -> None:
        self.by_path = WordTable[str]()
        self.by_definition = WordTable[str]()
        self.folders: defaultdict[str, set[str]] = defaultdict(set)
        """Of each folder the files that lie in it."""
        self._records: dict[str, FileRecord] = {}
        self._tables: defaultdict[str, set[str]] = defaultdict(set)
        """Files by the last part of a definition's name (`=total`), and by their own (`cart`)."""
        self._code = self.unread = 0
        """Files of code; those of them that are text only, since what reads them is missing."""

    @property
    def stuff(self) -> Literal["code", "notes"]:
        """Return what the source is made of, as far as ranking goes."""
        return "code" if self._code >= CODE_SHARE * max(1, len(self._records)) else "notes"

    def put(self, path: str, record: FileRecord | None) -> None:
        """Take a record in place of the one before; None: the file is gone."""
        if before := self._records.pop(path, None):
            self._enter(before, -1)
        if record is not None:
            self._records[path] = record
            self._enter(record, 1)
        self.by_path.put(path, _path_words(record) if record else None)
        self.by_definition.put(path, " ".join(told_by(record)) if record else None)

    def _enter(self, one: FileRecord, step: int) -> None:
        self._code += step * (one.shape == "code")
        self.unread += step * (INSTALL in one.fault)
        name = one.path.rpartition("/")[2].lower()
        keys = {name, _stem(name), *(f"={_last(each.name)}" for each in one.definitions)}
        for held in (*map(self._tables.__getitem__, keys), self.folders[folder_of(one.path)]):
            held.add(one.path) if step > 0 else held.discard(one.path)

    def whole(self, path: str, words: Iterable[str]) -> float:
        """Return how much of a file's own name a task says, 0 to 1, rare words counting more."""
        own = {it: self.by_path.worth(it) for it in stems_of(_stem(path)) if it not in _ENDINGS}
        return sum(own.get(one, 0.0) for one in words) / (sum(own.values()) or 1.0)

    def named(self, paths: Sequence[str]) -> dict[str, float]:
        """Return the files that a task names by path: 1, or less where a name fits several."""
        found: dict[str, float] = {}
        for wanted in paths:
            name = wanted.strip("./").replace("\\", "/").lower()
            fitting = self._tables.get(name.rpartition("/")[2], ())
            ending = [one for one in fitting if f"/{one.lower()}".endswith(f"/{name}")]
            # a longer name, as a traceback has it, ends in a file of the source
            under = ending or [one for one in fitting if name.endswith(f"/{one.lower()}")]
            found |= {path: max(found.get(path, 0.0), 1.0 / len(under)) for path in under}
        return found

    def at(self, path: str) -> Iterator[str]:
        """Yield the files that a path names: by itself, or as the folder in which they lie."""
        yield from self.named((path,))
        name = path.strip("/")
        for folder, inside in self.folders.items():
            if f"{folder}/".startswith(f"{name}/"):
                yield from inside

    def near(self, missing: Sequence[str]) -> dict[str, float]:
        """Return what lies where files that are not there would, 0 to 1: more in small folders."""
        found: dict[str, float] = {}
        for wanted in missing:
            parts = wanted.strip("/").split("/")[:-1]
            # a path may begin outside of the source
            ends = ["/".join(parts[start:]) for start in range(len(parts))]
            inside = next((held for one in ends if (held := self.folders.get(one))), set())
            if len(inside) <= MOST_NEAR:
                found |= dict.fromkeys(inside, 1.0 / (1.0 + math.log1p(len(inside)) / 2))
        return found

    def defined(self, identifiers: Sequence[str]) -> dict[str, float]:
        """Return the files that define what a task names, 1 or less where several do."""
        found: dict[str, float] = {}
        for wanted in identifiers:
            fitting = self._tables.get(f"={_last(wanted)}", set())
            share = 1.0 / max(1, len(fitting)) ** 0.5
            found |= {path: max(found.get(path, 0.0), share) for path in fitting}
        return found


def told_by(one: FileRecord) -> list[str]:
    """Return the texts of a file's definitions, headings, tags and abstract."""
    names = [f"{each.name} {each.summary}" for each in one.parts[:MOST_NAMES]]
    return [*names, *one.tags, one.abstract]


def folder_of(path: str) -> str:
    """Return the folder that a file lies in; empty at the top."""
    return path.rpartition("/")[0]


def _path_words(one: FileRecord) -> str:
    title = one.title if one.shape in ("note", "text") else ""
    return f"{one.path.rpartition('.')[0] or one.path} {_stem(one.path)} {title}"


def _last(name: str) -> str:
    return name.rpartition(".")[2].rpartition(":")[2].rpartition("#")[2].strip("()").lower()


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name
