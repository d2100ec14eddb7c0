"""What a task is about, by rules: no model, no clock, the same answer everywhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from vaultmind.planner.intent.cues import lexicon
from vaultmind.planner.intent.entities import entities_of
from vaultmind.planner.intent.fingerprint import fingerprint
from vaultmind.planner.intent.kinds import judged
from vaultmind.planner.intent.risk import risk_of
from vaultmind.planner.intent.text import levelled, subject, taken_apart, telling
from vaultmind.planner.intent.typos import mended
from vaultmind.planner.types import TaskKind, Understood


def names_nothing(task: str) -> bool:
    """Tell whether a task says only that something be done: `go on`, `do it`."""
    text = taken_apart(task)
    return not text.traced and not subject(text.whole, text.language)


def understand(task: str, source: str, kind: TaskKind | Literal[""] = "") -> Understood:
    """Return what a task over a source is about; a `kind` that is given is believed.

    Of a long task its start and its end are looked at, so a megabyte takes milliseconds, too.
    """
    text = taken_apart(task)
    text = replace(text, words=tuple(mended(text.words)))
    leads = lexicon().leads(text.words, text.sentences)
    found = judged(text, lexicon().find("kind", text.words, leads, text.language))
    predicted = kind or found.kind
    risks = lexicon().find("risk", text.words, leads, text.language)
    risk, why_risk = risk_of(text, risks, predicted)
    terms = telling(text.whole, text.language)
    roots = levelled(terms, text.language)
    entities = entities_of(text.whole)
    return Understood(
        predicted=predicted,
        confidence=1.0 if kind else found.confidence,
        task_fingerprint=fingerprint(roots, entities.references, predicted, source, task),
        risk=risk,
        language=text.language,
        terms=terms,
        entities=entities,
        reasons=((f"{kind}: as asked for",) if kind else found.reasons) + why_risk,
    )
