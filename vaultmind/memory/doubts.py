"""Why a fact is not simply taken away by somebody who is not the person, in words."""

from __future__ import annotations

from collections.abc import Iterable

from vaultmind.memory.brain import Brain
from vaultmind.memory.rights.policy import inferred
from vaultmind.redact import mask
from vaultmind.types import Fact, MemoryWrite

SHOWN = 100
"""Characters of a fact that a message repeats."""
BELOW = "the lines below it"


def quoted(text: str) -> str:
    """Return a fact's text for a message: in quotation marks, without secrets, not too long."""
    text = mask(text).text
    short = text if len(text) <= SHOWN else text[: SHOWN - 1].rstrip() + "…"
    return f"“{short}”"


def named(fact: Fact) -> str:
    """Return a fact's text for a message, with the id by which it can be told from others."""
    return quoted(fact.text) + (f" (^{fact.block})" if fact.block else "")


def doubt(old: Fact, brain: Brain, write: MemoryWrite) -> str:
    """Return why a contradicted fact is not simply replaced; empty where it may be."""
    if why := typed(old, write):
        return why
    if rest := _rest(old, brain, write):
        besides = (
            f"{named(old)} says otherwise, and says more ({mask(rest).text}) that would be lost"
        )
        return f"{besides}; correct it with all that holds now"
    return ""


def typed(old: Fact, write: MemoryWrite) -> str:
    """Return why a contradicted fact is the person's own; empty where it is not."""
    if old.written or write.how == "said" or write.caller.kind == "person":
        return ""
    return f"{named(old)} says otherwise and was typed by the person"


def left_over(old: Fact, write: MemoryWrite) -> str:
    """Return what an old fact says that a new one leaves out."""
    from vaultmind.memory.contradictions.compound import left_over as rest_of

    return rest_of(write.text, old.text)


def meant(gone: Iterable[Fact], brain: Brain, write: MemoryWrite) -> str:
    """Return why extraction does not by itself take away the facts that its words mean.

    What the person typed, or typed something below, is theirs; and what a fact says besides
    would be lost with it.
    """
    if not inferred(write):
        return ""
    for old in gone:
        if not old.written:
            return f"{named(old)} was typed by the person"
        rest = left_over(old, write) if write.op == "replace" else ""
        if rest := rest or _below(old, brain):
            return f"{named(old)} says more ({mask(rest).text}) that would be lost"
    return ""


def _rest(old: Fact, brain: Brain, write: MemoryWrite) -> str:
    """Return what a contradicted fact says besides; empty for nothing."""
    return left_over(old, write) or _below(old, brain)


def _below(old: Fact, brain: Brain) -> str:
    has_lines = any(one.fact == old and one.tree_end != one.end for one in brain.facts)
    return BELOW if has_lines else ""
