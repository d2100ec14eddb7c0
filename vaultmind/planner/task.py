"""What a task is about: its kind and risk by a small trained model, its words, what it names.

The model is a logistic regression over words and pieces of words, trained by
`benchmarks/train_tasks.py` on labelled tasks and on words of each kind in three languages.
"""

from __future__ import annotations

import hashlib
import math
import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from vaultmind.episodes.types import TaskMark
from vaultmind.index.words import BY_LANGUAGE, fold, skeleton, stems
from vaultmind.planner.types import TASK_KINDS, Risk, TaskKind, Understood
from vaultmind.redact import blank_passages, mask
from vaultmind.vault.oneline import one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WEIGHTS = Path(__file__).parent / "weights" / "tasks.npz"
BUCKETS = 4096
"""Features are hashed into so many places."""
RISKS: tuple[Risk, ...] = get_args(Risk)
MAX_CHARS, END_CHARS = 8_000, 2_000
"""Characters of a task that are looked at; of a longer one its start and its end."""
MAX_WORDS, MAX_TERMS, MAX_NAMED = 120, 64, 24
LEAST_ROOT = 3
"""Consonants of a word from which they stand for it, whatever its form."""
LEAST = 0.36
"""Below so likely a kind nothing is known of a task."""
VAGUE_TERMS = 2
"""A task of more telling words names something."""
TERMS, NAMED, KIND, CONTAINED = 0.65, 0.25, 0.10, 0.5
"""Shares of words, names and kind in how alike tasks are; and of a task that stands in a longer."""
OTHER = 0.2
"""Tasks less alike than this are not the same."""
LEAST_TERMS = 4
"""Telling words of a prompt that names a task of its own; fewer go on with what is done."""
MAX_KEPT = 4000
"""Characters of a prompt that are kept of it as a task."""
_GOES_ON = re.compile(
    r"\b(?:also|still|instead|again|too|undo|revert|as well|after all"
    r"|też|także|również|nadal|wciąż|zamiast|znowu|jeszcze raz|cofnij"
    r"|тоже|также|всё ещё|все еще|вместо|снова|опять|верни"
    r"|auch|immer noch|stattdessen|wieder|nochmal|aussi|encore|también|todavía)\b"
    r"|^\W*(?:no|nope|nie|нет|nein|but|ale|но|aber|yes|tak|да|ja|ok(?:ay)?)\b",
    re.IGNORECASE,
)
"""Words by which a prompt goes on with what is done. To split a task in two costs more than to
keep two together: its chain breaks."""
_CRITICAL_WORDS = """
auth authentication authorization oauth login jwt password credential secret payment billing stripe
refund platnosc platnosci logowanie haslo hasla оплата платеж пароль permission acl crypto
encryption security invoice checkout migration delete erase purge backup restore deploy production
session token guard order price schema database account
"""
_CRITICAL = frozenset(_CRITICAL_WORDS.split())
"""Words of a path that make a file critical."""
_FILE_ENDINGS = """
py pyi ipynb js mjs cjs jsx ts tsx vue svelte rs go java kt scala c h cc cpp hpp cs rb php pl swift
dart lua r jl ex sh bash ps1 bat sql html css scss md mdx rst txt adoc org tex json jsonl yaml yml
toml ini cfg conf env lock xml csv tsv proto tf gradle log canvas pdf png jpg svg db
"""
_ENDINGS = frozenset(_FILE_ENDINGS.split())
_FOLDERS = frozenset({"src", "lib", "app", "tests", "test", "docs", "packages", "api", "scripts"})
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://\S+", re.IGNORECASE)
_FRAME = re.compile(r"File \"([^\"\n]{1,400})\", line \d+(?:, in ([\w.]{1,120}))?")
_TRACE = re.compile(r"Traceback|\bat [\w.$<>]+\(|\bline \d+|\b\w+(?:Error|Exception)\b|panic:")
_PATH = re.compile(
    r"(?<![\w@/\\.+-])(?:\.{1,2}|~)?[/\\]?(?:[\w@+.\-]{1,120}[/\\]){0,30}"
    r"[\w@+.\-]{0,120}\w(?!\w)[/\\]?"
)
_CODE = re.compile(r"`{1,2}([^`\n]{1,120})`{1,2}")
_WIKILINK = re.compile(r"\[\[([^\[\]|#\n]{1,200})(?:[#|][^\[\]\n]*)?\]\]")
_REFERENCE = re.compile(
    r"(?<![\w/#&])(#\d{1,7}|(?!UTF|ISO|SHA|RFC|HTTP)[A-Z][A-Z0-9]{1,9}-\d{1,7}|CVE-\d{4}-\d{4,7}"
    r"|(?:GH|PR|MR)[ -]?#?\d{1,7}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40})(?![\w-])"
)
_IDENTIFIER = re.compile(
    r"(?<![\w./\\-])(--[a-z][\w-]{1,60}|[A-Za-z_$][\w$]{0,80}(?:(?:\.|::|->|#)[A-Za-z_$][\w$]{0,80})"
    r"{0,8}(?:\(\))?)(?![\w/\\])"
)
_WRITTEN_AS_CODE = re.compile(
    r"--|.*\(\)$|_*[^\W_]{3,}_+$|_+[^\W_]{3,}|.*[^\W_]_+[^\W_]|.*(?:::|->)"
    r"|(?:[\w$]{2,}\.)+(?!com$)[\w$]{2,}$|.*[a-z0-9][A-Z]|.*[A-Z]{2}[a-z]{2}"
)
"""A word that is written as code is: `a_b`, `_a`, `aB`, `aa.bb`, `a()`, `--a`, `a::b`."""
_LINE = re.compile(r"(?::\d+){1,2}$|#L\d+(?:-L?\d+)?$")
_PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_NOISE = re.compile(
    r"\b0x[0-9a-fA-F]+\b|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
    r"|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?\b|\bline \d+\b|(?<=\w):\d+(?::\d+)?\b"
)
_BLOB = re.compile(r"(\S{200})\S+")
_LABEL = re.compile(r"\[?\b(?:bug|fix|feat|feature|docs|chore|refactor|perf|style)\b(?=[](:])")
_SHORTENED = re.compile(r"(?:n)?['’ʼ](?:t|s|re|ve|ll|d|m)\b", re.IGNORECASE)
_PREFIX = re.compile(r"\s*(?:[-*>#]+\s*)?\[?([\w-]{2,20})\]?(?:\([^()\n]{0,60}\))?!?:\s")


def understand(task: str, source: str, kind: TaskKind | Literal[""] = "") -> Understood:
    """Return what a task over a source is about; a `kind` that is given is believed.

    Of a long task its start and its end are looked at, so a megabyte takes milliseconds, too.
    """
    text = _bounded(task)
    language = _language_of(text)
    paths, identifiers, references = entities_of(text)
    terms = _terms(text, language)
    kinds, risks, why = _judged(text)
    predicted: TaskKind = kind or TASK_KINDS[_best(kinds)]
    if not (kind or terms or paths):
        predicted, why = "unknown", "it names no subject"
    elif not kind and max(kinds) < LEAST:
        predicted, why = "unknown", "no words show the kind of work"
    parts = [source, predicted, *sorted(terms), "#", *references]
    parts += [task] if len(task) > MAX_CHARS else []
    told = hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
    return Understood(
        predicted=predicted,
        confidence=1.0 if kind else round(max(kinds), 3),
        task_fingerprint=told,
        risk=RISKS[_best(risks)],
        language=language,
        terms=terms,
        paths=paths,
        identifiers=identifiers,
        references=references,
        reasons=(f"{kind}: as asked for" if kind else f"{predicted}: {why}",),
    )


def names_nothing(task: str) -> bool:
    """Tell whether a task says only that something be done: `go on`, a command of the host's."""
    if not task.strip() or re.fullmatch(r"\s*/[\w:-]+\s*", task):
        return True
    told = understand(task, "")
    named = told.paths or told.identifiers or _TRACE.search(task)
    few = len(told.terms) <= VAGUE_TERMS
    return not named and (not told.terms or (told.predicted == "unknown" and few))


# --- the model ----------------------------------------------------------------------------


def features_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield the features of a text, and the word that each is of."""
    words = re.findall(r"[^\W_]+|[?!]", fold(text[:2000]))[:MAX_WORDS]
    before = "^"
    for place, word in enumerate(words):
        yield f"w {word}", word
        yield f"b {before} {word}", word
        if place < 2:  # noqa: PLR2004  # a task often begins with what is to be done
            yield f"s{place} {word}", word
        edged = f"<{word}>"
        for size in (3, 4, 5):
            for at in range(len(edged) - size + 1):
                yield f"c {edged[at : at + size]}", word
        yield f"p {word[:5]}", word
        before = word
    if found := _PREFIX.match(text):
        yield f"prefix {fold(found[1])}", found[1]
    if text.rstrip().endswith("?"):
        yield "question", "?"
    if found := _TRACE.search(text):
        yield "trace", found[0]


def bucket_of(feature: str) -> int:
    """Return the place that a feature is hashed into."""
    return zlib.crc32(feature.encode("utf-8", "replace")) % BUCKETS


@cache
def _weights() -> NDArray[np.float32]:
    """Return the weights: a row a bucket and one for no feature, a column a kind or risk."""
    import numpy as np

    with np.load(WEIGHTS) as held:
        weights: NDArray[np.float32] = held["weights"].astype(np.float32) * held["scale"]
    return weights


@lru_cache(maxsize=256)
def _judged(text: str) -> tuple[list[float], list[float], str]:
    """Return how likely each kind and each risk is, and the words that speak for the kind."""
    import numpy as np

    weights, places = _weights(), dict[int, str]()
    for feature, word in features_of(text):
        places.setdefault(bucket_of(feature), word)
    rows = weights[[*places]] / math.sqrt(max(1, len(places)))
    scores = rows.sum(axis=0) + weights[BUCKETS]
    some = len(TASK_KINDS)
    shares = []
    for part in (scores[:some], scores[some:]):
        odds = np.exp(part - part.max())
        shares.append([float(one) for one in odds / odds.sum()])
    best = _best(shares[0])
    worth: dict[str, float] = {}
    for row, word in zip(rows[:, best] - rows[:, :some].mean(axis=1), places.values(), strict=True):
        worth[word] = worth.get(word, 0.0) + float(row)
    told = sorted((word for word in worth if worth[word] > 0), key=lambda word: -worth[word])
    why = ", ".join(f"“{word}”" for word in told[:3])
    return shares[0], shares[1], why or "no word shows the kind"


def _best(shares: Sequence[float]) -> int:
    return max(range(len(shares)), key=lambda at: shares[at])


# --- words --------------------------------------------------------------------------------


def _bounded(task: str) -> str:
    """Return what of a task is looked at; of a blob its start, which keeps patterns quick."""
    if len(task) > MAX_CHARS:
        task = f"{task[: MAX_CHARS - END_CHARS]}\n{task[-END_CHARS:]}"
    return _BLOB.sub(r"\1", task)


def _language_of(text: str) -> str:
    """Return the language of a task: by its script, its letters and its small words."""
    cyrillic, latin = len(re.findall(r"[\u0400-\u052f]", text)), len(re.findall("[A-Za-z]", text))
    lowered = text.lower()
    if cyrillic * 3 > latin:
        return "uk" if re.search("[їєґі]", lowered) and not re.search("[ыэёъ]", lowered) else "ru"
    if not latin:
        return ""
    words = set(re.findall(r"[^\W\d_]+", lowered))
    small = {code: len(words & BY_LANGUAGE[code]) for code in ("en", "pl", "de", "fr", "es", "it")}
    small["pl"] += 2 * min(len(re.findall("[ąćęłńśźż]", lowered)), 3)
    return max(small, key=lambda code: (small[code], code == "en"))


@lru_cache(maxsize=64)
def _terms(text: str, language: str) -> frozenset[str]:
    """Return one root for each telling word of a text; identifiers and paths by their parts."""
    told: set[str] = set()
    text = _SHORTENED.sub("", _LABEL.sub("", text))
    for piece in _PIECE.findall(_NOISE.sub(" ", text)):
        folded = fold(piece)[:40]
        if folded.isdecimal():
            told.add(folded.lstrip("0") or "0")
        elif len(folded) > 1 and not any(folded in BY_LANGUAGE[one] for one in ("en", "pl", "ru")):
            told.add(_root(piece, language))
        if len(told) >= MAX_TERMS:
            break
    return frozenset(told)


@lru_cache(maxsize=20_000)
def _root(piece: str, language: str) -> str:
    """Return the stem of a word, or the root that its forms share where stemmers leave them."""
    stem = stems(piece.lower()[:40], language or "en")[0]
    root = skeleton(stem) if language == "pl" or not stem.isascii() else ""
    return root if len(root) >= LEAST_ROOT else stem


# --- how alike tasks are ------------------------------------------------------------------


@lru_cache(maxsize=4096)
def earlier_task(text: str, kind: str, fingerprint: str, source: str) -> Understood:
    """Return what an earlier task is about: its kind and its fingerprint stand."""
    known: TaskKind = next((one for one in TASK_KINDS if one == kind), "unknown")
    told = understand(text, source, known)
    return replace(told, task_fingerprint=fingerprint or told.task_fingerprint)


def alike(a: Understood, b: Understood) -> float:
    """Return how alike two tasks are, from 0 to 1: 1 for the same, 0 for none of their words."""
    if a.task_fingerprint == b.task_fingerprint:
        return 1.0
    about = _overlap(a.terms, b.terms)
    mine, theirs = a.names, b.names
    if mine and theirs:
        about = (TERMS * about + NAMED * _overlap(mine, theirs)) / (TERMS + NAMED)
    same = KIND if a.predicted == b.predicted and a.predicted != "unknown" else 0.0
    return round(min(1.0, (1.0 - KIND) * about + same * math.sqrt(about)), 4)


def _overlap(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    both = len(one & other)
    if not both:
        return 0.0
    jaccard, contained = both / (len(one) + len(other) - both), both / min(len(one), len(other))
    return (1.0 - CONTAINED) * jaccard + CONTAINED * contained * min(1.0, both / 2)


# --- what a task names --------------------------------------------------------------------


@lru_cache(maxsize=50_000)
def risk_of_path(path: str) -> float:
    """Return how critical a file is by its path, from 0 to 1: sign-in and payment most."""
    parts = {fold(part).removesuffix("s") for part in _PIECE.findall(path)}
    is_harmless = parts & {"test", "spec", "fixture", "example", "doc", "mock"}
    return float(bool(parts & _CRITICAL)) * (0.5 if is_harmless else 1.0)


def entities_of(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the files, identifiers and references that a text names, each once, in its order.

    Paths are as written, with `/` between folders and without the line that follows them.
    """
    text = _URL.sub(" ", text)
    paths = [match[1] for pattern in (_FRAME, _WIKILINK) for match in pattern.finditer(text)]
    paths += [match[0].strip() for match in _PATH.finditer(text) if _is_path(match[0].strip())]
    tidy = [re.sub(r"^(?:\./)+", "", _LINE.sub("", one.replace("\\", "/"))) for one in paths]
    names = [match[2] for match in _FRAME.finditer(text) if match[2]]
    names += [
        re.sub(r"^(?:self|this|cls)(?:\.|->)", "", match[1])
        for match in _IDENTIFIER.finditer(text)
        if match[1] not in tidy and _WRITTEN_AS_CODE.match(match[1])
    ]
    codes = (match[1].strip() for match in _CODE.finditer(text))
    names += [one for one in codes if re.fullmatch(r"[A-Za-z_]\w{2,}(?:\(\))?", one)]
    references = (match[1] for match in _REFERENCE.finditer(text))
    each = (tidy, (one.removesuffix("()") for one in names), references)
    return tuple(tuple(dict.fromkeys(found))[:MAX_NAMED] for found in each)


def _is_path(word: str) -> bool:
    """Tell whether a word names a file or a folder rather than a module, a version or a choice."""
    bare = word.rstrip("/\\")
    name = re.split(r"[/\\]", bare)[-1]
    stem, dot, ending = _LINE.sub("", name).rpartition(".")
    if dot and ending.lower() in _ENDINGS and (stem or "/" in bare):
        return bare.casefold() not in ("node.js", "vue.js", "next.js", "react.js", "three.js")
    parts = [one for one in re.split(r"[/\\]", word) if one not in ("", ".", "..", "~")]
    is_deep = len(parts) > 2 or word[0] in "./~\\" or word[-1] in "/\\"  # noqa: PLR2004
    known = name in ("Makefile", "Dockerfile", "README", "CHANGELOG", "LICENSE", "Gemfile")
    slashed = (len(parts) > 1 or word != bare) and not bare[-1:].isdigit()
    return known or (slashed and (is_deep or parts[0] in _FOLDERS))


# --- prompts as tasks ---------------------------------------------------------------------


def task_mark(prompt: str, source: str, kind: TaskKind | Literal[""] = "") -> TaskMark:
    """Return a prompt as episodes keep it: masked, on one line, with what it is about.

    What it is about is told by the whole prompt, as for a plan: their fingerprints are the same.
    """
    told = understand(prompt, source, kind)
    words = one_line(mask(blank_passages(prompt)).text)[:MAX_KEPT]
    return TaskMark(words, told.predicted, told.task_fingerprint, told.risk, told.references)


def is_another(before: Sequence[str], prompt: str, touched: Collection[str]) -> bool:
    """Tell whether a prompt names a task of its own, unlike all before it.

    One that names a file that was touched, or says little, goes on with what is done.
    """
    told = understand(prompt, "")
    named, known = (
        {one.rsplit("/", 1)[-1].casefold().partition(".")[0] for one in paths}
        for paths in ((*told.paths, *told.identifiers), touched)
    )
    if named & known or len(told.terms) < LEAST_TERMS or _GOES_ON.search(prompt):
        return False
    return all(alike(understand(one, ""), told) < OTHER for one in before)
