"""A conversation taken apart: who said what in their own words, and what of it cannot be a fact.

Extraction picks from this and grounding checks against it, so that both see a talk alike. Asked,
erased and tool messages are not in it at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache

from vaultmind.consolidate.facts.clauses import (
    announces,
    is_for_a_text,
    is_question,
    repaired,
)
from vaultmind.consolidate.facts.cues import CYRILLIC, begins, features, says
from vaultmind.consolidate.facts.foreign import is_foreign
from vaultmind.consolidate.facts.own import GAP, MOST_CHARACTERS, own_words, pieces, split
from vaultmind.consolidate.facts.slots import COMMITS, asks_for
from vaultmind.consolidate.facts.statement import unled
from vaultmind.consolidate.types import Reason
from vaultmind.memory.intents import Intent, recogniser
from vaultmind.memory.words import NEGATIONS, content, fold
from vaultmind.ports import Embedder
from vaultmind.redact import mask
from vaultmind.session.summary import keeps_out, unkept
from vaultmind.session.summary.sentences import sentences
from vaultmind.types import Message, Role

Understand = Callable[[str], Intent]
PLAYFUL = 3
"""Messages of the user after `I am the king of a small moon` that are play too."""
ACTED = 4
"""Messages of the user after `you are the doctor, I'll be the patient`, which are somebody's."""
BACK = 3
"""Messages of the user back that a "just kidding" may be about."""

CLOSING = 4
"""Words of a clause that says, behind what was said, who says it: `, says my mum`."""
FEWEST = 2
"""Content words that a clause must have to stand where a request beside it is left out."""

_FIRST_PERSON = re.compile(
    r"(?<!\w)(?:piszę|opowiadam|wysyłam|obiecał[ae]m|napisał[ae]m|powiedział[ae]m)(?!\w)", re.I
)
"""Polish of the person's own saying, which is anybody's once its diacritics are gone."""
_AND_THAT = re.compile(r"(?:and |oh and )that(?! (?:is|was|'s|i|we)\b)|(?:i|oraz) [zż]e\b|и что\b")
_ASKS = re.compile(r"\?[\"'»”)\s!]*$")
_CARD = re.compile(r"(?<!\d)\d{4}(?:[ -]?\d{4}){2,3}[ -]?\d{1,4}(?!\d)")
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
    days: Mapping[str, date] = field(default_factory=dict)
    """The day of each message by its key, where it has one."""

    def by_user(self) -> Iterator[Said]:
        """Yield what the user said."""
        return (one for one in self.said if one.role == "user")


def key_of(message: Message) -> str:
    """Return what a message is called everywhere: its id, or its block where it has none."""
    return message.id or message.block


@cache
def _recogniser() -> Understand:
    return recogniser().recognise


def read_talk(
    messages: Sequence[Message],
    understand: Understand | None = None,
    embedder: Embedder | None = None,
) -> Talk:
    """Return a conversation taken apart. `understand`: the person's own phrases, where given.

    With an embedder more is heard of what was asked not to be kept.
    """
    hear = understand or _recogniser()
    said: list[Said] = []
    agreed: set[str] = set()
    answered: set[str] = set()
    last: Message | None = None
    playing, acting = False, 0
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
            acting, found = _acted(found, acting)
            if playing:
                found = [_faulty(one, "quoted") for one in found]
        said += found
        last = message
    gone = unkept(messages, hear, embedder)
    kept = tuple(
        _faulty(one, "asked not to keep") if one.at in gone else one for one in _joked(said)
    )
    days = {key_of(one): day for one in messages if (day := _day(one))}
    return Talk(kept, frozenset(agreed), frozenset(answered), days)


def _day(message: Message) -> date | None:
    try:
        return date.fromisoformat(message.time[:10])
    except ValueError:
        return None


def _acted(said: Sequence[Said], acting: int) -> tuple[int, list[Said]]:
    """Return for how many messages more somebody else is played, and what was said.

    `I'll be the patient first` begins it; what stands before that is the person's own.
    """
    found: list[Said] = []
    begun = acting
    for one in said:
        if acting and says(one.folded, "unrole"):
            acting = begun = 0
        elif says(one.folded, "role"):
            acting = ACTED
        found.append(_faulty(one, "quoted") if acting else one)
    return (acting - 1 if acting and begun else acting), found


def _agrees(text: str) -> bool:
    first = next(iter(sentences(text[:MOST_CHARACTERS])), "")
    says_so = begins(fold(first), "agree") or COMMITS.search(fold(first))
    return bool(says_so) and not _ASKS.search(first)


def _answers(text: str, before: str) -> bool:
    """Tell whether a message answers a question for a name, a day or the like."""
    first = next(iter(sentences(text[:MOST_CHARACTERS])), "")
    end = list(sentences(before[-MOST_CHARACTERS:]))
    asked = next((one for one in reversed(end) if _ASKS.search(one)), "")
    refuses = set(fold(first).replace(",", " ").split()[:1]) & NEGATIONS
    return bool(asked and asks_for(asked)) and not refuses and not _ASKS.search(first)


def _said_in(message: Message, at: int, hear: Understand) -> Iterator[Said]:
    own, gone = own_words(message.text)
    key = key_of(message)
    for part in gone:
        yield Said(part.text, key, at, message.role, part.reason, part.text)
    rest: Reason | None = None
    telling = False
    for sentence in (one for whole in sentences(own) for one in split(whole)):
        intent = hear(sentence) if message.role == "user" else Intent()
        leads = bool(gone) and sentence.rstrip().endswith(":")
        user, wanted = message.role == "user", intent.intent == "remember"
        wanted = wanted and not keeps_out(fold(intent.payload))
        found = list(_pieces(sentence, user=user, wanted=wanted))
        goes_on = telling and _goes_on(fold(sentence))
        for piece, wrong in found:
            announces = leads and piece == found[-1][0]
            fault = rest or wrong or ("request" if announces else "quoted" if goes_on else None)
            yield Said(piece, key, at, message.role, fault, sentence, intent)
        folded = fold(sentence)
        telling = _told(sentence) is not None or (telling and _goes_on(folded))
        if says(folded, "order"):
            rest = "orders the memory"
        elif says(folded, "voice") or (says(folded, "task") and sentence.rstrip().endswith(":")):
            rest = rest or "quoted"


def _goes_on(folded: str) -> bool:
    """Tell whether a sentence goes on with what somebody says: `and that her fiancé has dogs`."""
    return bool(_AND_THAT.match(folded))


def _pieces(sentence: str, *, user: bool, wanted: bool) -> Iterator[tuple[str, Reason | None]]:
    """Yield the pieces of a sentence, each with what is wrong with it.

    `wanted`: it asks to remember it.
    """
    whole = _of_the_whole(sentence, user=user, wanted=wanted)
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


def _of_the_whole(sentence: str, *, user: bool, wanted: bool) -> Reason | None:
    """Return what is wrong with a sentence in all of its clauses."""
    folded = fold(" ".join(sentence.split()))
    if _is_secret(sentence, folded):
        return "secret"
    if says(folded, "order"):
        return "orders the memory"
    if keeps_out(folded) and not wanted:
        return "asked not to keep"
    if says(folded, "persona") or _jokes(sentence):
        return "joke"
    told = _told(sentence)
    spoken = told is not None and _tells_all(sentence, told)
    if spoken or (user and (says(folded, "fiction") or _in_another_voice(sentence))):
        return "quoted"
    return "quoted" if GAP in sentence and says(folded, "task") else None


def _is_secret(sentence: str, folded: str) -> bool:
    found = says(folded, "secret")
    named = found is not None and _STANDING.search(folded, found.start())
    return bool(named or _CARD.search(folded)) or mask(sentence).text != sentence


def _jokes(sentence: str) -> bool:
    """Tell whether all of a sentence is a joke: `kidding, I have three hives` begins anew."""
    folded = fold(sentence)
    found = says(folded, "joke")
    if not found or len(folded) != len(sentence) or not says(found.group(), "kidding"):
        return bool(found)
    spans = list(pieces(sentence))
    number = next((n for n, (_, stop) in enumerate(spans) if found.start() < stop), 0)
    clause = sentence[slice(*spans[number])]
    alone = len([w for w in content(clause) if w.folded not in found.group()]) < FEWEST
    return number > 0 or not alone or len(content(sentence[spans[number][1] :])) <= FEWEST


def _told(sentence: str) -> int | None:
    """Return where a sentence says that somebody else says something; None where it does not."""
    folded = fold(_FIRST_PERSON.sub(lambda m: "x" * len(m.group()), sentence))
    found = says(folded, "told")
    return found.start() if found else None


def _tells_all(sentence: str, at: int) -> bool:
    """Tell whether somebody else says all of a sentence: in its beginning or at its very end."""
    spans = list(pieces(sentence))
    number = next((n for n, (start, stop) in enumerate(spans) if at < stop), 0)
    before, after = sentence[: spans[number][0]], sentence[spans[number][0] :]
    ends = len(after.split()) <= CLOSING and number == len(spans) - 1
    return len(content(before)) < FEWEST or ends


def _in_another_voice(sentence: str) -> bool:
    """Tell whether what follows a colon is said by somebody, or for a text: `Mum: I hate fish`."""
    head, colon, tail = sentence.partition(": ")
    if not colon:
        return False
    before, after = fold(head), fold(tail)
    cues = features(cyrillic=bool(CYRILLIC.search(before)))
    own = any(begins(unled(clause), "speaks") for clause in (after, after.lstrip("\"'„«“")))
    named = cues["kin"].search(before) or says(before, "stranger")
    voiced = says(before, "voice") or says(before, "told")
    return bool(voiced or (own and named and not begins(unled(before), "speaks")))


def _faults(sentence: str, spans: Sequence[tuple[int, int]]) -> list[Reason | None]:
    asks = bool(_ASKS.search(sentence))
    found: list[Reason | None] = []
    supposed = False
    told = -1 if (at := _told(sentence)) is None else at
    for number, (start, stop) in enumerate(spans):
        clause = unled(fold(sentence[start:stop]))
        fault: Reason | None = None
        early = not number or (number == 1 and len(content(sentence[:start])) < FEWEST)
        if supposed or says(clause, "hypothetical"):
            supposed, fault = True, "hypothetical"
        elif is_question(clause, asks=asks, first=early, last=number == len(spans) - 1):
            fault = "question"
        elif says(clause, "joke"):
            fault = "joke"
        elif (
            (found and found[-1] == "quoted") or GAP in sentence[start:stop] or start <= told < stop
        ):
            fault = "quoted"
        elif found and found[-1] == "request" and begins(clause, "question"):
            fault = "question"
        elif begins(clause, "request") and not says(clause, "standing"):
            fault = "request"
        found.append(fault)
        for_a_text = begins(clause, "speaks") and is_for_a_text(sentence, spans)
        if (not fault and number and for_a_text) or announces(sentence, stop):
            found[-1] = "quoted"
    found = repaired(sentence, spans, found)
    rest = [content(sentence[a:b]) for (a, b), one in zip(spans, found, strict=True) if not one]
    if any(len(words) >= FEWEST for words in rest):
        return found
    return [None if one == "request" else one for one in found]


def _unless_asked(one: Said) -> Said:
    """Return a piece of a message in a language without rules: only what was asked for counts."""
    return one if one.intent.intent == "remember" else _faulty(one, "other language")


def _faulty(one: Said, reason: Reason) -> Said:
    return one if one.fault else replace(one, fault=reason)


def _joked(said: Sequence[Said]) -> list[Said]:
    """Return what was said; what a "just kidding" follows was a joke too."""
    found = list(said)
    mine = [i for i, one in enumerate(said) if one.role == "user"]
    for place, i in enumerate(mine):
        one = said[i]
        if one.fault != "joke":
            continue
        if says(one.folded, "persona"):
            after = sorted({said[j].at for j in mine[place:]})[: PLAYFUL + 1]
            for j in mine[place:]:
                if said[j].at in after:
                    found[j] = _faulty(found[j], "joke")
        if len([word for word in content(one.text) if not says(word.folded, "joke")]) > FEWEST:
            continue  # the joke stands in its own sentence
        before = mine[:place]
        if before and said[before[-1]].at == one.at:
            meant = before[-1:]
        else:
            meant = _last_told(found, before)
        for j in meant:
            found[j] = _faulty(found[j], "joke")
    return found


def _last_told(said: Sequence[Said], before: Sequence[int]) -> list[int]:
    """Return the pieces of the last message, not too far back, that said something."""
    near = sorted({said[i].at for i in before}, reverse=True)[:BACK]
    for at in near:
        own = [i for i in before if said[i].at == at]
        if any(said[i].fault in (None, "joke") and content(said[i].text) for i in own):
            return own
    return []
