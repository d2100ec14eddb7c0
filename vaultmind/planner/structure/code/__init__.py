"""What code says of itself: definitions, imports, bases, tests, and where it may be cut."""

from vaultmind.planner.structure.code.facts import CodeFacts, Span
from vaultmind.planner.structure.code.languages import grammars, language_of
from vaultmind.planner.structure.code.reader import read_code
from vaultmind.planner.structure.code.spans import code_spans

__all__ = ["CodeFacts", "Span", "code_spans", "grammars", "language_of", "read_code"]
