"""A conversation taken apart: who said what in their own words, and what of it cannot be a fact.

Extraction picks from this and grounding checks against it, so that both see a talk alike. Asked,
erased and tool messages are not in it at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from vaultmind.consolidate.facts.cues import begins, says
from vaultmind.consolidate.facts.foreign import is_foreign
from vaultmind.consolidate.facts.own import GAP, own_words, pieces, split
from vaultmind.consolidate.facts.slots import COMMITS, asks_for
from vaultmind.consolidate.facts.statement import unled
from vaultmind.consolidate.facts.types import Reason
from vaultmind.memory.intents import Intent, recogniser
from vaultmind.memory.words import NEGATIONS, content, fold
from vaultmind.redact import mask
from vaultmind.session.summary.sentences import sentences
from vaultmind.types import Message, Role

Understand = Callable[[str], Intent]
PLAYFUL = 3
"""Messages of the user after `I am the king of a small moon` that are play too."""
POINTING = 6
"""A "don't keep that" of so few content words points at what was said before it."""

FEWEST = 2
"""Content words that a clause must have to stand where a request beside it is left out."""

_ASKS = re.compile(r"\?[\"'»”)\s!]*$")
_STANDING = re.compile(r"\d|\b(?:is|to|jest|это|are)\b|[:=—]")


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of a sentence that says one thing."""

    text: str
    key: str
    """Of its message: the id, or the block."""
    at: int
    """The number of its message in the talk, from 0."""
    role: Role
    fault: Reason | None = None
    """Why it cannot be a fact; None: it may."""
    whole: str = ""
    """The sentence it stands in."""
    intent: Intent = field(default_factory=Intent)
    """What its sentence asks of the memory."""

    @property
    def folded(self) -> str:
        """Return its words as rules see them."""
        return fold(" ".join(self.text.split()))


@dataclass(frozen=True, slots=True)
class Talk:
    """All that was said, in order, and which messages the user agreed to."""

    said: tuple[Said, ...]
    agreed: frozenset[str] = frozenset()
    """Keys of the assistant's messages that the user's next one agrees to."""
    answered: frozenset[str] = frozenset()
    """Keys of the assistant's messages whose question the user's next one answers."""

    def by_user(self) -> Iterator[Said]:
        """Yield what the user said."""
        return (one for one in self.said if one.role == "user")


def key_of(message: Message) -> str:
    """Return what a message is called everywhere: its id, or its block where it has none."""
    return message.id or message.block


@cache
def _recogniser() -> Understand:
    return recogniser().recognise


def read_talk(messages: Sequence[Message], understand: Understand | None = None) -> Talk:
    """Return a conversation taken apart. `understand`: the person's own phrases, where given."""
    hear = understand or _recogniser()
    said: list[Said] = []
    agreed: set[str] = set()
    answered: set[str] = set()
    last: Message | None = None
    playing = False
    abroad = any(is_foreign(one.text) for one in messages if one.role == "user")
    for at, message in enumerate(messages):
        if message.role not in ("user", "assistant") or message.asked or message.erased:
            continue
        found = list(_said_in(message, at, hear))
        if message.role == "user":
            if is_foreign(message.text, in_doubt=abroad):
                found = [_unless_asked(one) for one in found]
            if last is not None and last.role == "assistant" and _agrees(message.text):
                agreed.add(key_of(last))
            if last is not None and last.role == "assistant" and _answers(message.text, last.text):
                answered.add(key_of(last))
            playing = playing or any(says(one.folded, "fiction") for one in found)
            if playing:
                found = [_faulty(one, "quoted") for one in found]
        said += found
        last = message
    return Talk(tuple(_kept_out(_joked(said))), frozenset(agreed), frozenset(answered))


def _agrees(text: str) -> bool:
    first = next(iter(sentences(text)), "")
    says_so = begins(fold(first), "agree") or COMMITS.search(fold(first))
    return bool(says_so) and not _ASKS.search(first)


def _answers(text: str, before: str) -> bool:
    """Tell whether a message answers a question for a name, a day or the like."""
    first = next(iter(sentences(text)), "")
    asked = next((one for one in reversed(list(sentences(before))) if _ASKS.search(one)), "")
    refuses = set(fold(first).replace(",", " ").split()[:1]) & NEGATIONS
    return bool(asked and asks_for(asked)) and not refuses and not _ASKS.search(first)


def _said_in(message: Message, at: int, hear: Understand) -> Iterator[Said]:
    own, gone = own_words(message.text)
    key = key_of(message)
    for part in gone:
        yield Said(part.text, key, at, message.role, part.reason, part.text)
    rest: Reason | None = None
    for sentence in (one for whole in sentences(own) for one in split(whole)):
        intent = hear(sentence) if message.role == "user" else Intent()
        leads = bool(gone) and sentence.rstrip().endswith(":")
        found = list(_pieces(sentence, user=message.role == "user"))
        for piece, wrong in found:
            announces = leads and piece == found[-1][0]
            fault = rest or wrong or ("request" if announces else None)
            yield Said(piece, key, at, message.role, fault, sentence, intent)
        folded = fold(sentence)
        if says(folded, "order"):
            rest = "orders the memory"
        elif says(folded, "task") and sentence.rstrip().endswith(":"):
            rest = rest or "quoted"


def _pieces(sentence: str, *, user: bool) -> Iterator[tuple[str, Reason | None]]:
    """Yield the pieces of a sentence, each with what is wrong with it."""
    whole = _of_the_whole(sentence, user=user)
    if whole:
        yield sentence, whole
        return
    spans = list(pieces(sentence))
    faults = _faults(sentence, spans)
    start = 0
    while start < len(spans):
        stop = start
        while stop + 1 < len(spans) and faults[stop + 1] == faults[start]:
            stop += 1
        yield sentence[spans[start][0] : spans[stop][1]].strip(" ,;"), faults[start]
        start = stop + 1


def _of_the_whole(sentence: str, *, user: bool) -> Reason | None:
    """Return what is wrong with a sentence in all of its clauses."""
    folded = fold(" ".join(sentence.split()))
    if mask(sentence).text != sentence or (
        (found := says(folded, "secret")) and _STANDING.search(folded, found.end())
    ):
        return "secret"
    if says(folded, "order"):
        return "orders the memory"
    if says(folded, "keep_out"):
        return "asked not to keep"
    if says(folded, "joke") or says(folded, "persona"):
        return "joke"
    if says(folded, "told") or (user and says(folded, "fiction")):
        return "quoted"
    return "quoted" if GAP in sentence and says(folded, "task") else None


def _faults(sentence: str, spans: Sequence[tuple[int, int]]) -> list[Reason | None]:
    asks = bool(_ASKS.search(sentence))
    found: list[Reason | None] = []
    supposed = False
    for number, (start, stop) in enumerate(spans):
        clause = unled(fold(sentence[start:stop]))
        fault: Reason | None = None
        early = not number or (number == 1 and len(content(sentence[:start])) < FEWEST)
        if supposed or says(clause, "hypothetical"):
            supposed, fault = True, "hypothetical"
        elif _is_question(clause, asks=asks, first=early, last=number == len(spans) - 1):
            fault = "question"
        elif (found and found[-1] == "quoted") or GAP in sentence[start:stop]:
            fault = "quoted"
        elif found and found[-1] == "request" and begins(clause, "question"):
            fault = "question"
        elif begins(clause, "request") and not says(clause, "standing"):
            fault = "request"
        found.append(fault)
        announced = fold(sentence[:stop])
        told_to_keep = says(announced, "remember") or says(announced, "decided")
        if sentence[stop : stop + 1] == ":" and says(announced, "task") and not told_to_keep:
            found[-1] = "quoted"
    rest = [content(sentence[a:b]) for (a, b), one in zip(spans, found, strict=True) if not one]
    if any(len(words) >= FEWEST for words in rest):
        return found
    return [None if one == "request" else one for one in found]


def _is_question(clause: str, *, asks: bool, first: bool, last: bool) -> bool:
    if (asks or first) and begins(clause, "polite") and says(clause, "standing"):
        return False
    if asks:
        cued = begins(clause, "question") or begins(clause, "conditional")
        return last or bool(cued or begins(clause, "request"))
    return first and bool(begins(clause, "question")) and not begins(clause, "conditional")


def _unless_asked(one: Said) -> Said:
    """Return a piece of a message in a language without rules: only what was asked for counts."""
    return one if one.intent.intent == "remember" else _faulty(one, "other language")


def _faulty(one: Said, reason: Reason) -> Said:
    return one if one.fault else replace(one, fault=reason)


def _joked(said: Sequence[Said]) -> list[Said]:
    """Return what was said; what a "just kidding" follows was a joke too."""
    found = list(said)
    for at, one in enumerate(said):
        if one.fault != "joke" or one.role != "user":
            continue
        if says(one.folded, "persona"):
            after = sorted({x.at for x in said if x.role == "user" and x.at >= one.at})
            for i, other in enumerate(found):
                if other.role == "user" and other.at in after[: PLAYFUL + 1]:
                    found[i] = _faulty(other, "joke")
        own = [i for i in range(at) if found[i].role == "user"]
        if len([word for word in content(one.text) if not says(word.folded, "joke")]) > FEWEST:
            continue  # the joke stands in its own sentence
        alone = not any(found[i].at == one.at for i in own)
        meant = [i for i in own if found[i].at == found[own[-1]].at] if alone and own else own[-1:]
        for i in meant:
            found[i] = _faulty(found[i], "joke")
    return found


def _kept_out(said: Sequence[Said]) -> list[Said]:
    """Return what was said; what the user asked not to keep is marked, wherever it was said.

    The whole message that asks is left out; where it says nothing else, the one before it too.
    """
    found = list(said)
    for one in said:
        skips = one.role == "user" and (
            one.fault == "asked not to keep" or one.intent.intent == "skip"
        )
        if not skips:
            continue
        words = [w for other in said if other.at == one.at for w in content(other.text)]
        back = [other.at for other in said if other.role == "user" and other.at < one.at]
        before = max(back, default=-1) if len(words) <= POINTING else -1
        for i, other in enumerate(found):
            near = other.at == one.at or (before <= other.at < one.at and before >= 0)
            if near and other.role in ("user", "assistant"):
                found[i] = _faulty(other, "asked not to keep")
    return found
