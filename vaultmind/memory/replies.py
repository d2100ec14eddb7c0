"""What a person who spoke to their memory is told, in the language they spoke."""

from __future__ import annotations

from vaultmind.memory.sections import tables
from vaultmind.redact import has_household_code
from vaultmind.types import Outcome

FALLBACK = "en"


def phrase(lang: str, name: str, table: str = "replies", **values: object) -> str:
    """Return a sentence in a language, English for one that has none."""
    known = tables()[table]
    return str(known.get(lang, known[FALLBACK])[name]).format(**values)


def told(lang: str, op: str, outcome: Outcome, asked: str) -> str:
    """Return what came of a request, with the fact and the file, in the person's language.

    `op` is remember, replace or forget; `asked` the words of what was to be forgotten.
    """
    name = op if outcome.outcome == "written" else outcome.outcome
    if name == "not_found" and outcome.fact:  # it was found, and is not to be lost
        name = "not_kept"
    if name == "remember" and outcome.before:  # it took the place of a fact it contradicts
        name = "replace"
    before, fact = outcome.before or asked, outcome.fact or asked
    if op == "remember" and name == "suggested" and outcome.before:  # it would take its place
        fact = f"{before} → {fact}"
    values = {"fact": fact, "before": before, "path": outcome.path, "asked": asked}
    lines = [phrase(lang, name, **values, reason=outcome.reason)]
    if outcome.hidden_messages:
        lines.append(phrase(lang, "hidden", count=outcome.hidden_messages))
    if outcome.redacted:
        lines.append(phrase(lang, "redacted", kinds=", ".join(outcome.redacted)))
    if op != "forget" and outcome.outcome == "written" and has_household_code(outcome.fact):
        lines.append(phrase(lang, "code"))
    if outcome.nearest:
        lines += [phrase(lang, "nearest"), *(f"- {fact}" for fact in outcome.nearest)]
    return "\n".join(lines)
