"""The chain over an audit file: whoever changes, adds, moves or drops a line shows.

Each line carries `prev`, the digest of the chained part of the line before it, and in `sums` a
salted digest of each of its texts:

    {"time": …, "before": "", "after": "Likes tea", …, "prev": "9f…", "sums": {"after": "c1…"},
     "salts": {"after": "77…"}}

The chained part holds the sums and neither texts nor salts. An erasure takes a text with its
salt, so that no one can even try words against the sum, and the chain holds as before. Lines
from before there was a chain stand at the head of a file; a line torn by a crash is passed over.

No secret is involved: who rewrites the whole file consistently, or cuts off its end, is found
only by a digest kept elsewhere (`verify(…, known_head=…)`).
"""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from vaultmind.memory.audit.lines import (
    ID_CHARS,
    SALTS,
    SUMS,
    TEXTS,
    AuditLine,
    chained_digest,
    is_sound,
    load,
    parse_line,
    record,
    text_digest,
)

PREV = "prev"
_SURROGATES = re.compile("[\ud800-\udfff]")

Salt = Callable[[], str]


def new_salt() -> str:
    """Return a fresh salt, 128 bits of it."""
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True)
class ChainFault:
    """A place where an audit file is not as it was written."""

    line: int
    """Counted from 1; 0 for the file as a whole."""
    what: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check of an audit file found."""

    faults: tuple[ChainFault, ...]
    chained: int
    unchained: int
    """Lines before the first chained one: nothing vouches for them."""
    erased: int
    """Lines whose texts were erased; allowed, and counted."""
    torn: int
    """Unreadable lines between whole links: a crash, or somebody's addition."""
    head: str
    """The digest of the last chained line; empty without one."""


def chain(line: AuditLine, prev: str, salt: Salt = new_salt) -> dict[str, Any]:
    """Return an audit line as the link that follows `prev`; empty for a file's first link."""
    value = _storable(record(line))
    salts = {key: salt() for key in TEXTS if value.get(key)}
    sums = {key: text_digest(salts[key], value[key]) for key in salts}
    return {**value, PREV: prev, SUMS: sums, SALTS: salts}


def render(value: dict[str, Any]) -> str:
    """Return a link as one line of JSON, without a newline."""
    return json.dumps(value, ensure_ascii=False)


def verify(lines: Iterable[str], known_head: str = "") -> Checked:
    """Check an audit file's lines; return every place that is not as it was written.

    `known_head` is the digest of a link that must be there: the last one this device wrote.
    """
    faults: list[ChainFault] = []
    counts = {"chained": 0, "unchained": 0, "erased": 0, "torn": 0}
    head, seen, last = "", {""}, ""
    for number, raw in enumerate((line.rstrip("\r\n") for line in lines), 1):
        if not raw or raw == last:
            continue  # the same once more is an append that was interrupted and done again
        last = raw
        value = load(raw)
        if value is None:
            counts["torn"] += 1
        elif PREV not in value and SUMS not in value:
            counts["unchained"] += 1
            if counts["chained"]:
                faults.append(ChainFault(number, "was added outside the chain"))
        else:
            faults += [ChainFault(number, what) for what in _faults(raw, value, head)]
            counts["chained"] += 1
            counts["erased"] += _erased(value)
            head = chained_digest(value)
            seen.add(head)
    if known_head not in seen:
        faults.append(ChainFault(0, "lines at its end are missing, or it was written anew"))
    return Checked(tuple(faults), head=head, **counts)


def erase(lines: Iterable[str], predicate: Callable[[AuditLine], bool]) -> list[str]:
    """Return the lines with texts and salts removed wherever the predicate says so.

    The predicate sees an unreadable line as one whose `after` is the raw line and whose `op`
    is `torn`; where it agrees, the line is dropped, which no link minds.
    """
    kept = []
    for raw in lines:
        line = parse_line(raw)
        if line is None:
            torn = AuditLine("", "", "", "", "torn", "", after=raw)
            kept += [] if raw.strip() and predicate(torn) else [raw]
        else:
            kept.append(_without_texts(raw) if predicate(line) else raw)
    return kept


class Journal:
    """Appends audit lines as links, one file at a time. Any thread; one process a file."""

    def __init__(
        self,
        append: Callable[[str, str], None],
        read: Callable[[str], str],
        salt: Salt = new_salt,
        keep: Callable[[str, str], None] | None = None,
    ) -> None:
        """Take `append(relative, text)`, which ends a torn last line first (`VaultWriter.append`),
        and `read(relative)`, which returns a file's text, empty where there is none. `keep` is
        told the digest of each line that was written.
        """
        self._keep = keep
        self._append = append
        self._read = read
        self._salt = salt
        self._guard = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._heads: dict[str, str] = {}

    def append(self, relative: str, line: AuditLine) -> str:
        """Append a line to an audit file and return its id. Raises what `append` raises."""
        with self._lock(relative):
            head = self._heads.pop(relative, None)  # unknown again, should the write fail
            value = chain(line, self._last(relative) if head is None else head, self._salt)
            self._append(relative, render(value) + "\n")
            digest = self._heads[relative] = chained_digest(value)
            if self._keep:
                self._keep(relative, digest)
        return digest[:ID_CHARS]

    def _last(self, relative: str) -> str:
        for raw in reversed(self._read(relative).split("\n")):
            value = load(raw)
            if value is not None and PREV in value:
                return chained_digest(value)
        return ""

    def _lock(self, relative: str) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault(relative, threading.Lock())


def _faults(raw: str, value: dict[str, Any], head: str) -> list[str]:
    """Return what is wrong with one link that follows the one with digest `head`."""
    sums, salts = value.get(SUMS), value.get(SALTS)
    if not isinstance(sums, dict) or not isinstance(salts, dict):
        return ["lacks its digests"]
    found = []
    if value.get(PREV) != head:
        missing = "a line before it was changed or is missing"
        found.append(missing if value.get(PREV) else "starts a new chain")
    if render(value) != raw:
        found.append("was written by another program")
    known = {*TEXTS}
    if not known >= {*sums} or not {*sums} >= {*salts}:
        found.append("has digests of no text")
    found += [f"its text `{key}` was changed" for key in TEXTS if not is_sound(key, value)]
    return found


def _erased(value: dict[str, Any]) -> bool:
    sums = value.get(SUMS)
    return isinstance(sums, dict) and any(not value.get(key) for key in sums)


def _without_texts(raw: str) -> str:
    value = load(raw)
    assert value is not None
    kept = {key: "" if key in TEXTS else one for key, one in value.items()}
    if SALTS in kept:
        kept[SALTS] = {}
    return render(kept) + ("\r" if raw.endswith("\r") else "")


def _storable(value: dict[str, Any]) -> dict[str, Any]:
    """Return the values as a UTF-8 file keeps them, so that the sums are of what is read."""
    return {
        key: _SURROGATES.sub("\ufffd", one) if isinstance(one, str) else one
        for key, one in value.items()
    }
