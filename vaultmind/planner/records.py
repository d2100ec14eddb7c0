"""Records: what is known of one file of a source, read from its text without secrets.

Of code the definitions by tree-sitter, imports by `languages.toml`; and the spans it is cut into.
tree-sitter holds Python's lock while it works, and its error recovery may take minutes over what is
no code: parsing is stopped after a while.
"""

from __future__ import annotations

import logging
import re
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate, pairwise, takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from vaultmind import tokens
from vaultmind.errors import install_hint
from vaultmind.heavy import importing
from vaultmind.index.linked import MAX_BYTES, NamedLines, cut_plainly, is_minified, shape_of
from vaultmind.index.notes import MARKUP, value_text
from vaultmind.planner.types import FileRecord, Link, Part, Shape, Task
from vaultmind.redact import blank_passages, mask, unmarked
from vaultmind.tables import table
from vaultmind.vault.files import FileText
from vaultmind.vault.markdown import Note, blanked, parse_canvas, parse_note

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node

PARSE_SECONDS = 2.0
"""Processor time of this thread that one file may take."""
MOST_PARTS, MOST_LINKS, MOST_NAMES, MOST_PROPERTIES = 600, 500, 200, 60
DEEPEST = 40
"""How deep definitions are looked for."""
LONGEST = 240
"""Characters of an abstract, a signature, a task or a value."""
MOST_ABOVE = 40
"""Lines of comments and decorators that belong to the definition below them."""
SPAN_CHARS = 1200
"""Characters of a span, unless a single line is longer."""
INSTALL = install_hint("code")
AROUND = frozenset({"class", "interface", "enum", "type", "holder", "module"})
"""Kinds into which is looked."""
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "call_expression"})
"""Values that make a function of a name; a call where a function is handed to it."""
_ABOVE = ("#", "//", "/*", "*", "@", "--", "[")
_TOPS = frozenset({"", "src", "app", "bin", "lib", "server", "client", "cmd"})
"""Folders whose index file is where a program begins."""
_TYPES = re.compile(r"<[^<>]*(?:<[^<>]*>[^<>]*)*>")
_MARKS = re.compile(r"^\s*(?:/\*+!?|//[/!]*|\*+/?|#+!?|--+|;+)\s?|\s{0,20}\*{1,80}/\s*$")
_QUOTES = re.compile(r"^[rRbBuUfF]{0,3}(\"\"\"|'''|\"|')(.*?)\1?$", re.S)
_TO_DO = re.compile(r"(?:#|//|/\*|\*|--)[^\n]{0,200}?\b((?:TODO|FIXME|XXX|HACK)\b[^\n]{0,300})")
_STRINGS = re.compile(r"//[^\n]*|#[^\n]*|\"[^\"\n]*\"|'[^'\n]*'|^[ \t]*\*[^\n]*", re.M)
_NO_ABSTRACT = re.compile(r"(?i)copyright|licen[cs]e|spdx|lint|-\*-|coding[:=]|^#!|use strict")
_ENTRY = re.compile(
    r"(?i)(?:readme|index|home|start(?: here)?|moc|_?dashboard|contents|overview|welcome)"
    r"|.*(?:[ _-]moc|[ _-]index)|(?:start|spis tre[śs]ci|оглавление|главная|indeks)"
)
"""Names of notes that lead to others."""
_ENTRY_TAGS = frozenset({"moc", "index", "hub", "home"})
_ABOUT = frozenset({"description", "summary", "abstract", "opis", "описание"})
_HIDDEN = frozenset({"position", "cssclass", "cssclasses", "aliases", "tags", "tag"})
_NOT_PROSE = re.compile(r"\s*(?:\||>|!\[|<|\[!|\$\$|---|===)")
_BLOCK_ID = re.compile(r"\s\^[A-Za-z0-9-]+$")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Language:
    """A language, as `languages.toml` describes it."""

    name: str
    grammar: str = ""
    """Module that carries the grammar; empty where none is known."""
    function: str = "language"
    extensions: Sequence[str] = ()
    file_names: Sequence[str] = ()
    test_files: Sequence[str] = ()
    test_folders: Sequence[str] = ()
    entry_files: Sequence[str] = ()
    index_files: Sequence[str] = ()
    """Stems that stand for their folder: `__init__`, `index`, `mod`."""
    family: str = ""
    """Languages of one family import each other; empty: its own name."""
    private: str = r"\b(?:private|protected)\b"
    """What a definition says that is not for others."""
    exports: bool = False
    """Whether only what is exported is for others, in a file that exports anything."""
    by_names: bool = False
    """Whether a file is found by the names that it defines: no import names it."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """What each type of node defines."""
    imports: Sequence[str] = ()


# --- languages ----------------------------------------------------------------------------


@cache
def languages() -> Mapping[str, Language]:
    """Return all languages by name."""
    read = table(__file__, "languages.toml")
    known = dict[str, Language]()
    for name, one in read.items():
        like = known.get(one.pop("like", ""), Language(name))
        one["kinds"] = {**like.kinds, **one.get("kinds", {})}
        known[name] = replace(like, **one | {"name": name})
    return known


@cache
def endings() -> Mapping[str, str]:
    """Return the language of each ending."""
    return {ending: one.name for one in languages().values() for ending in one.extensions}


def language(name: str) -> Language:
    """Return a language by its name; of an unknown one the name alone."""
    return languages().get(name) or Language(name)


def language_of(path: str) -> str:
    """Return what a file is written in by its name: a language, or its ending; empty: not code."""
    name = path.rpartition("/")[2]
    ending = name.lower().rpartition(".")[2]
    found = (one.name for one in languages().values() if name in one.file_names)
    other = ending if shape_of(path) == "code" else ""
    return next(found, endings().get(ending, other))


def is_installed(one: Language) -> bool:
    """Tell whether a language can be parsed here. Imports nothing."""
    return bool(one.grammar) and all(map(find_spec, ("tree_sitter", one.grammar)))


@cache
def grammars() -> tuple[str, ...]:
    """Return the languages whose grammars are installed."""
    return tuple(sorted(one.name for one in languages().values() if is_installed(one)))


# --- parsing ------------------------------------------------------------------------------


@cache
def _grammar(name: str) -> Grammar | None:
    one = language(name)
    with importing():
        try:
            from tree_sitter import Language as Grammar

            return Grammar(getattr(import_module(one.grammar), one.function)())
        except (ImportError, AttributeError, ValueError, OSError) as error:
            # a package of another version or another machine: the language is read as text
            log.warning("the grammar %s cannot be used: %s", one.grammar, error)
            return None


def _parsed(one: Language, data: bytes) -> Node | None:
    """Return the root of a tree; None where it cannot be made in the time there is.

    tree-sitter 0.26.1 never lets go of what it is given: views can be emptied, bytes cannot.
    """
    grammar = _grammar(one.name)
    if grammar is None:
        return None
    from tree_sitter import Parser

    until, whole, given = time.thread_time() + PARSE_SECONDS, memoryview(data), list[memoryview]()

    def read(offset: int, _point: object) -> memoryview:
        given.append(whole[offset : offset + 65_536])
        return given[-1]

    try:
        late = lambda *_: time.thread_time() > until  # noqa: E731
        return Parser(grammar).parse(read, progress_callback=late).root_node
    except ValueError:  # it took too long
        return None
    finally:
        for piece in given:
            piece.release()


# --- reading ------------------------------------------------------------------------------


def read_code(plain: FileRecord, text: str) -> FileRecord:
    """Return the record of a file of code. What does not parse is left out, the rest told."""
    one = language(plain.language)
    *folders, file = plain.path.split("/")
    test = any(fnmatchcase(file, pattern) for pattern in one.test_files)
    test = test or not {*folders}.isdisjoint(one.test_folders)
    is_index = file.partition(".")[0] in one.index_files
    entry = file in one.entry_files and (not is_index or (folders or [""])[-1] in _TOPS)
    plain = replace(plain, test=test, entry=entry)
    if not is_installed(one):
        how = f"is installed: {INSTALL}" if one.grammar else "is known"
        return replace(plain, fault=f"no grammar for {one.name or 'this language'} {how}")
    data = text.encode("utf-8", "replace")
    root = _parsed(one, data) if len(text) <= MAX_BYTES else None
    if root is None:
        return replace(plain, fault="it could not be parsed in the time there is")
    read = _File(one, text, data)
    read.walk(root, None)
    about = (read.docstring(root) or read.head()).strip()
    own = {each.name.rpartition(".")[2] for each in read.parts}
    said = re.findall(r"[^\W\d]\w{2,60}", _STRINGS.sub(" ", text)) if one.by_names else []
    tasks = [found[1] for found in _TO_DO.finditer(text)][:MOST_NAMES]
    return replace(
        plain,
        parts=tuple(read.parts[:MOST_PARTS]),
        links=tuple(_imports(one, text))[:MOST_LINKS],
        uses=tuple(it for it, _ in Counter(said).most_common(MOST_NAMES) if it not in own),
        abstract=clean(re.split(r"\n\s*\n", about)[0]),
        tasks=tuple(Task(clean(_MARKS.sub("", one))) for one in tasks),
    )


class _File:
    """One file whose tree is walked for definitions."""

    def __init__(self, one: Language, text: str, data: bytes) -> None:
        self.language, self.data, self.lines = one, data, text.split("\n")
        self.parts: list[Part] = []
        self.exports = one.exports and bool(re.search(r"(?m)^export\b", text))

    def text(self, node: Node | None, end: Node | None = None) -> str:
        """Return what stands in a node, up to where another begins."""
        if node is None:
            return ""
        stop = end.start_byte if end else node.end_byte
        return self.data[node.start_byte : stop].decode("utf-8", "replace")

    def walk(
        self, node: Node, parent: Part | None, outer: Node | None = None, deep: int = 0
    ) -> None:
        """Note what is defined in a node. Bodies of functions are not looked into."""
        for child in node.named_children if deep < DEEPEST else ():
            kind = self.language.kinds.get(child.type, "")
            around = outer or child if kind else outer
            made = self._made(child, kind, parent, around or child) if kind else None
            if made is None:
                if not child.type.endswith(("comment", "string")):
                    self.walk(child, parent, around, deep + 1)
                continue
            self.parts += [made] if kind != "holder" else []
            if made.kind in AROUND:
                self.walk(_body_of(child) or child, made, None, deep + 1)

    def _kind(self, node: Node, kind: str, name: str, parent: Part | None) -> str:
        """Return what a node defines, of a type of node that may; empty: nothing."""
        value = node.child_by_field_name("value")
        if kind in ("constant", "field"):
            is_made = value is not None and value.type in _FUNCTIONS
            if is_made and value is not None and value.type == "call_expression":
                is_made = bool(re.search("=>|function", self.text(value)))
            plain = kind == "constant" and (not parent or parent.kind == "module")
            kind = "function" if is_made else "constant" if plain else ""
        elif kind == "prototype":
            kind = "function" if "(" in self.text(node) and name else ""
        elif kind in ("class", "enum") and self.language.family == "c" and not _body_of(node):
            kind = ""  # it only names a struct
        inside = parent is not None and parent.kind in AROUND - {"module"}
        return "method" if kind == "function" and inside else kind

    def _made(self, node: Node, kind: str, parent: Part | None, outer: Node) -> Part | None:
        """Return what a node defines; None where it is nothing."""
        name = self._named(node)
        kind = self._kind(node, kind, name, parent) if kind != "wrap" else ""
        if not kind or not name or re.search(r"[^\w$.:~#<>\s=!+*/\[\]()-]", name):
            return None
        body, value = _body_of(node), node.child_by_field_name("value")
        first, last = outer.start_point[0], outer.end_point[0]
        last -= outer.end_point[1] == 0 and last > first
        end = body or (value and _body_of(value))
        said = self.text(node, end) if end else self.text(node).split("\n", 1)[0]
        said = " ".join(re.sub(r"(?:#|//)[^\n\"']*\n", "\n", said).split())
        said = said.replace("( ", "(").replace(",)", ")").replace(" )", ")")
        said = re.sub(r"\s{0,9}(?:=>|[:={;,])\s*$", "", said)
        summary = self.docstring(body) if body else ""
        if not summary:
            above = self.lines[lead_of(self.lines, first + 1) - 1 : first]
            summary = "\n".join(_MARKS.sub("", it) for it in above if it.lstrip()[:1] not in "@[")
        summary = next((line.strip() for line in summary.split("\n") if line.strip()), "")
        is_public = self._is_public(name, said, outer.type.startswith("export"), parent)
        name = f"{parent.name}.{name}" if parent else name
        return Part(name, kind, first + 1, last + 1, clean(said), clean(summary), is_public)

    def _named(self, node: Node) -> str:
        """Return what a node calls what it defines, with what it belongs to."""
        names = ("name", "left", "declarator", "property", "type")
        found = next((one for name in names if (one := node.child_by_field_name(name))), None)
        while found is not None and (inner := found.child_by_field_name("declarator")):
            found = inner
        name = _TYPES.sub("", " ".join(self.text(found).split())).replace("::", ".")
        owner = self.text(node.child_by_field_name("receiver"))
        held = re.findall(r"\w+", _TYPES.sub("", owner))
        return f"{held[-1]}.{name}" if held else name

    def docstring(self, body: Node) -> str:
        """Return the string that a body begins with, of Python's."""
        told = next((one for one in body.named_children if one.type != "comment"), None)
        if told is None or told.type != "expression_statement" or not told.named_children:
            return ""
        text = self.text(told.named_children[0]) if told.named_children[0].type == "string" else ""
        found = _QUOTES.match(text)
        return (found.group(2) if found else text).strip()

    def _is_public(self, own: str, said: str, exported: bool, parent: Part | None) -> bool:
        """Tell whether a definition is for others, by its name and what it says of itself."""
        own = own.rpartition(".")[2]
        hidden = own.startswith("#") or (own.startswith("_") and not own.endswith("__"))
        if hidden or (parent and not parent.public) or re.search(self.language.private, said):
            return False
        return bool(parent or exported or not self.exports)

    def head(self) -> str:
        """Return the comment that the file begins with, unless it is about licenses or tools."""
        kept = takewhile(lambda line: line.lstrip().startswith(_ABOVE), self.lines[:MOST_ABOVE])
        said = "\n".join(_MARKS.sub("", _MARKS.sub("", line)) for line in kept)
        return "" if _NO_ABSTRACT.search(said) else re.sub(r"@(?:file|module)\w*\b", "", said)


def _body_of(node: Node) -> Node | None:
    return node.child_by_field_name("body") or next(
        (one for one in node.named_children if one.type.endswith(("body", "declaration_list"))),
        None,
    )


def _imports(one: Language, text: str) -> Iterator[Link]:
    """Yield imports in the order of the file."""
    matches = [found for each in one.imports for found in re.finditer(each, text, re.M)]
    for found in sorted(matches, key=lambda it: it.start()):
        told = {key: value or "" for key, value in found.groupdict().items()}
        listed = re.sub(r"#[^\n]*|\\\n", " ", told.get("names", ""))
        names = filter(None, map(_taken, re.split(r"[,{}()]", listed)))
        modules = [*told.get("modules", "").split(","), told.get("module", "")]
        dot = "./" if told.get("relative") and not told["module"].startswith(".") else ""
        taken = tuple(dict.fromkeys(names))[:MOST_NAMES]
        for module in filter(None, map(_taken, modules)):
            yield Link("import", f"{dot}{module[:300]}", taken)


def _taken(said: str) -> str:
    """Return what is imported by `a as b`, `a: b` or `type a`."""
    name = re.split(r"\s+as\s+|\s*:\s+", said.strip())[0].strip().removeprefix("type ").strip()
    return "*" if "*" in name else "" if name == "default" else name


def clean(text: str) -> str:
    """Return a text on one line without secrets in it, clipped."""
    line = " ".join(text.split())
    masked = mask(line).text if line else line
    return masked if len(masked) <= LONGEST else f"{masked[: LONGEST - 2].rstrip()} …"


def lead_of(lines: Sequence[str], line: int) -> int:
    """Return the line at which the comments and decorators above a definition begin."""
    first = line
    while first > max(1, line - MOST_ABOVE) and lines[first - 2].lstrip().startswith(_ABOVE):
        first -= 1
    return first


# --- spans --------------------------------------------------------------------------------


def code_spans(path: str, text: str) -> list[NamedLines]:
    """Return spans that hold every line of code that is not blank, in order, none twice.

    A definition that fits stands whole, with what stands above it; one that does not is cut where
    what it defines begins, and the rest at blank lines. Never raises for what stands in it.
    """
    found = read_code(FileRecord(path, "", "code", language_of(path), "", 0), text).parts
    lines = text.split("\n")
    names = [""] * (len(lines) + 1)
    """Of each line the innermost definition that is too long to stand whole, or the outermost."""
    begins, whole = {0, len(lines)}, 0
    for one in sorted(found, key=lambda it: it.line):
        first, last = lead_of(lines, one.line) - 1, min(one.last_line, len(lines))
        if one.kind != "constant" and whole <= first < last:
            names[first:last] = [one.name] * (last - first)
            begins |= {first, last}
            whole = last if sum(map(len, lines[first:last])) <= SPAN_CHARS else whole
    kept: list[NamedLines] = []
    for begin, end in pairwise(sorted(begins)):
        for at, last, _ in cut_plainly(path, "\n".join(lines[begin:end])):
            before, last_line, name = kept[-1] if kept else (0, 0, "")
            first = max(begin + at, last_line + 1)
            own = "".join(lines[first - 1 : begin + last])
            if kept and not any(map(str.isalnum, own)):  # brackets alone
                kept[-1] = before, max(last_line, begin + last), name
            elif first <= begin + last:
                kept.append((first, begin + last, names[begin]))
    return kept


def record_of(file: FileText, language: str = "") -> FileRecord:
    """Return what a file holds; `language` of prose is what the index made out.

    Never raises for what stands in a file: what cannot be understood is a fault.
    """
    path, text = file.path, file.text
    pure = PurePosixPath(path)
    code = language_of(path)
    shape: Shape = "code" if code else shape_of(path) or "text"
    if pure.suffix.lower() in (".md", ".canvas"):
        shape, code = "note", ""
    plain = FileRecord(path, file.sha, shape, code, pure.name, len(text) // 4)
    if file.stat.size > MAX_BYTES:
        return replace(plain, fault=f"{file.stat.size / 1e6:.1f} MB is over the limit of 1 MB")
    if shape in ("code", "data") and (is_minified(text) or ".min." in pure.name):
        return replace(plain, fault="not looked into: minified or generated")
    try:
        text = blank_passages(text)  # nothing of them is read, no name either
        faults: tuple[str, ...] = ()
        if pure.suffix == ".canvas":
            cards, faults = parse_canvas(text)
            text = blank_passages("\n\n".join(cards))
        plain = replace(plain, tokens=tokens.count(text), language=code or language)
        plain = replace(plain, fault="; ".join(faults))
        if shape == "code":
            return read_code(plain, unmarked(text))
        return plain if shape == "data" else _note(plain, text)
    except Exception as error:  # one odd file must not stop the others
        log.exception("%s could not be understood", path)
        return replace(plain, fault=f"could not be understood: {error!r}")


def _note(plain: FileRecord, text: str) -> FileRecord:
    pure, note = PurePosixPath(plain.path), parse_note(text)
    starts = [0, *accumulate(len(line) for line in text.splitlines(keepends=True))]
    lines = [bisect_right(starts, one.start) for one in note.headings[:MOST_PARTS]]
    ends = [*(line - 1 for line in lines[1:]), len(starts) - 1]
    parts = tuple(
        Part(_plain(one.text), f"h{one.level}", line, max(line, end))
        for one, line, end in zip(note.headings, lines, ends, strict=False)
    )
    title = clean(note.title_property)
    if not title and parts and parts[0].kind == "h1" and pure.stem.lower() in ("readme", "index"):
        title = parts[0].name
    tags = tuple(map(clean, note.tags))
    is_entry = bool(_ENTRY.fullmatch(pure.stem)) or pure.stem == pure.parent.name
    return replace(
        plain,
        title=title or pure.stem,
        abstract=_abstract(note, text),
        entry=is_entry or not _ENTRY_TAGS.isdisjoint(map(str.casefold, tags)),
        parts=parts,
        links=tuple(
            Link("embed" if one.embed else "link", clean(one.target))
            for one in note.links[:MOST_LINKS]
            if one.target
        ),
        properties=tuple(dict(_properties(note)).items()),
        tags=tags,
        tasks=tuple(
            Task(_plain(_BLOCK_ID.sub("", one.text)), one.done)
            for one in note.tasks[:MOST_PARTS]
            if one.text
        ),
        fault="; ".join(filter(None, (plain.fault, *note.faults))),
    )


def _plain(text: str) -> str:
    """Return a line of Markdown without its marks, as one reads it."""
    return clean(MARKUP.sub(r"\1\2", text))


def _abstract(note: Note, text: str) -> str:
    """Return the first paragraph that is prose; a property that sums up goes before it."""
    for name, value in note.properties.items():
        if name.lower() in _ABOUT:
            return clean(str(value))
    prose = blanked(text, note.tree.comments)
    for unit in note.tree.units:
        said = prose[unit.start : unit.end].strip()
        if unit.kind == "paragraph" and not _NOT_PROSE.match(said):
            shown = _plain(said[: LONGEST * 4])
            if len(shown) > 2:  # noqa: PLR2004  # a mark or two
                return shown
    return ""


def _properties(note: Note) -> Iterator[tuple[str, str]]:
    """Yield what a note says of itself. A secret is known by its name."""
    for name, value in [*note.properties.items()][:MOST_PROPERTIES]:
        shown = value_text(value)
        if name.lower() not in _HIDDEN and shown:
            start, together = f"{clean(name)}: ", clean(f"{name}: {shown}")
            yield clean(name), together.removeprefix(start) if together.startswith(start) else "…"
