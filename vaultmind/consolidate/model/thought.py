"""What one model makes of a conversation, checked against what was said and what is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vaultmind import tokens
from vaultmind.consolidate.extract import once, settle
from vaultmind.consolidate.ground import ground
from vaultmind.consolidate.model.asking import ask_about
from vaultmind.consolidate.model.candidates import Claims, claims_of
from vaultmind.consolidate.model.opinion import NONE, contested, decided, opinions
from vaultmind.consolidate.model.room import UNSAID_CONTEXT
from vaultmind.consolidate.model.sound import Sound, sound
from vaultmind.consolidate.model.transcript import Line
from vaultmind.consolidate.talk import Talk
from vaultmind.consolidate.types import Candidate, Dropped, Extraction, Reason
from vaultmind.errors import MinionFailed
from vaultmind.memory.words import SOFT, content
from vaultmind.ports import Embedder, Generator
from vaultmind.types import Fact

SENSE = 0.3
"""Share of what a model says that must have been said; with less it has talked nonsense."""
KNOWN_TOKENS = 600
"""Of the facts that are known, as a model is shown them: a brain has 500, an archive any number."""
KNOWN_SHARE = 8
"""They may have this part of a window: an eighth."""
_MADE_UP: frozenset[Reason] = frozenset(
    {
        "no evidence",
        "not the user's words",
        "words not in evidence",
        "number not in evidence",
        "name not in evidence",
        "polarity",
    }
)


@dataclass(slots=True)
class Job:
    """A conversation that models are asked about, one after the other."""

    talk: Talk
    lines: tuple[Line, ...]
    brain: Sequence[Fact]
    """What is known already, archived or not."""
    by_rules: Extraction
    language: str
    """The one that is spoken."""
    max_facts: int
    embedder: Embedder | None = None
    made_up: list[Dropped] = field(default_factory=list)
    """What models said that nobody had: counted, whoever's answer is taken in the end."""


@dataclass(frozen=True, slots=True)
class Thought:
    """What is left of a model's answer."""

    extraction: Extraction
    summary: Sound
    notes: tuple[str, ...] = ()


def think(generator: Generator, job: Job) -> Thought:
    """Return what a model makes of a conversation.

    What the rules heard the person ask for is among the facts. Raises MinionFailed, also where
    the model talks nonsense.
    """
    window = generator.context_tokens or UNSAID_CONTEXT
    known = shown_facts(job.brain, job.lines, min(KNOWN_TOKENS, window // KNOWN_SHARE))
    texts = [fact.text for fact in known]
    answer = ask_about(generator, job.lines, texts, job.language, job.max_facts)
    keys = {line.number: line.key for line in job.lines}
    claims = claims_of(answer.facts, keys, known, job.talk, job.embedder)
    summary = sound(answer.sentences, [line.text for line in job.lines])
    checked = [(one, ground(one, job.talk)) for one in claims.facts]
    sound_ = [one for one, why in checked if why is None]
    found = settle(sound_, job.talk, job.brain, job.max_facts)
    wrong = tuple(why for _, why in checked if why is not None)
    found = Extraction(found.facts, (*wrong, *found.dropped))
    _make_sense(generator, job, claims, found.dropped, summary)
    facts, surplus = _with_asked(found.facts, job)
    dropped = (*claims.dropped, *found.dropped, *surplus)
    facts, notes = _second_opinion(generator, job, claims, facts, known)
    named = {one.text for one in dropped}
    rest = (one for one in job.by_rules.dropped if one.text not in named)
    return Thought(Extraction(facts, (*dropped, *rest)), summary, notes)


def _with_asked(
    facts: Sequence[Candidate], job: Job
) -> tuple[tuple[Candidate, ...], tuple[Dropped, ...]]:
    """Return a model's facts and those that the person asked for, as far as there is room."""
    asked = [one for one in job.by_rules.facts if one.asked]
    together, dropped = once([*asked, *facts])
    together.sort(key=lambda one: -one.weight)
    kept, surplus = together[: job.max_facts], together[job.max_facts :]
    dropped += [Dropped(one.text, "too many", one.evidence, one.category) for one in surplus]
    return tuple(kept), tuple(dropped)


def shown_facts(brain: Sequence[Fact], lines: Sequence[Line], max_tokens: int) -> tuple[Fact, ...]:
    """Return the known facts that a model is shown: those that are spoken of go first."""
    said = {word.folded[:5] for line in lines for word in content(line.text)}
    order = sorted(
        range(len(brain)),
        key=lambda at: (
            -any(
                word.folded[:5] in said and word.folded not in SOFT
                for word in content(brain[at].text)
            )
        ),
    )
    taken: list[int] = []
    left = max_tokens
    for at in order:
        left -= tokens.count(brain[at].text)
        if left < 0:
            break
        taken.append(at)
    return tuple(brain[at] for at in sorted(taken))


def _make_sense(
    generator: Generator, job: Job, claims: Claims, dropped: Sequence[Dropped], summary: Sound
) -> None:
    """Raise MinionFailed where hardly anything that a model says has been said.

    What it made up is kept to be counted.
    """
    made_up = [one for one in (*claims.dropped, *dropped) if one.reason in _MADE_UP]
    told = [one for one in claims.dropped if one.reason != "said twice"]
    offered = len(claims.facts) + len(told) + len(summary.kept) + len(summary.dropped)
    good = max(0, offered - len(made_up) - len(summary.dropped))
    if offered and good >= SENSE * offered:
        return
    if not offered and not job.by_rules.facts:
        return  # small talk leaves nothing
    job.made_up += made_up
    said = f"{good} of {offered} of its statements were said" if offered else "it found nothing"
    raise MinionFailed("nonsense", f"The model {generator.id} did not understand: {said}.")


def _second_opinion(
    generator: Generator,
    job: Job,
    claims: Claims,
    facts: Sequence[Candidate],
    known: Sequence[Fact],
) -> tuple[tuple[Candidate, ...], tuple[str, ...]]:
    """Return the facts, those on which rules and model differ in doubt, and what went wrong."""
    open_ = contested(facts, claims.replaces, known)
    if not open_:
        return tuple(facts), ()
    statements = [facts[at].text for at in open_]
    try:
        found = opinions(generator, statements, [fact.text for fact in known], job.language)
    except MinionFailed as failure:
        return tuple(facts), (f"No second opinion on what contradicts: {failure.message}",)
    settled = list(facts)
    for at, opinion in zip(open_, found, strict=True):
        claim = claims.replaces.get(facts[at].text, NONE)
        settled[at] = decided(facts[at], claim, opinion, known)
    return tuple(settled), ()
