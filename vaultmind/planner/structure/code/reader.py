"""Reads a file of code with its language's grammar, as far as there is one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vaultmind.errors import install_hint
from vaultmind.planner.structure.code.defining import MOST_DEFINITIONS, Placed, definitions_of
from vaultmind.planner.structure.code.facts import CodeFacts
from vaultmind.planner.structure.code.grammar import Parsed, parse
from vaultmind.planner.structure.code.importing import links_of
from vaultmind.planner.structure.code.languages import Language, installed, is_entry, is_test
from vaultmind.planner.structure.code.languages import language as language_named
from vaultmind.planner.structure.code.mending import mended
from vaultmind.planner.structure.code.mentions import is_minified, uses_of
from vaultmind.planner.structure.code.remarks import (
    Remark,
    abstract_of,
    first_paragraph,
    remarks,
    tasks_of,
    unquoted,
)
from vaultmind.planner.structure.code.sorting import Sorted, place, sort

MOST_CHARS = 1_000_000
"""What is longer is not parsed: data, or written by a program."""
_LEFT_OUT = f"only its first {MOST_DEFINITIONS} definitions are read"
INSTALL = install_hint("code")


def read_code(path: str, text: str, language: str) -> CodeFacts:
    """Return what a file of code holds. Never raises for what stands in it.

    Lines count from 1 and end with a line feed. What does not parse is left out, the rest told.
    """
    one = rather(language_named(language), text)
    test, entry = is_test(path, one), is_entry(path, one)
    parsed, fault = parsed_or_not(one, text)
    if parsed is None:
        return CodeFacts(test=test, entry=entry, faults=(fault,))
    found = sort(parsed)
    comments = remarks(parsed, found)
    placed, more = definitions_of(parsed, found, comments)
    definitions = tuple(each.definition for each in placed)
    own = {each.name.rpartition(".")[2] for each in definitions}
    return CodeFacts(
        definitions=definitions,
        links=links_of(parsed, found, definitions),
        uses=uses_of(parsed, found, own),
        abstract=_abstract(parsed, found, comments, placed),
        test=test,
        entry=entry,
        tasks=tasks_of(comments),
        faults=tuple(filter(None, (fault, _LEFT_OUT if more else ""))),
    )


def parsed_or_not(one: Language, text: str) -> tuple[Parsed | None, str]:
    """Return a text's syntax tree, or None; and why there is none, or less than all in it."""
    if not one.grammar:
        return None, f"no grammar for {one.name or 'this language'} is known"
    if not installed(one):
        return None, f"no grammar for {one.name} is installed: {INSTALL}"
    if len(text) > MOST_CHARS:
        return None, f"{len(text) / 1e6:.1f} million characters are over the limit of 1 million"
    if is_minified(text):
        return None, "it is minified"
    parsed = parse(one, text)
    if parsed is None:
        return None, "it could not be parsed in the time there is"
    return mended(parsed, text), _broken(parsed)


def rather(one: Language, text: str) -> Language:
    """Return the language that a text is in rather than the one its name says: C++ in a `.h`."""
    if one.otherwise and re.search(one.otherwise_when, text, re.M):
        return language_named(one.otherwise)
    return one


def _abstract(
    parsed: Parsed, found: Sorted, comments: Sequence[Remark], placed: Sequence[Placed]
) -> str:
    doc = found.docs.get(place(parsed.root))
    if doc is not None:
        return first_paragraph(unquoted(parsed.text(doc)))
    return abstract_of(comments, {each.definition.line - 1 for each in placed})


def _broken(parsed: Parsed) -> str:
    """Return where the first thing stands that is not understood; empty: there is none."""
    node = parsed.root
    if not node.has_error or parsed.language.macros:
        return ""
    while not (node.is_error or node.is_missing):
        broken = next((child for child in node.children if child.has_error), None)
        if broken is None:
            break
        node = broken
    return f"its syntax is not understood around line {node.start_point[0] + 1}"
