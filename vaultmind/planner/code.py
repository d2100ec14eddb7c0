"""What a file of code holds, read with tree-sitter: definitions, imports, names, where to cut it.

tree-sitter holds Python's lock while it works, and its error recovery and its queries may take
minutes over what is no code: parsing is stopped after a while, and a tree of errors is not asked.
"""

from __future__ import annotations

import logging
import re
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from vaultmind.errors import install_hint
from vaultmind.heavy import importing
from vaultmind.planner.types import Definition, Link, Task

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Parser, Query

PARSE_SECONDS = 2.0
"""Processor time of this thread that one file may take."""
MOST_CHARS = 1_000_000
MOST_DEFINITIONS, MOST_LINKS, MOST_NAMES, MOST_USES = 600, 400, 200, 150
MOST_BROKEN = 5_000
"""Children of a node of errors: a query takes time by their square."""
SIGNATURE_CHARS, SUMMARY_CHARS, ABSTRACT_CHARS = 240, 200, 300
MOST_ABOVE = 40
"""Lines of comments and decorators that belong to the definition below them."""
INSTALL = install_hint("code")
CLASSES = frozenset({"class", "interface", "enum", "type", "holder"})
"""Kinds whose functions are methods."""
_ABOVE = ("#", "//", "/*", "*", "@", "--")
_TOPS = frozenset({"", "src", "app", "bin", "lib", "server", "client", "cmd"})
"""Folders whose index file is where a program begins."""
_KINDS = (
    "class", "function", "method", "interface", "type", "enum", "module", "constant",
    "default_function", "default_class", "holder",
)  # fmt: skip
_RANKS = {"constant": 0, "type": 3, "class": 6}
"""Kinds that a name has only where no other pattern tells more of it."""
_LEFT_OVER = re.compile(r"\s{0,20}(?:=>|[:={;]|\bwhere|\bthen|\bdo)\s*$")
_OF_MODULE = re.compile(r"^(?:module\.)?exports\.|^this\.|^window\.|^globalThis\.")
_NOT_A_BASE = re.compile(
    r"\b(?:extends|implements|public|private|protected|virtual|with|superclass)\b"
)
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*")
_TYPES = re.compile(r"<[^<>]*(?:<[^<>]*>[^<>]*)*>")
_MARKS = re.compile(r"^\s*(?:/\*+!?|//[/!]*|\*+/?|#+!?|--+|;+)\s?|\s{0,20}\*{1,80}/\s*$")
_QUOTES = re.compile(r"^[rRbBuUfF]{0,3}(\"\"\"|'''|\"|')(.*?)\1?$", re.S)
_TO_DO = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b.*")
_WORD = re.compile(r"[^\W\d]\w{2,60}")
_NO_ABSTRACT = re.compile(
    r"copyright|licen[cs]e|spdx|eslint|prettier|@ts-|-\*-|coding[:=]|^#!|use strict|noinspection"
    r"|pylint:|ruff:|mypy:|go:build|\+build",
    re.I,
)
_EDGES = "\"'`<> \t\r\n;"
_BRACES = re.compile(r"[^{},]*\{|\}|[^{},]+")
_HELD = threading.local()
log = logging.getLogger(__name__)
Nodes = dict[str, list["Node"]]
"""One match of a query: its nodes by the name of their capture."""
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CodeFacts:
    """What a file of code holds, in the order of the file; `uses`: the most frequent name first."""

    definitions: tuple[Definition, ...] = ()
    links: tuple[Link, ...] = ()
    uses: tuple[str, ...] = ()
    abstract: str = ""
    test: bool = False
    entry: bool = False
    tasks: tuple[Task, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Language:
    """A language, as its file in `languages/` describes it."""

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
    docs: str = "comment"
    """Where a definition's doc stands: `comment` above it, or `docstring` within."""
    queries: Mapping[str, str] = field(default_factory=dict)


# --- languages ----------------------------------------------------------------------------


@cache
def languages() -> Mapping[str, Language]:
    """Return all languages by name."""
    folder = files(__package__).joinpath("languages")
    read = {
        file.name.removesuffix(".toml"): tomllib.loads(file.read_text("utf-8"))
        for file in sorted(folder.iterdir(), key=lambda one: one.name)
        if file.name.endswith(".toml")
    }
    plain = read.pop("plain")
    known = {name: _language(one, read) for name, one in read.items()}
    for name, endings in plain.items():
        names = tuple(one[1:] for one in endings if one[0] == "=")
        known[name] = Language(name, extensions=tuple(endings), file_names=names)
    return known


def _language(one: Mapping[str, Any], read: Mapping[str, Mapping[str, Any]]) -> Language:
    like = read.get(one.get("like", ""))
    base = replace(_language(like, read), name=one["name"]) if like else Language(one["name"])
    values: dict[str, Any] = {
        each.name: tuple(value) if isinstance(value, list) else value
        for each in fields(Language)
        if each.name != "queries" and (value := one.get(each.name)) is not None
    }
    return replace(base, **values, queries={**base.queries, **one.get("queries", {})})


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


class _Text:
    """Gives a parser its text piece by piece, and takes the pieces back.

    tree-sitter 0.26.1 never lets go of what it is given: views can be emptied, bytes cannot.
    """

    def __init__(self, data: bytes) -> None:
        self._whole = memoryview(data)
        self._pieces: list[memoryview] = []

    def __call__(self, offset: int, _point: object) -> memoryview:
        self._pieces.append(self._whole[offset : offset + 65_536])
        return self._pieces[-1]

    def close(self) -> None:
        for piece in self._pieces:
            piece.release()


@cache
def _grammar(name: str) -> tuple[Grammar, Query] | None:
    one = language(name)
    if not is_installed(one):
        return None
    with importing():
        try:
            from tree_sitter import Language as Grammar
            from tree_sitter import Query

            grammar = Grammar(getattr(import_module(one.grammar), one.function)())
            return grammar, Query(grammar, "\n".join(one.queries.values()))
        except (ImportError, AttributeError, ValueError, OSError) as error:
            # a package of another version or another machine: the language is read as text
            log.warning("the grammar %s cannot be used: %s", one.grammar, error)
            return None


def _matches(one: Language, text: str) -> tuple[list[Nodes], Node] | None:
    """Return the matches of a language's queries and the root; None where it cannot be parsed."""
    found = _grammar(one.name)
    if found is None:
        return None
    from tree_sitter import Parser, QueryCursor

    grammar, query = found
    parsers: dict[str, Parser] = _HELD.__dict__.setdefault("parsers", {})
    parser = parsers.setdefault(one.name, Parser(grammar))  # none may be used by two threads
    data = text.encode("utf-8", "replace")
    until, given = time.thread_time() + PARSE_SECONDS, _Text(data)
    try:
        tree = parser.parse(given, progress_callback=lambda *_: time.thread_time() > until)
        if _is_tangled(tree.root_node):
            return None
        matches = QueryCursor(query, match_limit=20_000).matches(tree.root_node)
        only = [(query.pattern_settings(n).get("only") or "").split()
                for n in range(query.pattern_count)]  # fmt: skip
        # No predicate of tree-sitter: it would ask for the text again, and never let go of it.
        kept = [
            nodes
            for number, nodes in matches
            if not only[number] or _text(data, nodes["_is"][0]) in only[number]
        ]
        return kept, tree.root_node
    except ValueError:  # it took too long
        parser.reset()
        return None
    finally:
        given.close()


def _is_tangled(root: Node) -> bool:
    waiting = [root] if root.has_error else []
    while waiting:
        node = waiting.pop()
        if node.is_error and node.child_count > MOST_BROKEN:
            return True
        waiting.extend(child for child in node.children if child.has_error)
    return False


def _text(data: bytes, node: Node) -> str:
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _place(node: Node) -> Place:
    return node.start_byte, node.end_byte


# --- reading ------------------------------------------------------------------------------


def read_code(path: str, text: str, name: str) -> CodeFacts:
    """Return what a file of code holds. What does not parse is left out, the rest told."""
    one = language(name)
    *folders, file = path.split("/")
    test = any(fnmatchcase(file, pattern) for pattern in one.test_files)
    test = test or not {*folders}.isdisjoint(one.test_folders)
    is_index = file.partition(".")[0] in one.index_files
    entry = file in one.entry_files and (not is_index or (folders or [""])[-1] in _TOPS)
    facts = CodeFacts(test=test, entry=entry)
    if not one.grammar:
        return replace(facts, fault=f"no grammar for {one.name or 'this language'} is known")
    if not is_installed(one):
        return replace(facts, fault=f"no grammar for {one.name} is installed: {INSTALL}")
    if len(text) > MOST_CHARS:
        return replace(facts, fault=f"its {len(text):,} characters are over the limit")
    matches = _matches(one, text)
    if matches is None:
        return replace(facts, fault="it could not be parsed in the time there is")
    return _File(one, text, *matches).facts(facts)


class _File:
    """One parsed file, its matches sorted by what they tell."""

    def __init__(self, one: Language, text: str, matches: list[Nodes], root: Node) -> None:
        self.language, self.root = one, root
        self.data, self.lines = text.encode("utf-8", "replace"), text.split("\n")
        self.comments = sorted((n for m in matches for n in m.get("comment", ())), key=_place)
        self.strings = [node for each in matches for node in each.get("string", ())]
        self.imports = [each for each in matches if "import" in each]
        self.public = {self.text(node) for each in matches for node in each.get("public", ())}
        self.has_exports = any("exporting" in each or "public" in each for each in matches)
        wraps = [each for each in matches if "wrap" in each]
        self.wraps = {_place(each["wrapped"][0]): each["wrap"][0] for each in wraps}
        self.exported = {_place(each["wrapped"][0]) for each in wraps if "exporting" in each}
        self.docs = {_place(m["doc_of"][0]): m["doc"][0] for m in matches if "doc_of" in m}
        self.found = [
            (kind, node, each)
            for each in matches
            if "import" not in each
            for kind in _KINDS
            for node in each.get(kind, ())
        ]
        self.around: list[tuple[Place, Definition]] = []

    def text(self, node: Node) -> str:
        return _text(self.data, node)

    def facts(self, facts: CodeFacts) -> CodeFacts:
        definitions = [one for match in self._chosen() if (one := self._define(*match))]
        own = {one.name.rpartition(".")[2] for one in definitions}
        nodes = (*self.comments, *self.strings, *(each["import"][0] for each in self.imports))
        counted = Counter(_WORD.findall(self._without(nodes, 0, len(self.data))))
        uses = (name for name, _ in counted.most_common() if name not in own | _keywords())
        doc = self.docs.get(_place(self.root))
        return replace(
            facts,
            definitions=tuple(definitions),
            links=tuple(self._links(definitions)),
            uses=tuple(name for name, _ in zip(uses, range(MOST_USES), strict=False)),
            abstract=_first_paragraph(_unquoted(self.text(doc)) if doc else self._head()),
            tasks=tuple(
                Task(_clip(_MARKS.sub("", told.group()).strip(), SUMMARY_CHARS), row)
                for node in self.comments
                for row, line in enumerate(self.text(node).split("\n"), node.start_point[0] + 1)
                if (told := _TO_DO.search(line))
            )[:MOST_NAMES],
        )

    def _chosen(self) -> list[tuple[str, Node, Nodes]]:
        """Return one match for each name: what tells most, in the order of the file."""
        best: dict[tuple[int, str], tuple[int, tuple[str, Node, Nodes]]] = {}
        imports = [each["import"][0].start_byte for each in self.imports]
        for kind, node, nodes in self.found:
            begin, end = _place(node)
            if kind == "constant" and any(begin <= at < end for at in imports):
                continue  # const a = require("a")
            name = nodes.get("name")
            key = (name[0].start_byte, "") if name else (begin, kind)
            weight = _RANKS.get(kind, 7) + ("body" in nodes) * 2 + ("bases" in nodes)
            held = best.get(key)
            if held and "bases" in nodes:
                had = held[1][2].get("bases", [])
                nodes["bases"] = [*had, *(one for one in nodes["bases"] if one not in had)]
            if held is None or weight > held[0] or (weight == held[0] and "bases" in nodes):
                best[key] = weight, (kind, node, nodes)
        chosen = (match for _, match in best.values())
        ordered = sorted(chosen, key=lambda one: (one[1].start_byte, -one[1].end_byte))
        return ordered[:MOST_DEFINITIONS]

    def _define(self, kind: str, node: Node, nodes: Nodes) -> Definition | None:
        """Return what a match defines, and remember it for what stands within; None of a holder."""
        while self.around and not (
            node.start_byte < self.around[-1][0][1] and _place(node) != self.around[-1][0]
        ):
            self.around.pop()
        parent = self.around[-1][1] if self.around else None
        name = self._name(nodes, parent)
        outer, exported = node, False
        while (wrap := self.wraps.get(_place(outer))) is not None and _place(wrap) != _place(outer):
            exported = exported or _place(outer) in self.exported
            outer = wrap
        kind = kind.removeprefix("default_")
        if kind == "function" and ("owner" in nodes or (parent and parent.kind in CLASSES)):
            kind = "method"
        signature, first = self._signature(node, nodes), outer.start_point[0]
        last = outer.end_point[0] - (outer.end_point[1] == 0 and outer.end_point[0] > first)
        doc = self.docs.get(_place(nodes["body"][0])) if "body" in nodes else None
        summary = _unquoted(self.text(doc)) if doc else ""
        if not doc and self.language.docs == "comment":
            above = self.lines[lead_of(self.lines, first + 1) - 1 : first]
            summary = "\n".join(_MARKS.sub("", one) for one in above if one.lstrip()[:1] != "@")
        made = Definition(
            name, kind, first + 1, last + 1, signature, _first_line(summary),
            self._is_public(name, signature, exported, parent), self._bases(nodes),
        )  # fmt: skip
        self.around.append((_place(node), made))
        return made if kind != "holder" else None

    def _name(self, nodes: Nodes, parent: Definition | None) -> str:
        found = nodes.get("name")
        name = " ".join(self.text(found[0]).split()) if found else "default"
        name = name if "operator" in name else _TYPES.sub("", name)
        name = _OF_MODULE.sub("", name).replace(".prototype.", ".").replace("::", ".")
        if owner := nodes.get("owner"):
            held = _NAME.search(self.text(owner[0]))
            name = f"{held.group()}.{name}" if held else name
        return f"{parent.name}.{name}" if parent else name

    def _signature(self, node: Node, nodes: Nodes) -> str:
        """Return all before the body, without comments, on one line."""
        body = nodes.get("body")
        end = body[0].start_byte if body else node.end_byte
        text = self._without(self.comments, node.start_byte, end).strip()
        if not body and "name" in nodes:
            text = text.split("\n", 1)[0]
        text = " ".join(text.split()).replace("( ", "(").replace(",)", ")").replace(" )", ")")
        text = _LEFT_OVER.sub("", text) if body else text.rstrip(" ;,{").removesuffix("; end")
        return _clip(text, SIGNATURE_CHARS)

    def _without(self, nodes: Iterable[Node], start: int, end: int) -> str:
        """Return the text between two offsets without some nodes."""
        kept = []
        for begin, after in sorted(map(_place, nodes)):
            if start <= begin < end:
                kept.append(self.data[start:begin])
                start = after
        kept.append(self.data[start:end])
        return b" ".join(kept).decode("utf-8", "replace")

    def _bases(self, nodes: Nodes) -> tuple[str, ...]:
        """Return the names of what a class inherits from, without type arguments and calls."""
        text = ", ".join(self.text(node) for node in nodes.get("bases", ()))
        flat = re.sub(r"\([^()]*\)", "", _TYPES.sub("", text).strip("()<: "))
        parts = re.split(r"[,+]", _NOT_A_BASE.sub(",", flat))
        names = (_NAME.search(one) for one in parts if "=" not in one and "*" not in one)
        return tuple(dict.fromkeys(found.group() for found in names if found))

    def _is_public(
        self, name: str, signature: str, exported: bool, parent: Definition | None
    ) -> bool:
        """Tell whether a definition is for others, by its name and the words before it."""
        one, own = self.language, name.rpartition(".")[2]
        if parent and not (parent.public and parent.kind in CLASSES | {"module"}):
            return False
        before = signature.partition(own)[0].split() if own in signature else signature.split()
        if own.startswith("#") or not {*before}.isdisjoint(one.private_words):
            return False
        if one.public_words and not (parent and parent.kind in ("interface", "holder")):
            return any(word.startswith(one.public_words) for word in before)
        if one.public == "capital":
            return own[:1].isupper()
        if own.startswith("_") and not (own.startswith("__") and own.endswith("__")):
            return False
        given = {name.partition(".")[0], "default"} & (self.public | {"default"})
        return bool(parent or not self.has_exports or exported or name in given)

    def _head(self) -> str:
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

    def _links(self, definitions: Sequence[Definition]) -> Iterator[Link]:
        """Yield imports in the order of the file, then the bases of what it defines."""
        taken: dict[tuple[int, str], dict[str, None]] = {}
        aliases: dict[str, str] = {}
        for nodes in self.imports:
            line = nodes["import"][0].start_point[0] + 1
            names = [self.text(node).strip(_EDGES) for node in nodes.get("taken", ())]
            names += [self.text(node) for node in nodes.get("default", ())]
            names += ["*"] if "star" in nodes and "default" not in nodes else []
            alias = self.text(nodes["alias"][0]) if "alias" in nodes else ""
            module = self.text(nodes["module"][0]).strip(_EDGES)
            if names == ["default"] and alias:
                names = [alias]
            elif alias:
                aliases[alias] = names[0] if names and names[0] != "*" else module
            if "relative" in nodes and module[:1] != ".":
                module = f"./{module}"
            for path in _unfolded(module):
                taken.setdefault((line, path), {}).update(dict.fromkeys(names))
        imports = sorted(taken.items(), key=lambda one: one[0][0])[:MOST_LINKS]
        for (line, module), held in imports:
            yield Link("import", module, line, tuple(held)[:MOST_NAMES])
        for one in definitions:
            for base in one.bases:
                head, dot, rest = base.partition(".")
                name = f"{aliases.get(head, head)}{dot}{rest}"
                yield Link("inherits", name, one.line, (one.name,))


def _unfolded(module: str) -> Iterator[str]:
    """Yield the paths of Rust's `a::{b, c::{d as e, self}}`; of any other import its name."""
    if "{" not in module:
        yield "".join(module.partition(" as ")[0].split())[:300]
        return
    heads: list[str] = []
    for part in _BRACES.findall(module)[:MOST_NAMES]:
        if part == "}":
            heads = heads[:-1]
        elif part.endswith("{"):
            heads.append(part[:-1].strip())
        elif name := part.partition(" as ")[0].strip():
            yield "".join((*heads, name)).removesuffix("::self")


@cache
def _keywords() -> frozenset[str]:
    """Return words that say nothing in any of the languages."""
    folder = files(__package__).joinpath("languages")
    return frozenset(folder.joinpath("keywords.txt").read_text("utf-8").split())


def _unquoted(literal: str) -> str:
    found = _QUOTES.match(literal)
    return (found.group(2) if found else literal).strip()


def _first_line(text: str) -> str:
    return _clip(next((line.strip() for line in text.split("\n") if line.strip()), ""),
                 SUMMARY_CHARS)  # fmt: skip


def _first_paragraph(text: str) -> str:
    return _clip(" ".join(re.split(r"\n\s*\n", text.strip(), maxsplit=1)[0].split()),
                 ABSTRACT_CHARS)  # fmt: skip


def _clip(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[: chars - 1].rstrip()}…"


def lead_of(lines: Sequence[str], line: int) -> int:
    """Return the line at which the comments and decorators above a definition begin."""
    first = line
    while first > max(1, line - MOST_ABOVE) and lines[first - 2].lstrip().startswith(_ABOVE):
        first -= 1
    return first
