"""Looking for what was erased in the raw bytes of files, and in the log."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vaultmind.memory.forget.wanted import Wanted
from vaultmind.memory.words import fold, tokens

WORD_BELOW = 6
"""Letters: shorter wordings are looked for as whole words."""
LEAST_BYTES = 2
MOST_TEXTS = 24
"""Wordings that are looked for: what was asked for, the facts, and sentences that said it."""
LONGEST = 160
"""Characters of a sentence that are looked for."""
_BLOCK = 4 << 20
_VARIED = 8
"""Different bytes that a vector's beginning must have to be told from padding."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A file that holds the bytes of something that was to be erased."""

    path: Path
    text: str
    """The wording it holds; empty for a vector."""


@dataclass(frozen=True, slots=True)
class Traces:
    """What a search over raw bytes found."""

    found: tuple[Trace, ...]
    faults: tuple[str, ...] = ()


def wordings(wanted: Wanted, texts: Iterable[str]) -> tuple[str, ...]:
    """Return what to look for: the words wanted, and the sentences of texts that said them."""
    found = dict.fromkeys(wanted.texts)
    for text in texts:
        for start, end in wanted.spans(text):
            line = max(text[start:end].splitlines(), key=len, default="").strip()[:LONGEST]
            known = any(one.casefold() in line.casefold() for one in found)
            if wanted.says(line) and not known:
                found[line] = None
    return tuple(found)[:MOST_TEXTS]


def search(roots: Sequence[Path], texts: Sequence[str], vectors: Sequence[bytes] = ()) -> Traces:
    """Return the files below the roots that hold a text, in any case, or a vector's beginning."""
    needles = [(needle, text) for text in texts for needle in variants(text)]
    needles += [(raw.lower(), "") for raw in vectors if len(set(raw)) >= _VARIED]
    overlap = max((len(needle) for needle, _ in needles), default=0) + 1
    found: dict[Trace, None] = {}
    faults: list[str] = []
    for path in (path for root in roots for path in _files(root)):
        try:
            found |= {Trace(path, text): None for text in _held(path, needles, overlap)}
        except FileNotFoundError:
            continue
        except OSError as error:
            faults.append(f"{path} could not be read ({error.strerror or type(error).__name__})")
    return Traces(tuple(found), tuple(faults))


def variants(text: str) -> tuple[bytes, ...]:
    """Return a text as it may stand in a file: as it is, without diacritics, as JSON."""
    plain = {text, fold(text), " ".join(fold(token) for token in tokens(text))}
    plain |= {one.upper() for one in plain} | {one.lower() for one in plain}
    written = {form for one in plain for form in (one, _json(one, True), _json(one, False))}
    raw = {form.encode("utf-8", "replace").lower() for form in written}
    return tuple(sorted(one for one in raw if len(one) >= LEAST_BYTES))


def blank_logs(folder: Path, wanted: Wanted) -> int:
    """Write over the lines of a folder's logs that say it, in place; return how many."""
    blanked = 0
    for path in sorted(folder.glob("*.log*")):
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("r+b") as file:
            offset = 0
            for line in file.read().split(b"\n"):
                if wanted.says(line.decode("utf-8", "replace")):
                    file.seek(offset)
                    file.write(b"-" * len(line))
                    blanked += 1
                offset += len(line) + 1
    return blanked


def _files(root: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(root):
        for path in (Path(folder, name) for name in names):
            if path.is_file() and not path.is_symlink():
                yield path


def _held(path: Path, needles: Sequence[tuple[bytes, str]], overlap: int) -> Iterator[str]:
    """Yield the wordings that a file holds."""
    kept = b""
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            data = kept + block.lower()
            yield from (text for needle, text in needles if _holds(data, needle, text))
            kept = data[-overlap:]


def _holds(data: bytes, needle: bytes, text: str) -> bool:
    at = data.find(needle)
    while at >= 0:
        end = at + len(needle)
        around = data[max(0, at - 1) : at] + data[end : end + 1]
        if not 0 < len(text) < WORD_BELOW or not any(chr(byte).isalnum() for byte in around):
            return True
        at = data.find(needle, at + 1)
    return False


def _json(text: str, ascii_only: bool) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]
