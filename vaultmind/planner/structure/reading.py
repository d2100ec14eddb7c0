"""Reads one file of a source and says what is known of it."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from vaultmind import tokens
from vaultmind.errors import NotFound, PathRefused, UnreadableNote
from vaultmind.planner.structure.graph_settings import import_properties
from vaultmind.planner.structure.notes import canvas_record, clean, note_record, text_record
from vaultmind.planner.structure.records import Definition, FileRecord, Shape, Task
from vaultmind.planner.structure.store import Kept
from vaultmind.redact import blank_passages, unmarked
from vaultmind.vault.files import FileStat, FileText, VaultReader

if TYPE_CHECKING:
    from vaultmind.planner.structure.code import CodeFacts

DATA_SUFFIXES = frozenset({
    ".json", ".jsonl", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".conf", ".csv", ".tsv", ".xml",
    ".lock", ".properties", ".gradle", ".mod", ".sum", ".csproj", ".plist",
})  # fmt: skip
MAX_BYTES = 1_000_000
"""A larger file is named and not looked into."""
LONG_LINES = 400
"""A file whose lines are so long on average was not written by hand."""
NOTES = frozenset({".md", ".markdown", ".mdx"})
MOST_DEFINITIONS, MOST_USES, MOST_CODE_LINKS = 600, 200, 400
_SHA1 = 40

log = logging.getLogger(__name__)

LanguageOf = Callable[[str, str], str]
ReadCode = Callable[[str, str, str], "CodeFacts"]


@dataclass(frozen=True, slots=True)
class CodeReader:
    """What reads code: which language a path and a first line say, and what the text holds."""

    language_of: LanguageOf
    read: ReadCode


def code_reader() -> CodeReader:
    """Return what reads code here; grammars are loaded when the first file needs one."""
    from vaultmind.planner.structure.code import language_of, read_code

    return CodeReader(language_of, read_code)


@dataclass(frozen=True, slots=True)
class Reading:
    """Reads files of one source. `language` of prose is what the index made out."""

    reader: VaultReader
    code: Callable[[], CodeReader] = code_reader

    def read(self, path: str, language: str = "", oid_length: int = _SHA1) -> Kept | None:
        """Return what a file holds; None when there is none that may be read.

        Never raises for what stands in a file: what cannot be understood is a fault.
        """
        try:
            file = self.reader.read(path)
        except (NotFound, PathRefused):
            return None
        except UnreadableNote as error:
            stat = self._stat(path)
            return Kept(_unread(path, error.reason), stat) if stat else None
        return Kept(self._record(file, language), file.stat, blob_of(file, oid_length))

    def _stat(self, path: str) -> FileStat | None:
        try:
            return self.reader.stat(path)
        except (PathRefused, UnreadableNote):
            return None

    def _record(self, file: FileText, language: str) -> FileRecord:
        path = file.path
        if reason := _unparsed(file):
            shape, code = self._shape(file)
            lines = file.text.count("\n") + 1
            size = len(file.text) // 4
            title = PurePosixPath(path).name
            return FileRecord(path, file.sha, shape, code, title, lines, size, fault=reason)
        try:
            return self._parsed(file, language)
        except Exception as error:  # one odd file must not stop the others
            log.exception("%s could not be understood", path)
            return replace(_unread(path, f"could not be understood: {error!r}"), sha=file.sha)

    def _parsed(self, file: FileText, language: str) -> FileRecord:
        path, text, sha = file.path, file.text, file.sha
        suffix = PurePosixPath(path).suffix.lower()
        if suffix in NOTES:
            return note_record(path, text, sha, language)
        if suffix == ".canvas":
            return canvas_record(path, text, sha, language)
        shape, code = self._shape(file)
        text = blank_passages(text)  # nothing of them is read, no name either
        if shape == "data":
            return data_record(path, text, sha)
        if shape == "text":
            return text_record(path, text, sha)
        facts = self.code().read(path, unmarked(text), code)
        return code_record(replace(file, text=text), code, facts)

    def _shape(self, file: FileText) -> tuple[Shape, str]:
        suffix = PurePosixPath(file.path).suffix.lower()
        if suffix in NOTES or suffix == ".canvas":
            return "note", ""
        code = self.code().language_of(file.path, file.text.partition("\n")[0])
        if code:
            return "code", code
        return ("data" if suffix in DATA_SUFFIXES else "text"), ""


def data_record(path: str, text: str, sha: str) -> FileRecord:
    """Return the record of a configuration or other data."""
    pure = PurePosixPath(path)
    return FileRecord(
        path=path,
        sha=sha,
        shape="data",
        language=pure.suffix.lstrip(".").lower(),
        title=pure.name,
        lines=text.count("\n") + (not text.endswith("\n") and bool(text)),
        tokens=tokens.count(text),
        properties=import_properties(path, text),
    )


def code_record(file: FileText, language: str, facts: CodeFacts) -> FileRecord:
    """Return the record of a file of code, without secrets in what it shows of it."""
    text = file.text
    return FileRecord(
        path=file.path,
        sha=file.sha,
        shape="code",
        language=language,
        title=PurePosixPath(file.path).name,
        lines=text.count("\n") + (not text.endswith("\n") and bool(text)),
        tokens=tokens.count(text),
        abstract=clean(facts.abstract),
        entry=facts.entry,
        test=facts.test,
        definitions=tuple(map(_clean_definition, facts.definitions[:MOST_DEFINITIONS])),
        links=facts.links[:MOST_CODE_LINKS],
        uses=facts.uses[:MOST_USES],
        tasks=tuple(Task(clean(one.text), one.line, one.done) for one in facts.tasks),
        fault="; ".join(facts.faults),
    )


def blob_of(file: FileText, oid_length: int = _SHA1) -> str:
    """Return what git calls a file's bytes as they are, without a filter of its own."""
    raw = (b"\xef\xbb\xbf" if file.bom else b"") + file.text.encode()
    head = b"blob %d\0" % len(raw)
    made = hashlib.sha1 if oid_length == _SHA1 else hashlib.sha256
    return made(head + raw, usedforsecurity=False).hexdigest()


def _clean_definition(one: Definition) -> Definition:
    return replace(one, signature=clean(one.signature), summary=clean(one.summary))


def _unparsed(file: FileText) -> str:
    """Return why a file is not looked into: too large, or not written by hand."""
    if file.stat.size > MAX_BYTES:
        return f"{file.stat.size / 1e6:.1f} MB is over the limit of {MAX_BYTES / 1e6:g} MB"
    if PurePosixPath(file.path).suffix.lower() in NOTES:
        return ""
    lines = file.text.count("\n") + 1
    if len(file.text) / lines > LONG_LINES and len(file.text) > 4 * LONG_LINES:
        return "not looked into: minified or generated"
    if ".min." in file.path.rpartition("/")[2]:
        return "not looked into: minified"
    return ""


def _unread(path: str, reason: str) -> FileRecord:
    return FileRecord(path, "", "text", "", PurePosixPath(path).name, 0, 0, fault=reason)
