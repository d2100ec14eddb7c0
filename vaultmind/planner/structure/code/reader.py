"""Reads a file of code with its language's grammar, as far as there is one."""

from __future__ import annotations

from vaultmind.planner.structure.code.facts import CodeFacts
from vaultmind.planner.structure.code.languages import is_entry, is_test
from vaultmind.planner.structure.code.languages import language as language_named


def read_code(path: str, text: str, language: str) -> CodeFacts:
    """Return what a file of code holds. Never raises for what stands in it."""
    one = language_named(language)
    fault = f"no grammar for {language}"
    return CodeFacts(test=is_test(path, one), entry=is_entry(path, one), faults=(fault,))
