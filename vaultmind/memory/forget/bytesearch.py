"""Search files for bytes, in a process of its own: `python bytesearch.py < request.json`.

The request is `{"roots": [...], "needles": [{"hex", "word", "encoding"}, ...]}` (encoding: empty
for UTF-8, or one of UTF-16 or UTF-32 with its byte order), the answer `{"hits": [[path,
number of the needle], ...], "unread": [[path, reason], ...], "files": n, "bytes": n}`. Needles are
in small letters; a `word` must not touch other letters. A process of its own, since closing a
file of SQLite's would take its locks from the process that has it open. Imports nothing of ours.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BLOCK = 4 << 20
MOST_WIDE = 4
"""Bytes of a letter, at most."""
UNSEEN = re.compile(rb"\xc2\xad|\xe2\x80[\x8b-\x8f]|\xe2\x81\xa0|\xef\xbb\xbf")
"""Soft hyphens and characters of no width, which may stand inside a word."""


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Return which files below the roots hold which needles."""
    needles = [
        (bytes.fromhex(one["hex"]), bool(one["word"]), str(one.get("encoding", "")))
        for one in request["needles"]
    ]
    overlap = max((len(needle) for needle, _, _ in needles), default=1) + MOST_WIDE
    answer: dict[str, Any] = {"hits": [], "unread": [], "files": 0, "bytes": 0}
    for path in _files(request["roots"]):
        try:
            found, size = _search(path, needles, overlap)
        except FileNotFoundError:
            continue
        except OSError as error:
            answer["unread"].append([path, error.strerror or type(error).__name__])
            continue
        answer["hits"] += [[path, number] for number in sorted(found)]
        answer["files"] += 1
        answer["bytes"] += size
    return answer


def _files(roots: list[str]) -> Iterator[str]:
    for root in roots:
        if Path(root).is_file():
            yield root
        for folder, _, names in os.walk(root):
            for path in (Path(folder, name) for name in names):
                try:
                    regular = stat.S_ISREG(path.lstat().st_mode)
                except OSError:
                    continue
                if regular:
                    yield str(path)


def _search(
    path: str, needles: list[tuple[bytes, bool, str]], overlap: int
) -> tuple[set[int], int]:
    found: set[int] = set()
    size, kept = 0, b""
    with Path(path).open("rb") as file:
        while block := file.read(BLOCK):
            size += len(block)
            text = kept + block.lower()
            bare, has_nul = UNSEEN.sub(b"", text), b"\0" in text
            for number, (needle, word, encoding) in enumerate(needles):
                if number in found or (encoding and not has_nul):
                    continue
                if _holds(text, needle, word, encoding) or (
                    not encoding and len(bare) < len(text) and _holds(bare, needle, word, "")
                ):
                    found.add(number)
            kept = text[-overlap:]
    return found, size


def _holds(text: bytes, needle: bytes, word: bool, encoding: str) -> bool:
    width = (4 if "32" in encoding else 2) if encoding else 1
    at = text.find(needle)
    while at >= 0:
        end = at + len(needle)
        around = text[max(0, at - width) : at], text[end : end + width]
        if not word or not any(_is_letter(one, encoding) for one in around):
            return True
        at = text.find(needle, at + 1)
    return False


def _is_letter(byte: bytes, encoding: str) -> bool:
    if encoding:
        return byte.decode(encoding, "ignore").isalnum()
    return byte.isalnum() or byte >= b"\x80"


if __name__ == "__main__":
    json.dump(main(json.load(sys.stdin)), sys.stdout)
