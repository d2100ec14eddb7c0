"""The graph of a source: names, words, and which file links to, imports or tests which.

An import is made a path, and means the nearest file of its family that ends so. What the name alone
cannot say (settings of bundlers and compilers, names of packages) is not asked.
"""

from __future__ import annotations

import math
import posixpath
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Generic, Literal, TypeVar

from vaultmind.index.notes import folded, meant
from vaultmind.index.words import BY_LANGUAGE, fold, stems
from vaultmind.planner.records import INSTALL, endings, language, language_of
from vaultmind.planner.types import FileRecord, Link

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
_RAW = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\dA-Za-z_]+")
MOST_EDGES = 1000
"""Edges of one file."""
MOST_OF_A_NAME = 200
"""Files of one name that are looked at: more are a convention's."""
MOST_LIKE = 3
"""Files that a test is named like, or that an index file takes one name from."""
CODE_SHARE = 0.15
"""Share of code files from which a source is one of code."""
_PLAIN_FOLDERS = frozenset({"src", "lib"})
"""Folders that an import does not name."""
_TEST_MARKS = re.compile(
    r"^(?:test|tests|spec)(?:[_-]|(?=[A-Z]))|(?:[_-](?:test|tests|spec|unittest)|Tests?|Spec|IT)$"
)
_NO_NAMES = frozenset({"init", "index", "main", "mod", "lib", "conftest", "utils", "helpers", ""})
Edge = tuple[str, str]
"""How (`import`, `link`, `embed`, `tests`), and the file at the other end."""
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


def told_by(one: FileRecord) -> list[str]:
    """Return the texts of a file's definitions, headings, tags and abstract."""
    names = [f"{each.name} {each.summary}" for each in one.parts[:MOST_NAMES]]
    return [*names, *one.tags, one.abstract]


def folder_of(path: str) -> str:
    """Return the folder that a file lies in; empty at the top."""
    return path.rpartition("/")[0]


def path_words(one: FileRecord) -> str:
    """Return what a file is called: by its path, its name and its title."""
    stem = one.path.rpartition("/")[2]
    title = one.title if one.shape in ("note", "text") else ""
    return f"{one.path.rpartition('.')[0] or one.path} {stem.rpartition('.')[0] or stem} {title}"


class Graph:
    """Edges between the files of a source. Read by any thread, updated by one at a time."""

    def __init__(self, records: Mapping[str, FileRecord] | None = None) -> None:
        self._records: dict[str, FileRecord] = {}
        self._out: dict[str, tuple[Edge, ...]] = {}
        self._into: defaultdict[str, set[Edge]] = defaultdict(set)
        self._tables: defaultdict[str, set[str]] = defaultdict(set)
        """Files by what they are looked up by: `name`, `=definition`."""
        self._given: dict[str, set[str]] = {}
        """The names that others may take from a file."""
        self._askers: defaultdict[str, set[str]] = defaultdict(set)
        """Which files looked for what."""
        self._asking = ""
        self.folders: defaultdict[str, set[str]] = defaultdict(set)
        """Of each folder the files that lie in it."""
        self.stuff: Literal["code", "notes"] = "notes"
        """What the source is made of, as far as ranking goes."""
        self.unread = 0
        """Files of code that are text only, since what reads them is missing."""
        self.update(records or {})

    def update(self, changed: Mapping[str, FileRecord | None]) -> None:
        """Take records that changed; None: the file is gone.

        Found anew are the edges of the files that changed, of those that lead to them, and of
        those that looked for a name that came or went; all, where a folder's own file did.
        """
        if not changed:
            return
        touched = {*changed, *(source for path in changed for _, source in self.into(path))}
        moved = {path for path, one in changed.items() if (path in self._records) == (one is None)}
        for path, record in changed.items():
            before, beside = self._keys(path), self.folders[folder_of(path)]
            self._records.pop(path, None)
            beside.discard(path)
            if record is not None:
                self._records[path], self._given[path] = record, _given(record)
                beside.add(path)
            after = self._keys(path)
            for key in before ^ after:
                held = self._tables[key]
                held.add(path) if key in after else held.discard(path)
                touched |= self._askers[key]
        records = self._records.values()
        code = sum(one.shape == "code" for one in records)
        self.stuff = "code" if code >= CODE_SHARE * max(1, len(records)) else "notes"
        self.unread = sum(INSTALL in one.fault for one in records)
        if any(map(_is_index, moved)):
            touched |= self._records.keys()
        for path in touched:
            self._connect(path)

    def out(self, path: str) -> tuple[Edge, ...]:
        """Return what a file leads to; of a test, what it tests: what it is named like first."""
        return self._out.get(path, ())

    def into(self, path: str) -> tuple[Edge, ...]:
        """Return what leads to a file, by path."""
        return tuple(sorted(self._into.get(path, ()), key=lambda one: one[::-1]))

    def tests_of(self, path: str) -> list[str]:
        """Return the tests that touch a file: those named like it first, then the nearest."""
        tests = [test for kind, test in self.into(path) if kind == "tests"]
        return sorted(tests, key=lambda one: (_core(one) != _key(path), _far(path, one)))

    # --- names ---------------------------------------------------------------------------

    def named(self, paths: Iterable[str]) -> dict[str, float]:
        """Return the files that a task names by path: 1, or less where a name fits several."""
        found: dict[str, float] = {}
        for wanted in paths:
            name = wanted.strip("./").replace("\\", "/").lower()
            fitting = self._tables.get(_key(name), ())
            ends = (f"/{name}", f"/{name}.md")
            ending = [one for one in fitting if f"/{one.lower()}".endswith(ends)]
            # a longer name, as a traceback has it, ends in a file of the source
            under = ending or [one for one in fitting if name.endswith(f"/{one.lower()}")]
            found |= {path: max(found.get(path, 0.0), 1.0 / len(under)) for path in under}
        return found

    def defined(self, identifiers: Iterable[str]) -> dict[str, float]:
        """Return the files that define what a task names, 1 or less where several do."""
        found: dict[str, float] = {}
        for wanted in identifiers:
            fitting = self._tables.get(f"={re.split('[.:#]', wanted.strip('()'))[-1].lower()}", ())
            share = 1.0 / max(1, len(fitting)) ** 0.5
            found |= {path: max(found.get(path, 0.0), share) for path in fitting}
        return found

    # --- building ------------------------------------------------------------------------

    def _keys(self, path: str) -> set[str]:
        """Return by what others find a file."""
        record = self._records.get(path)
        if record is None:
            return set()
        folder = folder_of(path)
        around = {_key(folder), _key(_bare(folder))} if _is_index(path) else set()
        names = (f"={one.name.rpartition('.')[2].lower()}" for one in record.definitions)
        return {_key(path), *around, *names}

    def _connect(self, path: str) -> None:
        for kind, target in self._out.pop(path, ()):
            self._into[target].discard((kind, path))
        self._asking = path
        if path in self._records:
            self._out[path] = tuple(self._edges(self._records[path]))[:MOST_EDGES]
            for kind, target in self._out[path]:
                self._into[target].add((kind, path))

    def _look(self, key: str) -> list[str]:
        """Return the files of a key, and note who asked."""
        self._askers[key].add(self._asking)
        return sorted(self._tables.get(key, ()))[:MOST_OF_A_NAME]

    def _definers(self, record: FileRecord, name: str) -> list[str]:
        found = self._look(f"={name.lower()}")
        return [it for it in found if name in self._given[it] and self._is_kin(record, it)]

    def _edges(self, record: FileRecord) -> list[Edge]:
        found, imports = dict[Edge, None](), dict[str, None]()
        for link in record.links:
            if link.kind == "import":
                imports |= dict.fromkeys(self._imported(record, link))
            else:
                found[link.kind, self._linked(record.path, link.name)] = None
        for name in record.uses:
            only = self._definers(record, name)
            imports |= dict.fromkeys(only if len(only) == 1 else ())
        found |= {("import", target): None for target in imports}
        if record.test:
            found |= {("tests", target): None for target in self._tested(record, imports)}
        return [edge for edge in found if edge[1] not in ("", record.path)]

    # --- imports -------------------------------------------------------------------------

    def _imported(self, record: FileRecord, link: Link) -> Iterator[str]:
        """Yield the files that an import means, and those its names come from by an index file."""
        for path in filter(None, self._meant(record, link)):
            yield path
            for name in link.names if _is_index(path) else ():
                if name not in self._given[path]:
                    below = f"{folder_of(path)}/".removeprefix("/")
                    given = [one for one in self._definers(record, name) if one.startswith(below)]
                    yield from given if len(given) <= MOST_LIKE else ()

    def _meant(self, record: FileRecord, link: Link) -> list[str]:
        """Return files: of Python's `from a import b` the module `a.b` where there is one."""
        wanted, exact = _path_of(record, link.name)
        own = self._nearest(record, wanted, exact=exact)
        if _family(record) != "python" or (own and not _is_index(own)):
            return [own]
        each = (posixpath.join(wanted, name) for name in link.names if name != "*")
        found = [it for one in each if (it := self._nearest(record, one, exact=exact))]
        return found if found and len(found) == len(link.names) else [*found, own]

    def _nearest(self, record: FileRecord, wanted: str, *, exact: bool) -> str:
        """Return the nearest file of a record's family whose path ends so, or is so."""
        stem, ending = posixpath.splitext(wanted)
        ends = {_bare(wanted), _bare(stem if ending[1:] in endings() else wanted)}
        found = []
        for path in self._look(_key(wanted)):
            forms = [_bare(one) for one in (path, posixpath.splitext(path)[0], _module(path))]
            fits = any(form == end or (not exact and form.endswith(f"/{end}"))
                       for form in forms for end in ends)  # fmt: skip
            is_kin = self._records[path].shape != "code" or self._is_kin(record, path)
            if fits and is_kin and (exact or self._may_be(record, path, wanted)):
                found.append(path)
        return min(found, key=lambda one: _far(record.path, one), default="")

    def _may_be(self, record: FileRecord, path: str, wanted: str) -> bool:
        """Tell whether a name can mean a file: Python's begins below a folder that is no package.

        `import types` means the standard library's unless such a file lies beside the importer.
        """
        if _family(record) != "python":
            return True
        root = _module(path)[: -len(wanted)].rstrip("/")
        if root and any(f"{root}/__init__.{one}" in self._records for one in ("py", "pyi")):
            return False
        is_standard = wanted.partition("/")[0] in sys.stdlib_module_names
        return not root or not is_standard or folder_of(record.path) == root

    def _is_kin(self, record: FileRecord, path: str) -> bool:
        return _family(self._records[path]) == _family(record)

    # --- links and tests -----------------------------------------------------------------

    def _linked(self, here: str, name: str) -> str:
        """Return the file that a wikilink or relative path means, as Obsidian finds it."""
        target = name.partition("|")[0].partition("#")[0].strip()
        if not target or target.startswith("//") or ":" in target.partition("/")[0]:
            return ""
        parts = [one for one in folded(target).split("/") if one.strip(".")]
        return meant(self._look(_key(target)), "/".join(parts), here) if parts else ""

    def _tested(self, record: FileRecord, imports: Iterable[str]) -> list[str]:
        """Return the files that a test touches: named like it, the nearest first; or imported."""
        core = _core(record.path)
        like = {*self._look(core), *self._look(core.replace("_", ""))} if core else set()
        named = [it for it in like if self._is_code(it) and self._is_kin(record, it)]
        named.sort(key=lambda one: _far(record.path, one))
        return [*named[:MOST_LIKE], *filter(self._is_code, imports)]

    def _is_code(self, path: str) -> bool:
        return self._records[path].shape == "code" and not self._records[path].test


# --- paths --------------------------------------------------------------------------------


@lru_cache(maxsize=65_536)
def _key(path: str) -> str:
    """Return what a file is looked up by: its name up to the first dot, folded."""
    name = path.rpartition("/")[2].lstrip(".").partition(".")[0]
    return unicodedata.normalize("NFC", name).casefold().replace("-", "_")


@lru_cache(maxsize=65_536)
def _module(path: str) -> str:
    """Return the path by which a file of code is imported: without ending, and without `index`."""
    folder, _, name = path.rpartition("/")
    return folder if _is_index(path) else f"{folder}/{name.partition('.')[0]}".lstrip("/")


@lru_cache(maxsize=65_536)
def _bare(path: str) -> str:
    """Return a path without the folders that no import names."""
    return "/".join(one for one in path.split("/") if one not in _PLAIN_FOLDERS).replace("-", "_")


@lru_cache(maxsize=65_536)
def _is_index(path: str) -> bool:
    """Tell whether a file stands for the folder it lies in, as `index.ts` does."""
    return path.rpartition("/")[2].partition(".")[0] in language(language_of(path)).index_files


def _family(record: FileRecord) -> str:
    one = language(record.language)
    return one.family or one.name


def _path_of(record: FileRecord, name: str) -> tuple[str, bool]:
    """Return an import's name as a path, and whether that is whole: from the file that imports."""
    family, folder = _family(record), folder_of(record.path)
    if family == "python":
        bare, base = name.lstrip("."), record.path
        for _ in range(len(name) - len(bare)):
            base = folder_of(base)
        is_relative = bare != name
        return posixpath.join(base if is_relative else "", bare.replace(".", "/")), is_relative
    name = re.sub(r"(?<!^)[?#].*$|^[\w-]+!", "", name).strip()
    if name.startswith("."):
        return posixpath.normpath(posixpath.join(folder, name)), True
    if family == "javascript" and "/" not in name:
        return "", False  # a package of npm's
    return name.replace(".", "/") if family == "jvm" else name.lstrip("@~#/"), False


def _given(record: FileRecord) -> set[str]:
    """Return the names that others may take from a file: those of its top, and of its modules."""
    modules = {one.name for one in record.definitions if one.kind == "module"}
    parted = (one.name.rpartition(".") for one in record.definitions)
    return modules | {name for around, _, name in parted if not around or around in modules}


def _far(one: str, other: str) -> tuple[int, int, str]:
    """Return how far another path lies from one: by the folders they do not share, by length."""
    shared = posixpath.commonpath(["/" + folder_of(one), "/" + folder_of(other)])
    return -shared.count("/") if shared != "/" else 0, len(other), other


def _core(path: str) -> str:
    """Return what a test's name is about: `cart` of `test_cart.py`; or empty."""
    name, *more = path.rpartition("/")[2].split(".")
    core = _key(_TEST_MARKS.sub("", _TEST_MARKS.sub("", name)))
    is_test = _TEST_MARKS.search(name) or not {"test", "spec"}.isdisjoint(more)
    return core if is_test and core not in _NO_NAMES else ""
