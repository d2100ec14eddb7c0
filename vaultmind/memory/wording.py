"""What `words.toml` says and listens for: a brain's sections, answers, sensitive matter.

A fact's section and its sensitive matter (health, money, beliefs, sex, other people's data,
whereabouts) are known by words that are rarely about anything else, in English, Polish and Russian.
That errs on both sides: it raises caution, it does not guard secrets (`redact` does).
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from vaultmind.language.words import fold
from vaultmind.redact import has_household_code
from vaultmind.tables import table
from vaultmind.types import SECTIONS, Outcome, Section

LANGUAGES = ("en", "pl", "ru")
FALLBACK = "en"

_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


def heading(section: Section, language: str) -> str:
    """Return a section's heading in a language; in English for one we do not write."""
    names = table(__file__)["headings"].get(language, table(__file__)["headings"]["en"])
    return str(names[SECTIONS.index(section)])


def section_of(title: str) -> Section | None:
    """Return the section that a heading names, in any language; None for one we do not know."""
    return _known().get(_key(title))


def pick(text: str) -> Section:
    """Return the section of a new fact by its words: a taste, a rule, a project, else `user`."""
    folded, cues = fold(text), table(__file__)["cues"]
    known = (one for one in SECTIONS if one in cues and re.search(cues[one], folded))
    return next(known, "user")


def _key(title: str) -> str:
    return _EDGES.sub("", fold(" ".join(title.split())))


@lru_cache(maxsize=1)
def _known() -> dict[str, Section]:
    known: dict[str, Section] = {}
    for section in SECTIONS:
        names = (section, *(heading(section, one) for one in LANGUAGES))
        also = table(__file__)["also"][section].split("|")
        known.update((_key(name), section) for name in (*names, *also))
    return known


# --- answers -----------------------------------------------------------------------------


def phrase(lang: str, name: str, kind: str = "replies", **values: object) -> str:
    """Return a sentence in a language, English for one that has none."""
    known = table(__file__)[kind]
    return str(known.get(lang, known[FALLBACK])[name]).format(**values)


def told(lang: str, op: str, outcome: Outcome, asked: str) -> str:
    """Return what came of a request, with the fact and the file, in the person's language.

    `op` is remember, replace or forget; `asked` the words of what was to be forgotten.
    """
    name = op if outcome.outcome == "written" else outcome.outcome
    if name == "not_found" and outcome.fact:  # it was found, and is not to be lost
        name = "not_kept"
    if name == "forget" and not outcome.path:  # only messages said it
        name = "unsaid"
    if name == "remember" and outcome.before:  # it took the place of a fact it contradicts
        name = "replace"
    before, fact = outcome.before or asked, outcome.fact or asked
    if op == "remember" and name == "suggested" and outcome.before:  # it would take its place
        fact = f"{before} → {fact}"
    values = {"fact": fact, "before": before, "path": outcome.path, "asked": asked}
    lines = [phrase(lang, name, **values, reason=outcome.reason)]
    if outcome.hidden_messages:
        lines.append(phrase(lang, "hidden", count=outcome.hidden_messages))
    lines += stored_told(lang, op, outcome)
    if outcome.nearest:
        offer = "pick" if len(outcome.nearest) > 1 else "one"
        lines += [
            phrase(lang, offer if op == "forget" else "nearest"),
            *(f"- {fact}" for fact in outcome.nearest),
        ]
    return "\n".join(lines)


def stored_told(lang: str, op: str, outcome: Outcome) -> list[str]:
    """Return what was taken out of what is stored, and how a door's code stands that was kept."""
    kept = op != "forget" and outcome.outcome == "written" and has_household_code(outcome.fact)
    kinds = ", ".join(outcome.redacted)
    told = {"redacted": bool(kinds), "code": kept}
    return [phrase(lang, name, kinds=kinds) for name, is_so in told.items() if is_so]


# --- the memory folder as a person first finds it -----------------------------------------


def page(name: str, language: str) -> str:
    """Return a page as it ships, in a language; in English for one that we do not write."""
    return shipped(f"{name}.{language if language in LANGUAGES else FALLBACK}.md")


def shipped(name: str) -> str:
    """Return a file as it ships."""
    return Path(__file__).with_name("pages").joinpath(name).read_text("utf-8")


def begun(language: str) -> str:
    """Return the first words of a file of suggestions that holds nothing yet."""
    title, intro = (phrase(language, one, "suggestions") for one in ("title", "intro"))
    return f"# {title}\n\n{intro}\n"


def default_identity(agent: str, language: str, level: int = 2) -> str:
    """Return the identity.md of a new agent: what to do, the server's instructions tell it.

    `level` is the configured one, so that a new agent asks for what is in force.
    """
    front = f"---\nautonomy: {level}\nlanguage: {language}\n---\n"
    return front + page("identity", language).format(name=agent.capitalize())
