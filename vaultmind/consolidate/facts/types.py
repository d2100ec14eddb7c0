"""What comes out of a conversation: facts with their evidence, and what was dropped and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from vaultmind.types import Section

Category = Literal["CORE", "PREFERENCE", "DECISION", "PROJECT", "UPDATE", "DELETE", "SKIP"]
CATEGORIES: tuple[Category, ...] = get_args(Category)

SECTION_OF: dict[Category, Section] = {
    "CORE": "user",
    "PREFERENCE": "preferences",
    "DECISION": "decisions",
    "PROJECT": "current",
}
"""Where a fact of a category belongs in a brain. An UPDATE stays where the old fact stood."""

Reason = Literal[
    "no evidence",
    "not the user's words",
    "private",
    "secret",
    "asked not to keep",
    "question",
    "request",
    "hypothetical",
    "quoted",
    "joke",
    "orders the memory",
    "words not in evidence",
    "number not in evidence",
    "name not in evidence",
    "date not in evidence",
    "polarity",
    "taken back",
    "passing",
    "other language",
    "unclear alone",
    "already known",
    "said twice",
    "not in memory",
    "forgotten",
    "too many",
]
"""Why a fact was dropped; each is also the key under which dropped facts are counted."""
REASONS: tuple[Reason, ...] = get_args(Reason)


MEANS: dict[str, str] = {
    "no evidence": "no logged message says it",
    "not the user's words": "the person did not say it themselves",
    "private": "it was marked private",
    "secret": "it holds a secret",
    "asked not to keep": "the person asked not to keep it",
    "question": "the person only asked it",
    "request": "it asks for work, and tells nothing of the person",
    "hypothetical": "the person only supposed it",
    "quoted": "somebody else's words are quoted there",
    "joke": "it was a joke or play",
    "orders the memory": "it reads as an order to a machine",
    "words not in evidence": "it says more than the message that was quoted",
    "number not in evidence": "it has a number that was not said",
    "name not in evidence": "it has a name that was not said",
    "date not in evidence": "it has a date that was not said",
    "polarity": "the message says the opposite, or says it with a not",
    "taken back": "the person took it back",
    "passing": "it holds for the moment only",
    "other language": "its language is not understood well enough",
    "unclear alone": "it cannot be understood without the talk around it",
    "already known": "it is known already",
    "said twice": "it was said twice",
    "not in memory": "there is no such fact to forget",
    "forgotten": "it was forgotten",
    "too many": "the conversation left more facts than are kept of one",
}
"""What a reason means, in the words of a person. A test holds it to `REASONS`."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact that a conversation may leave in memory, by whomever it was found."""

    category: Category
    text: str
    """A short statement in the person's language; for DELETE the fact or topic to forget."""
    evidence: tuple[str, ...]
    """Keys of the messages that say it: each message's id, or its block where it has none."""
    weight: float = 0.0
    """Importance from 0 to 5: asked for and corrections 5, personal 4, decisions 3."""
    section: Section | None = None
    replaces: str = ""
    """For UPDATE: the words of the fact whose place it takes."""
    block: str = ""
    """The block id of the fact that an UPDATE replaces or a DELETE forgets, if it has one."""
    asked: bool = False
    """Whether the person asked in words to have it kept, corrected or forgotten."""
    doubt: str = ""
    """Why it should be put before the person instead of being written, in words; empty: no doubt.
    A later message of the talk seems to touch it, and no rule can tell how; or rules and a model
    differ."""
    quote: str = ""
    """The person's words that an agent quotes for what it reports."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A fact that was not kept, and why."""

    text: str
    reason: Reason
    evidence: tuple[str, ...] = ()
    category: Category = "SKIP"
    detail: str = ""
    """What exactly was missing or in the way, where it may be shown."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a conversation leaves behind. `facts` stand in the order of their importance."""

    facts: tuple[Candidate, ...] = ()
    dropped: tuple[Dropped, ...] = field(default=())
