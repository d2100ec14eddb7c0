"""The one room of tree-sitter: a parser a thread, a query a language, and limits on both.

tree-sitter holds Python's lock while it works, and both its error recovery and its queries may
take minutes over what is no code: parsing is stopped after a while, and a tree that queries would
take too long over is not asked (0.26.1 crashes when a query is given a callback to stop it).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from vaultmind.heavy import importing
from vaultmind.planner.structure.code.languages import Language, installed, language

if TYPE_CHECKING:
    import tree_sitter

    Node = tree_sitter.Node

PARSE_SECONDS = 2.0
"""Of this thread's own time, for one file: a busy machine gives up no other files than an idle."""
_MOST_BROKEN = 5_000
"""Children of a node of errors: a query takes time by their square."""
_MOST_IN_PROGRESS = 20_000
"""Matches at once of a query: past it some are dropped rather than the memory filled."""
_PIECE_BYTES = 65_536
_HELD = threading.local()
_log = logging.getLogger(__name__)

Nodes = dict[str, list["Node"]]
"""One match of a query: its nodes by the name of their capture."""


class _Source:
    """Gives a parser its text piece by piece, and takes the pieces back.

    tree-sitter 0.26.1 never lets go of what it is given: views can be emptied, bytes cannot.
    """

    def __init__(self, data: bytes) -> None:
        self._whole = memoryview(data)
        self._pieces: list[memoryview] = []

    def __call__(self, offset: int, _point: object) -> memoryview:
        piece = self._whole[offset : offset + _PIECE_BYTES]
        self._pieces.append(piece)
        return piece

    def close(self) -> None:
        """Empty all that was given: the tree may not be asked for its text any more."""
        for piece in self._pieces:
            piece.release()
        self._pieces.clear()


@dataclass(frozen=True, slots=True)
class Parsed:
    """A syntax tree and the text it is of. Errors stand in it between what is understood."""

    language: Language
    data: bytes
    root: tree_sitter.Node
    tree: tree_sitter.Tree
    _source: _Source

    def text(self, node: tree_sitter.Node) -> str:
        """Return the text of a node. Offsets of a tree are bytes, not characters."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def matches(self) -> list[Nodes]:
        """Return the matches of the language's queries, in about the order of the file. Once."""
        compiled = _query(self.language.name)
        if compiled is None:
            self.close()
            return []
        from tree_sitter import QueryCursor

        found = QueryCursor(compiled, match_limit=_MOST_IN_PROGRESS).matches(self.root)
        self.close()
        only = _only(self.language.name)
        return [nodes for number, nodes in found if self._is_meant(nodes, only[number])]

    def _is_meant(self, nodes: Nodes, only: frozenset[str]) -> bool:
        """Tell whether the text that a match is bound to is one of those that are meant."""
        return not only or self.text(nodes["_is"][0]) in only

    def close(self) -> None:
        """Let go of the text, for a tree that is not asked for its matches."""
        self._source.close()


def parse(one: Language, text: str) -> Parsed | None:
    """Return the syntax tree of a text; None: no grammar, it took too long, or is no code."""
    parser = _parser(one)
    if parser is None:
        return None
    data = text.encode("utf-8", "replace")
    late = _deadline()
    source = _Source(data)
    try:
        tree = parser.parse(
            source,
            progress_callback=lambda _offset, _error: late(),
        )
    except ValueError:  # it was stopped
        parser.reset()
        source.close()
        return None
    if _is_tangled(tree.root_node):
        source.close()
        return None
    return Parsed(one, data, tree.root_node, tree, source)


def _is_tangled(root: Node) -> bool:
    """Tell whether a tree holds a heap of what was not understood."""
    waiting = [root] if root.has_error else []
    while waiting:
        node = waiting.pop()
        if node.is_error and node.child_count > _MOST_BROKEN:
            return True
        waiting.extend(child for child in node.children if child.has_error)
    return False


def _deadline() -> Callable[[], bool]:
    until = time.thread_time() + PARSE_SECONDS
    return lambda: time.thread_time() > until


def _parser(one: Language) -> tree_sitter.Parser | None:
    """Return this thread's parser: none may be used by two at once."""
    held: dict[str, tree_sitter.Parser] = _HELD.__dict__.setdefault("parsers", {})
    if one.name not in held:
        grammar = _grammar(one.name)
        if grammar is None:
            return None
        from tree_sitter import Parser

        held[one.name] = Parser(grammar)
    return held[one.name]


@cache
def _grammar(name: str) -> tree_sitter.Language | None:
    one = language(name)
    if not installed(one):
        return None
    with importing():
        try:
            from tree_sitter import Language as Grammar

            return Grammar(getattr(import_module(one.grammar), one.function)())
        except (ImportError, AttributeError, ValueError, OSError) as error:
            # a package of another version or another machine: the language is read as text
            _log.warning("the grammar %s cannot be used: %s", one.grammar, error)
            return None


@cache
def _query(name: str) -> tree_sitter.Query | None:
    grammar = _grammar(name)
    if grammar is None:
        return None
    from tree_sitter import Query, QueryError

    try:
        return Query(grammar, "\n".join(language(name).queries.values()))
    except QueryError as error:  # another version of the grammar names its nodes otherwise
        _log.warning("the queries of %s do not fit its grammar: %s", name, error)
        return None


@cache
def _only(name: str) -> tuple[frozenset[str], ...]:
    """Return, for each pattern of a language's query, the texts that its `@_is` may have.

    Not a predicate of tree-sitter: it would ask for the text again, and never let go of it.
    """
    query = _query(name)
    if query is None:
        return ()
    said = (query.pattern_settings(number).get("only") for number in range(query.pattern_count))
    return tuple(frozenset((words or "").split()) for words in said)
