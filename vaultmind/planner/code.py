"""What a file of code holds: definitions by tree-sitter, imports and names by expressions.

tree-sitter holds Python's lock while it works, and its error recovery may take minutes over what is
no code: parsing is stopped after a while.
"""

from __future__ import annotations

import logging
import re
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from vaultmind.errors import install_hint
from vaultmind.heavy import importing
from vaultmind.planner.types import Definition, FileRecord, Link, Task
from vaultmind.redact import mask

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Parser

PARSE_SECONDS = 2.0
"""Processor time of this thread that one file may take."""
MOST_CHARS = 1_000_000
MOST_DEFINITIONS, MOST_LINKS, MOST_NAMES, MOST_USES = 600, 400, 200, 150
DEEPEST = 40
"""How deep definitions are looked for."""
LONGEST = 240
"""Characters of an abstract, a signature, a task or a value."""
MOST_ABOVE = 40
"""Lines of comments and decorators that belong to the definition below them."""
INSTALL = install_hint("code")
CLASSES = frozenset({"class", "interface", "enum", "type", "holder"})
"""Kinds whose functions are methods, and into which is looked."""
_BASES = frozenset({
    "argument_list", "class_heritage", "extends_type_clause", "superclass", "super_interfaces",
    "extends_interfaces", "delegation_specifiers", "base_list", "base_class_clause", "trait_bounds",
})  # fmt: skip
"""Nodes that say what a class inherits from."""
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "call_expression"})
"""Values that make a function of a name; a call where a function is handed to it."""
_TYPED = {"struct_type": "class", "interface_type": "interface"}
_ABOVE = ("#", "//", "/*", "*", "@", "--", "[")
_TOPS = frozenset({"", "src", "app", "bin", "lib", "server", "client", "cmd"})
"""Folders whose index file is where a program begins."""
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*")
_TYPES = re.compile(r"<[^<>]*(?:<[^<>]*>[^<>]*)*>")
_NOT_A_BASE = re.compile(r"\b(?:extends|implements|public|private|protected|virtual|with)\b")
_MARKS = re.compile(r"^\s*(?:/\*+!?|//[/!]*|\*+/?|#+!?|--+|;+)\s?|\s{0,20}\*{1,80}/\s*$")
_QUOTES = re.compile(r"^[rRbBuUfF]{0,3}(\"\"\"|'''|\"|')(.*?)\1?$", re.S)
_TO_DO = re.compile(r"(?:#|//|/\*|\*|--)[^\n]{0,200}?\b((?:TODO|FIXME|XXX|HACK)\b[^\n]{0,300})")
_STRINGS = re.compile(r"//[^\n]*|#[^\n]*|\"[^\"\n]*\"|'[^'\n]*'|^[ \t]*\*[^\n]*", re.M)
_NO_ABSTRACT = re.compile(
    r"copyright|licen[cs]e|spdx|eslint|prettier|@ts-|-\*-|coding[:=]|^#!|use strict|noinspection"
    r"|pylint:|ruff:|mypy:|go:build|\+build",
    re.I,
)
_BRACES = re.compile(r"[^{},]*\{|\}|[^{},]+")
_HELD = threading.local()
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Language:
    """A language, as `languages.toml` describes it."""

    name: str
    grammar: str = ""
    """Module that carries the grammar; empty where none is known."""
    function: str = "language"
    extensions: tuple[str, ...] = ()
    file_names: tuple[str, ...] = ()
    shebangs: tuple[str, ...] = ()
    test_files: tuple[str, ...] = ()
    test_folders: tuple[str, ...] = ()
    entry_files: tuple[str, ...] = ()
    index_files: tuple[str, ...] = ()
    """Stems that stand for their folder: `__init__`, `index`, `mod`."""
    family: str = ""
    """Languages of one family import each other; empty: its own name."""
    public: str = "underscore"
    """`capital`: only names with a capital letter are for others."""
    public_words: tuple[str, ...] = ()
    private_words: tuple[str, ...] = ("private", "protected")
    kinds: Mapping[str, str] = field(default_factory=dict)
    """What each type of node defines."""
    imports: tuple[str, ...] = ()
    exports: str = ""
    """An expression whose groups hold the names that are for others."""


# --- languages ----------------------------------------------------------------------------


@cache
def languages() -> Mapping[str, Language]:
    """Return all languages by name."""
    read = tomllib.loads(files(__package__).joinpath("languages.toml").read_text("utf-8"))
    plain, known = read.pop("plain"), dict[str, Language]()
    for name, one in read.items():
        like = known.get(one.get("like", ""), Language(name))
        values: dict[str, Any] = {
            each.name: tuple(value) if isinstance(value, list) else value
            for each in fields(Language)
            if (value := one.get(each.name)) is not None
        }
        kinds = {**like.kinds, **one.get("kinds", {})}
        known[name] = replace(like, **values | {"name": name, "kinds": kinds})
    for name, endings in plain.items():
        names = tuple(one[1:] for one in endings if one[0] == "=")
        known[name] = Language(name, extensions=tuple(endings), file_names=names)
    return known


@cache
def _endings() -> Mapping[str, str]:
    return {ending: one.name for one in languages().values() for ending in one.extensions}


def language(name: str) -> Language:
    """Return a language by its name; of an unknown one the name alone."""
    return languages().get(name) or Language(name)


def language_of(path: str, first_line: str = "") -> str:
    """Return what a file is written in by its name, or by its `#!` line; empty: not code."""
    name = path.rpartition("/")[2]
    for one in languages().values():
        if name in one.file_names:
            return one.name
    ending = _endings().get(name.lower().rpartition(".")[2]) if "." in name else None
    if ending or not first_line.startswith("#!"):
        return ending or ""
    words = {word.rstrip("0123456789.") for word in first_line[2:].replace("/", " ").split()}
    return next((one.name for one in languages().values() if words & {*one.shebangs}), "")


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

    parsers: dict[str, Parser] = _HELD.__dict__.setdefault("parsers", {})
    parser = parsers.setdefault(one.name, Parser(grammar))  # none may be used by two threads
    until, whole, given = time.thread_time() + PARSE_SECONDS, memoryview(data), list[memoryview]()

    def read(offset: int, _point: object) -> memoryview:
        given.append(whole[offset : offset + 65_536])
        return given[-1]

    try:
        late = lambda *_: time.thread_time() > until  # noqa: E731
        return parser.parse(read, progress_callback=late).root_node
    except ValueError:  # it took too long
        parser.reset()
        return None
    finally:
        for piece in given:
            piece.release()


# --- reading ------------------------------------------------------------------------------


def read_code(plain: FileRecord, text: str) -> FileRecord:
    """Return the record of a file of code, in the order of the file; `uses`: most frequent first.

    What does not parse is left out, the rest told.
    """
    one = language(plain.language)
    *folders, file = plain.path.split("/")
    test = any(fnmatchcase(file, pattern) for pattern in one.test_files)
    test = test or not {*folders}.isdisjoint(one.test_folders)
    is_index = file.partition(".")[0] in one.index_files
    entry = file in one.entry_files and (not is_index or (folders or [""])[-1] in _TOPS)
    plain = replace(plain, test=test, entry=entry)
    if not one.grammar:
        return replace(plain, fault=f"no grammar for {one.name or 'this language'} is known")
    if not is_installed(one):
        return replace(plain, fault=f"no grammar for {one.name} is installed: {INSTALL}")
    if len(text) > MOST_CHARS:
        return replace(plain, fault=f"its {len(text):,} characters are over the limit")
    data = text.encode("utf-8", "replace")
    root = _parsed(one, data)
    if root is None:
        return replace(plain, fault="it could not be parsed in the time there is")
    read = _File(one, text, data)
    read.walk(root, None)
    about = (read.docstring(root) or read.head()).strip()
    own = {each.name.rpartition(".")[2] for each in read.definitions}
    counted = Counter(re.findall(r"[^\W\d]\w{2,60}", _STRINGS.sub(" ", text)))
    tasks = zip(_TO_DO.finditer(text), range(MOST_NAMES), strict=False)
    return replace(
        plain,
        definitions=tuple(read.definitions[:MOST_DEFINITIONS]),
        links=tuple(_links(one, text, read.definitions)),
        uses=tuple(name for name, _ in counted.most_common(MOST_USES) if name not in own),
        abstract=clean(re.split(r"\n\s*\n", about)[0]),
        tasks=tuple(
            Task(clean(_MARKS.sub("", found[1])), text.count("\n", 0, found.start(1)) + 1)
            for found, _ in tasks
        ),
    )


class _File:
    """One file whose tree is walked for definitions."""

    def __init__(self, one: Language, text: str, data: bytes) -> None:
        self.language, self.data, self.lines = one, data, text.split("\n")
        self.definitions: list[Definition] = []
        found = re.findall(one.exports, text) if one.exports else []
        self.exports = set(re.findall(r"\w+", " ".join(map(str, found))))
        self.has_exports = bool(found) or bool(one.exports and re.search(r"(?m)^export\b", text))

    def text(self, node: Node | None) -> str:
        if node is None:
            return ""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def walk(
        self, node: Node, parent: Definition | None, outer: Node | None = None, deep: int = 0
    ) -> None:
        """Note what stands in a node. Bodies of functions are not looked into."""
        for child in node.named_children if deep < DEEPEST else ():
            kind = self.language.kinds.get(child.type, "")
            if kind == "wrap":
                self.walk(child, parent, outer or child, deep + 1)
            elif kind:
                self._define(child, kind, parent, outer or child, deep)
            elif not child.type.endswith(("comment", "string")):
                self.walk(child, parent, outer, deep + 1)

    def _define(
        self, node: Node, kind: str, parent: Definition | None, outer: Node, deep: int
    ) -> None:
        """Note what a node defines, and what stands within."""
        named, body, value = self._named(node), _body_of(node), node.child_by_field_name("value")
        is_made = value is not None and value.type in _FUNCTIONS
        if is_made and value is not None and value.type == "call_expression":
            is_made = "=>" in self.text(value) or "function" in self.text(value)
        inside = parent is not None and parent.kind in CLASSES
        if kind == "prototype":
            kind = "function" if "(" in self.text(node) and named else ""
        elif kind in ("constant", "field"):
            plain = (
                "constant" if kind == "constant" and (not parent or parent.kind == "module") else ""
            )
            kind = "function" if is_made else plain
        elif kind in ("class", "enum") and body is None and self.language.family == "c":
            kind = ""  # it only names a struct
        of = node.child_by_field_name("type")
        kind = _TYPED.get(of.type, kind) if of is not None and kind == "type" else kind
        kind = "method" if kind == "function" and inside else kind
        name = "" if re.search(r"[^\w$.:~#<>\s=!+*/\[\]()-]", named) else named
        if not kind or not name:
            self.walk(node, parent, outer, deep + 1)
            return
        made = self._made(node, kind, f"{parent.name}.{name}" if parent else name, parent, outer)
        self.definitions += [made] if kind != "holder" else []
        if kind in CLASSES or kind == "module":
            self.walk(body or node, made, None, deep + 1)

    def _named(self, node: Node) -> str:
        """Return what a node calls what it defines, with what it belongs to."""
        names = ("name", "left", "declarator", "property", "type")
        found = next((one for name in names if (one := node.child_by_field_name(name))), None)
        while found is not None and (inner := found.child_by_field_name("declarator")):
            found = inner
        name = _TYPES.sub("", " ".join(self.text(found).split())).replace("::", ".")
        if owner := node.child_by_field_name("receiver"):
            held = _NAME.findall(_TYPES.sub("", self.text(owner)))
            name = f"{held[-1]}.{name}" if held else name
        return name

    def _made(
        self, node: Node, kind: str, name: str, parent: Definition | None, outer: Node
    ) -> Definition:
        body, first, last = _body_of(node), outer.start_point[0], outer.end_point[0]
        last -= outer.end_point[1] == 0 and last > first
        value = node.child_by_field_name("value")
        end = body or (value and _body_of(value))
        stop = end.start_byte if end else node.end_byte
        said = self.data[node.start_byte : stop].decode("utf-8", "replace")
        said = said if end else said.split("\n", 1)[0]
        said = " ".join(re.sub(r"(?:#|//)[^\n\"']*\n", "\n", said).split())
        signature = said.replace("( ", "(").replace(",)", ")").replace(" )", ")")
        signature = re.sub(r"\s{0,9}(?:=>|[:={;,]|\bwhere|\bthen|\bdo)\s*$", "", signature)
        summary = self.docstring(body) if body else ""
        if not summary:
            above = self.lines[lead_of(self.lines, first + 1) - 1 : first]
            summary = "\n".join(_MARKS.sub("", it) for it in above if it.lstrip()[:1] not in "@[")
        summary = next((line.strip() for line in summary.split("\n") if line.strip()), "")
        bases = ",".join(self.text(it) for it in node.named_children if it.type in _BASES)
        flat = re.sub(r"\([^()]*\)", "", _TYPES.sub("", bases).strip("()<: "))
        parts = re.split(r"[,+]", _NOT_A_BASE.sub(",", flat))
        found = (_NAME.search(it) for it in parts if "=" not in it and "*" not in it)
        is_public = self._is_public(name, signature, outer.type.startswith("export"), parent)
        return Definition(
            name, kind, first + 1, last + 1, clean(signature), clean(summary), is_public,
            tuple(dict.fromkeys(it.group() for it in found if it)) if kind in CLASSES else (),
        )  # fmt: skip

    def docstring(self, body: Node) -> str:
        """Return the string that a body begins with, of Python's."""
        told = next((one for one in body.named_children if one.type != "comment"), None)
        if told is None or told.type != "expression_statement" or not told.named_children:
            return ""
        text = self.text(told.named_children[0]) if told.named_children[0].type == "string" else ""
        found = _QUOTES.match(text)
        return (found.group(2) if found else text).strip()

    def _is_public(
        self, name: str, signature: str, exported: bool, parent: Definition | None
    ) -> bool:
        """Tell whether a definition is for others, by its name and the words before it."""
        one, own = self.language, name.rpartition(".")[2]
        before = signature.partition(own)[0].split()
        if (parent and not parent.public) or not {*before}.isdisjoint(one.private_words):
            return False
        if own.startswith("#") or (own.startswith("_") and not own.endswith("__")):
            return False
        if one.public_words and not (parent and parent.kind in ("interface", "holder")):
            return any(word.startswith(one.public_words) for word in before)
        if one.public == "capital":
            return own[:1].isupper()
        return bool(parent or not self.has_exports or exported or own in self.exports)

    def head(self) -> str:
        """Return the first comment of the file that tells of it, unless code follows at once."""
        block: list[str] = []
        for line in (*self.lines[:MOST_ABOVE], ""):
            if line.lstrip().startswith(_ABOVE):
                block.append(_MARKS.sub("", _MARKS.sub("", line)))
            elif line.strip():
                return ""
            elif block and not _NO_ABSTRACT.search(said := "\n".join(block)):
                return re.sub(r"@(?:file|fileoverview|module)\b", "", said)
            else:
                block = []
        return ""


def _body_of(node: Node) -> Node | None:
    return node.child_by_field_name("body") or next(
        (one for one in node.named_children if one.type.endswith(("body", "declaration_list"))),
        None,
    )


def _links(one: Language, text: str, definitions: Sequence[Definition]) -> Iterator[Link]:
    """Yield imports in the order of the file, then the bases of what it defines."""
    taken: dict[tuple[int, str], dict[str, None]] = {}
    aliases: dict[str, str] = {}
    for pattern in one.imports:
        for found in re.finditer(pattern, text, re.M):
            groups = {key: value or "" for key, value in found.groupdict().items()}
            line = text.count("\n", 0, found.start()) + 1
            listed = re.sub(r"#[^\n]*", "", groups.get("names", "")).replace("\\\n", " ")
            names = [_parted(each, aliases) for each in re.split(r"[,{}()]", listed)]
            modules = groups.get("modules", "").split(",") if "modules" in groups else []
            modules += [*_unfolded(groups.get("module", ""))]
            if "relative" in groups and groups["relative"] and modules[0][:1] != ".":
                modules = [f"./{modules[0]}"]
            for module in filter(None, (_parted(each, aliases) for each in modules)):
                held = taken.setdefault((line, module[:300]), {})
                held.update(dict.fromkeys(filter(None, names)))
    for (line, module), held in sorted(taken.items(), key=lambda it: it[0][0])[:MOST_LINKS]:
        yield Link("import", module, line, tuple(held)[:MOST_NAMES])
    for each in definitions:
        for base in each.bases:
            head, dot, rest = base.partition(".")
            yield Link("inherits", f"{aliases.get(head, head)}{dot}{rest}", each.line, (each.name,))


def _parted(said: str, aliases: dict[str, str]) -> str:
    """Return what is imported by `a as b`, `a: b` or `type a`, and note how it is called here."""
    name, _, alias = re.sub(r"\s+as\s+|\s*:\s+", "\0", said.strip()).partition("\0")
    name = "*" if "*" in name else name.strip().removeprefix("type ").strip()
    name, alias = (alias, "") if name == "default" else (name, alias)
    if alias and name != "*":
        aliases[alias.strip()] = name
    return name


def _unfolded(module: str) -> Iterator[str]:
    """Yield the paths of Rust's `a::{b, c::{d as e, self}}`; of any other import its name."""
    heads: list[str] = []
    for part in _BRACES.findall(module)[:MOST_NAMES]:
        if part == "}":
            heads = heads[:-1]
        elif part.endswith("{"):
            heads.append(part[:-1].strip())
        elif name := part.partition(" as ")[0].strip():
            yield "".join((*heads, name)).removesuffix("::self")


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
