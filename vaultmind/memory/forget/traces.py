"""Looking for what was erased in the raw bytes of files, and in the log."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from vaultmind.memory.forget import bytesearch
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.memory.words import fold, tokens

WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
WIDE_FROM = 6
"""Bytes of a text in one of these, from which it is told from numbers."""
WORD_BELOW = 6
"""Letters: shorter needles are looked for as whole words."""
LEAST_BYTES = 2
MOST_TEXTS = 24
"""Wordings that are looked for: what was asked for, the facts, and sentences that said it."""
LONGEST = 160
"""Characters of a sentence that are looked for."""
SEARCH_SECONDS = 600.0
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
    files: int = 0
    bytes: int = 0
    faults: tuple[str, ...] = ()


def wordings(wanted: Wanted, texts: Iterable[str]) -> tuple[str, ...]:
    """Return what to look for: the words wanted, and the sentences of texts that said them."""
    found = dict.fromkeys(wanted.texts)
    for text in texts:
        if len(found) >= MOST_TEXTS:
            break
        for start, end in wanted.spans(text):
            line = max(text[start:end].splitlines(), key=len, default="").strip()[:LONGEST]
            known = any(one.casefold() in line.casefold() for one in found)
            if wanted.says(line) and not known:
                found[line] = None
    return tuple(found)[:MOST_TEXTS]


def search(roots: Sequence[Path], texts: Sequence[str], vectors: Sequence[bytes] = ()) -> Traces:
    """Return the files below the roots that hold a text, in any case, or a vector's beginning."""
    needles = [(needle, text, "") for text in texts for needle in variants(text)]
    needles += [(raw.lower(), "", "") for raw in vectors if len(set(raw)) >= _VARIED]
    needles += [
        (needle, text, encoding)
        for encoding in WIDE
        for text in texts
        for needle in wide(text, encoding)
    ]
    request = {
        "roots": [str(root) for root in roots],
        "needles": [
            {
                "hex": needle.hex(),
                "word": bool(text) and len(text) < WORD_BELOW,
                "encoding": encoding,
            }
            for needle, text, encoding in needles
        ],
    }
    command = [sys.executable, "-P", bytesearch.__file__]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(request).encode(),
            capture_output=True,
            timeout=SEARCH_SECONDS,
            check=True,
        )
        answer = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return Traces((), faults=(f"raw bytes could not be searched ({type(error).__name__})",))
    found = dict.fromkeys((path, needles[number][1]) for path, number in answer["hits"])
    unread = tuple(f"{path} could not be read ({reason})" for path, reason in answer["unread"])
    traces = tuple(Trace(Path(path), text) for path, text in found)
    return Traces(traces, answer["files"], answer["bytes"], unread)


def variants(text: str) -> tuple[bytes, ...]:
    """Return a text as it may stand in a file: small, capital, without diacritics, as JSON."""
    plain = {text, text.lower(), text.upper(), text.title(), fold(text)}
    plain.add(" ".join(fold(token) for token in tokens(text)))
    written = {form for one in plain for form in (one, _json(one, True), _json(one, False))}
    raw = {form.encode("utf-8", "replace").lower() for one in written for form in _composed(one)}
    return tuple(sorted(one for one in raw if len(one) >= LEAST_BYTES))


def wide(text: str, encoding: str) -> tuple[bytes, ...]:
    """Return a text as it may stand in a file of another encoding."""
    plain = {text, text.lower(), text.upper(), text.title(), fold(text)}
    forms = {form for one in plain for form in _composed(one)}
    raw = {form.encode(encoding, "replace").lower() for form in forms}
    return tuple(sorted(one for one in raw if len(one) >= WIDE_FROM))


def _composed(text: str) -> tuple[str, str]:
    return unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)


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


def _json(text: str, ascii_only: bool) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]
