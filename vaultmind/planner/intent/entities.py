"""What a task names: files, identifiers, references to issues and commits. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from vaultmind.planner.intent.cues import common
from vaultmind.planner.types import Entities

MAX_EACH = 24
"""Of a kind of entity that are kept, in the order in which they are named."""
MAX_CHARS = 400
MIN_NAME = 3
DEEP = 3
"""Parts by which words between slashes are a path rather than a choice (`and/or`)."""

_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://\S+", re.IGNORECASE)
_FRAME = re.compile(r"File \"([^\"\n]{1,400})\", line \d+(?:, in ([\w.<>]{1,120}))?")
_CALL = re.compile(r"\bat (?:async )?(?:new )?([A-Za-z_$][\w$.<>]{1,120}) ?\(")
_FAULT = re.compile(r"\b((?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{1,60}(?:Error|Exception|Warning))\b")
_PATH = re.compile(
    r"(?<![\w@/\\.+-])(?:[A-Za-z]:)?(?:\.{1,2}|~)?[/\\]?(?:[\w@+.\-]{1,120}[/\\]){0,30}"
    r"[\w@+.\-]{0,120}\w(?!\w)[/\\]?"
)
_CODE = re.compile(r"`{1,2}([^`\n]{1,120})`{1,2}")
_WIKILINK = re.compile(r"\[\[([^\[\]|#\n]{1,200})(?:[#|][^\[\]\n]*)?\]\]")
_REFERENCE = re.compile(
    r"(?<![\w/#&])(#\d{1,7}|[A-Z][A-Z0-9]{1,9}-\d{1,7}|(?:GH|PR|MR)[ -]?#?\d{1,7}"
    r"|CVE-\d{4}-\d{4,7}|\b[0-9a-f]{7,12}(?:[0-9a-f]{28})?)(?![\w-])"
)
_IDENTIFIER = re.compile(
    r"(?<![\w./\\-])(?:--[a-z][\w-]{1,60}|[A-Za-z_$][\w$]{0,80}(?:(?:\.|::|->|#)[A-Za-z_$][\w$]{0,80})"
    r"{0,8}(?:\(\))?)(?![\w/\\])"
)
_OWN = re.compile(r"^(?:self|this|cls)(?:\.|->)")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_LINE = re.compile(r"(?::\d+){1,2}$|#L\d+(?:-L?\d+)?$")
_HEX = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]+")


def entities_of(text: str) -> Entities:
    """Return what a text names, each once, in the order in which it stands there.

    Paths are as written, with `/` between folders and without the line that follows them.
    """
    text = _URL.sub(" ", text)
    paths = _first(_paths(text))
    return Entities(
        paths=paths,
        identifiers=_first(_identifiers(text, frozenset(paths))),
        references=_first(_references(text)),
    )


def _paths(text: str) -> Iterator[str]:
    for match in _FRAME.finditer(text):
        yield _tidy(match[1])
    for match in _WIKILINK.finditer(text):
        yield _tidy(match[1])
    for match in _PATH.finditer(text):
        path = match.group().strip()
        if _is_path(path):
            yield _tidy(path)


def _is_path(path: str) -> bool:
    """Tell whether a word names a file or a folder rather than a module, a version or a ratio."""
    bare = path.rstrip("/\\")
    name = re.split(r"[/\\]", bare)[-1]
    stem, dot, ending = name.rpartition(".")
    if bare.casefold() in _words("products"):
        return False
    if dot and ending.lower() in _endings() and (stem or "/" in bare):
        return True
    if name in _names():
        return True
    if "/" not in bare and "\\" not in bare:
        return False
    parts = [part for part in re.split(r"[/\\]", path) if part not in ("", ".", "..", "~")]
    deep = len(parts) >= DEEP or path[0] in "./~\\" or path[-1] in "/\\"
    return bool(parts) and (deep or parts[0] in _folders()) and not bare[-1:].isdigit()


def _tidy(path: str) -> str:
    path = _LINE.sub("", path.replace("\\", "/")).strip()
    while path.startswith("./"):
        path = path[2:]
    return path


def _references(text: str) -> Iterator[str]:
    for match in _REFERENCE.finditer(text):
        found = match[1]
        if found[0] not in "#ABCDEFGHIJKLMNOPQRSTUVWXYZ" and not _HEX.fullmatch(found):
            continue
        if found.partition("-")[0] not in ("UTF", "ISO", "SHA", "RFC", "HTTP", "COVID"):
            yield found


def _identifiers(text: str, paths: frozenset[str]) -> Iterator[str]:
    for match in _FRAME.finditer(text):
        if match[2] and match[2][0] != "<":
            yield match[2]
    for pattern in (_FAULT, _CALL):
        for match in pattern.finditer(text):
            yield match[1]
    for match in _IDENTIFIER.finditer(text):
        name = match.group()
        if name in paths or not _is_identifier(name):
            continue
        yield _OWN.sub("", name.removesuffix("()"))
    for match in _CODE.finditer(text):
        code = match[1].strip().removesuffix("()")
        if len(code) >= MIN_NAME and re.fullmatch(r"[A-Za-z_]\w*", code):
            yield code


def _is_identifier(name: str) -> bool:
    """Tell whether a word is written as code is: `a_b`, `aB`, `a.b`, `a()`, `--a`."""
    if name.startswith("--") or name.endswith("()"):
        return True
    bare = name.strip("_")
    if len(bare) < MIN_NAME:
        return False
    head, _, ending = name.rpartition(".")
    if head and ending.lower() in _endings() and "." not in head and "::" not in head:
        return False
    joined = "::" in name or "->" in name or ("." in name and _is_dotted(name))
    return "_" in bare or name != bare or joined or _CAMEL.search(bare) is not None


def _is_dotted(name: str) -> bool:
    parts = name.split(".")
    return all(len(part) > 1 for part in parts) and not name.endswith(".com")


def _first(found: Iterable[str]) -> tuple[str, ...]:
    kept: dict[str, None] = {}
    for one in found:
        if one and len(one) <= MAX_CHARS:
            kept[one] = None
            if len(kept) == MAX_EACH:
                break
    return tuple(kept)


def _endings() -> frozenset[str]:
    return _words("endings")


def _names() -> frozenset[str]:
    return _words("names")


def _folders() -> frozenset[str]:
    return _words("folders")


_WORDS: dict[str, frozenset[str]] = {}


def _words(name: str) -> frozenset[str]:
    if name not in _WORDS:
        _WORDS[name] = frozenset(common()["files"][name].split())
    return _WORDS[name]
