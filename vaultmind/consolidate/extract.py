"""What a conversation says, and the facts in it that are worth keeping, without a model.

A conversation is taken apart into the sentences of its speakers. Pastes, quotations, code and
private passages are not their writer's own words. A trained network reads all that the person said
and marks the words that tell a fact in earnest and can be understood by themselves. What a later
sentence seems to take back is not kept; what is unclear is left to a better reader.

What is found, by whomever, is held against the memory as it is: nothing, an addition, an update.
Each fact is told once and with its date. Known facts are left alone, whichever way they were said;
a fact that contradicts another takes its place; what is forgotten is the one fact that the words
mean. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from vaultmind.consolidate.ground import share_of, words_of
from vaultmind.consolidate.marks import marked
from vaultmind.consolidate.types import (
    SECTION_OF,
    Candidate,
    Category,
    Dropped,
    Extraction,
    Reason,
    any_of,
)
from vaultmind.index.when import with_dates
from vaultmind.language.encoder import Word
from vaultmind.language.names import covers
from vaultmind.language.reader import Intent, intent_of
from vaultmind.language.text import plain_sentences
from vaultmind.language.words import NEGATIONS, SOFT, content, fold
from vaultmind.memory.contradictions import contradicts, denies, score
from vaultmind.memory.match import find, mentions, same_fact
from vaultmind.redact import MARK, mask, private_spans
from vaultmind.session.recall import key_of
from vaultmind.session.unkept import unkept
from vaultmind.types import Fact, Message, Role
from vaultmind.vault.oneline import one_line

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

# --- a conversation taken apart ----------------------------------------------------------

GAP = "\ufffc"
"""Stands for what was taken out of a sentence."""
MOST_CHARACTERS = 4000
"""Maximum length of a message that is read: more is a paste, whatever it begins with."""
STATEMENT_CHARACTERS = 200
TITLE_WORDS = 4
"""A quotation of so few words is a name or a title."""
ASKED_CHARACTERS = 300
"""Maximum length of a sentence that may ask the memory for something."""
TO_THE_MEMORY = ("forget_topic", "forget_that", "skip", "recall", "show_memory")
"""What a sentence may ask of the memory; such a one is no part of a conversation."""
CHANGES = ("remember", "correct", "forget_topic")
"""What it may ask to have changed."""

_TAKEN = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]{1,400}`|^[ \t]{0,8}>.*$|<<recalled .*?(?:<<end|\Z)"
    r"|[\"“„«][^\"”»“\n]{1,600}[\"”»“]",
    re.DOTALL | re.MULTILINE,
)
_FOREIGN = re.compile(any_of("foreign"))
"""How a line of an e-mail, a log, a document or of code begins, folded."""
_CHAT = re.compile(r"(?m)(?:^(?:\[[^\]\n]{1,30}\] ?)?[^\W\d_][\w .-]{0,24}: \S.*(?:\n+|\Z)){3,}")
"""A conversation of others that was pasted: three lines or more of `Name: what they say`."""
_ORDER = re.compile(any_of("order"))
"""What orders a memory about, folded. A guard against pasted text, not a reading of speech."""
_PARAGRAPH = re.compile(r"\n\s*\n")
_CARD = re.compile(r"(?<!\d)\d{4}(?:[ -]?\d{4}){2,3}[ -]?\d{1,4}(?!\d)")
_NO_FACT = re.compile(rf"{GAP}|\d{{10}}")
"""In no fact: what was taken out, and the number of a person, an account, an order."""
_ASKS = re.compile(r"\?[\"'»”)\s!]*$")
_CLAUSE = re.compile(
    r"[,;]\s+|\s[-–—]\s+|:\s+|\s(?=(?:and|but|so|because|ale|bo|więc|и|но|а|потому что|так что) )"
)
_SIGNS = re.compile(
    "[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f]+|(?<!\\w)[:;]-?[)(DPp]+|[)]{2,}|(?<=\\s)[)]+"
)


@dataclass(frozen=True, slots=True)
class Utterance:
    """A sentence of a conversation."""

    text: str
    key: str
    """Of its message: the id, or the block."""
    at: int
    """The number of its message in the conversation, from 0."""
    role: Role
    fault: Reason | None = None
    """Why it cannot be a fact; None: it may."""
    intent: Intent = field(default_factory=Intent)
    """What it asks of the memory."""


def day_of(message: Message) -> datetime | None:
    """Return the beginning of the day on which a message was said, where it is known."""
    said = re.match(r"\d{4}-\d\d-\d\d", message.time)
    return datetime.fromisoformat(said[0]) if said else None


def read_talk(messages: Sequence[Message]) -> list[Utterance]:
    """Return a conversation taken apart: all that was said, in order."""
    gone = unkept(messages)
    return [
        said
        for at, message in enumerate(messages)
        if message.role in ("user", "assistant") and not message.erased
        for said in _utterances(message, at, withheld=at in gone)
    ]


def _utterances(message: Message, at: int, *, withheld: bool) -> Iterator[Utterance]:
    own, taken = own_words(message.text)
    key, role = key_of(message), message.role
    for text, reason in taken:
        yield Utterance(text, key, at, role, reason)
    ordered = False
    for sentence in (one for one in plain_sentences(own) if one.strip(f"{GAP} ")):
        asks = role == "user" and len(sentence) <= ASKED_CHARACTERS
        heard = intent_of(sentence) if asks else Intent()
        ordered = ordered or gives_orders(sentence)
        fault = "orders the memory" if ordered else fault_of(sentence, heard)
        if withheld and fault is None:
            fault = "asked not to keep"
        fault = A_REQUEST if message.asked else fault
        told = list(_CLAUSE.finditer(sentence)) if fault == "question" else []
        if told:  # "I'm a nurse in Leeds, can you recommend a gym?"
            yield Utterance(sentence[: told[-1].start()], key, at, role, None, heard)
            sentence = sentence[told[-1].end() :]  # noqa: PLW2901
        yield Utterance(sentence, key, at, role, fault, heard)


def fault_of(sentence: str, intent: Intent) -> Reason | None:
    """Return why a sentence cannot be a fact, as far as its form shows it."""
    folded = fold(one_line(sentence))
    if MARK.search(sentence) or _CARD.search(folded) or mask(sentence).text != sentence:
        return "secret"
    if intent.intent == "skip":
        return "asked not to keep"
    asks = _ASKS.search(sentence) and intent.intent != "remember"  # "can you remember that I ..?"
    return "question" if asks else None


def gives_orders(text: str) -> bool:
    """Tell whether a sentence orders a memory about, or repeats what does."""
    return bool(_ORDER.search(fold(one_line(text))))


def own_words(text: str) -> tuple[str, tuple[tuple[str, Reason], ...]]:
    """Return a message's own words with gaps in them, and what was taken out, each with why."""
    shown = text[:MOST_CHARACTERS]
    taken: list[tuple[str, Reason]] = []
    for start, end, _ in reversed(private_spans(shown)):
        taken.append((shown[start:end], "private"))
        shown = f"{shown[:start]}\n{shown[end:]}"

    def without(match: re.Match[str]) -> str:
        said = match.group()
        if said[0] in '"“„«' and len(said.split()) <= TITLE_WORDS:
            return said
        taken.append((said, "quoted"))
        return GAP

    own, pasted = _without_paste(_TAKEN.sub(without, shown))
    orders: Reason = "orders the memory"
    return own, (*taken, *((one, orders if gives_orders(one) else "quoted") for one in pasted))


def in_own_words(message: Message) -> Message:
    """Return a message as it stands without what a person pasted or quoted in it."""
    text = own_words(message.text)[0].replace(GAP, "…")
    return replace(message, text=text) if message.role == "user" else message


def _without_paste(text: str) -> tuple[str, list[str]]:
    """Return what stands before a paste, and the paste."""
    if chat := _CHAT.search(text):
        rest = f"{text[: chat.start()]}{text[chat.end() :]}"
        own, pasted = _without_paste(rest) if rest.strip() else ("", [])
        return own, [chat.group(), *pasted]
    first, *rest_ = _PARAGRAPH.split(text.strip())
    lines = first.split("\n")
    opens = (at for at, line in enumerate(lines, 1) if line.rstrip().endswith(":"))
    foreign = (at for at, line in enumerate(lines) if _is_foreign(line))
    end = min(next(one, len(lines) + 1) for one in (opens, foreign))
    if end < len(lines) or (end == len(lines) and rest_):
        return "\n".join(lines[:end]), ["\n".join([*lines[end:], *rest_])]
    if any(_is_foreign(line) for line in "\n".join(rest_).split("\n")):
        return first, rest_
    return text, []


def _is_foreign(line: str) -> bool:
    folded = fold(line).strip()
    return bool(_FOREIGN.search(folded) or _ORDER.search(folded))


def statement(text: str) -> str:
    """Return a piece of a sentence on one line, its first letter a capital, without a mark."""
    text = one_line(_SIGNS.sub(" ", text)).strip(" ,;:.!?…–—-)")
    if len(text) > STATEMENT_CHARACTERS:
        ends = [m.start() for m in _CLAUSE.finditer(text) if m.start() <= STATEMENT_CHARACTERS]
        text = text[: ends[-1] if ends else text.rfind(" ", 0, STATEMENT_CHARACTERS)]
    return text[:1].upper() + text[1:]


# --- facts -------------------------------------------------------------------------------

Found = tuple[Candidate, Utterance, float]
"""A fact, the sentence that says it, and how likely it is one that lasts."""
MAX_FACTS = 8
A_REQUEST = "asked of the memory"
NOT_SAID = ("quoted", "private", "orders the memory", A_REQUEST)
"""Faults of what is no part of a conversation; the last is that of a request that was heard."""
MAYBE, KEEPS = 0.3, 0.57
"""Likelihood from which a word may belong to a fact that can be understood by itself; and mean of a
stretch of such words from which it is kept."""
ASKS = 0.9
"""Likelihood of a wish to have something kept from which it is kept as said."""
FEWEST, HEAD = 2, 2
"""Fewest words of a fact; and most before the colon of a decision of one's own: "Agreed: ..."."""
_GOES_ON = re.compile(r"(?:[:.,]\d+|[-/]\w+)+")
"""The rest of a word that the marks cut short."""
UNDONE, SAME_UNDONE, TRUST = 0.0, -1.5, 10.0
"""Score of a contradiction from which a later sentence of the same talk takes a fact back: less
than between two facts; and from which it does where it speaks of the same thing. What somebody is
or likes is taken back less often than what was decided: the surer it is, the more it needs."""
REACH = 40
"""Sentences of the user after a fact that may take it back."""
WEIGHT: dict[Category, float] = {"CORE": 4.0, "PREFERENCE": 3.5, "DECISION": 3.0, "PROJECT": 2.5}
ASKED = 5.0
"""What a fact weighs that the person asked to have kept, or put right."""


def extract(
    messages: Sequence[Message], brain: Sequence[Fact] = (), *, max_facts: int = MAX_FACTS
) -> Extraction:
    """Return what a conversation leaves behind that the brain does not know yet.

    Give only messages that may be recalled: what was forgotten is left out by the caller.
    """
    said = [one for one in read_talk(messages) if one.role == "user"]
    dropped = [
        Dropped(one.text.replace(GAP, "…"), one.fault, (one.key,))
        for one in said
        if one.fault not in (None, A_REQUEST) and any(map(str.isalnum, one.text))
    ]
    kept = _still_so(_found(said, dropped), said, dropped)
    merged = merge([*_forgets(said), *kept], messages, brain, max_facts)
    return Extraction(tuple(map(_with_doubt, merged.facts)), (*dropped, *merged.dropped))


def _with_doubt(one: Candidate) -> Candidate:
    """Return a fact, only to be suggested if it may take another's place and that is not certain.

    It may have been an order: "Take the pork ramen place off the map".
    """
    is_sure = one.asked or contradicts(one.text, one.replaces, typed=True)
    if one.category != "UPDATE" or is_sure:
        return one
    return replace(one, doubt=f"it may take the place of: {one.replaces}")


def _forgets(said: Iterable[Utterance]) -> Iterator[Candidate]:
    """Yield what the user asked the memory, in words addressed to it, to forget."""
    for one in said:
        words = one.intent.payload if one.intent.intent == "forget_topic" else ""
        if not one.fault and any(word.folded not in SOFT for word in words_of(words)):
            yield Candidate("DELETE", words, (one.key,), ASKED, asked=True)


def _withdraws(said: Utterance, fact: str) -> bool:
    """Tell whether a request forgets a fact, or names as wrong what it says of the same thing."""
    heard = said.intent
    if heard.intent == "forget_topic":
        return mentions(fact, heard.payload)
    if not heard.old or not mentions(fact, heard.old):
        return False
    wrong, there = words_of(heard.old), words_of(fact)
    rest = [one for one in words_of(said.text) if not any(map(one.same, wrong))]
    return len(rest) <= FEWEST or any(one.same(other) for one in rest for other in there)


def _still_so(
    found: Iterable[Found], said: list[Utterance], dropped: list[Dropped]
) -> Iterator[Candidate]:
    """Yield the facts that nothing said, or asked of the memory, after them seems to take back.

    In doubt a fact is not kept: what came in its place is a fact of its own, or is told again.
    """
    for fact, one, sure in found:
        place = next(at for at, other in enumerate(said) if other is one)
        after = said[place + 1 :]
        asked = [other for other in after if other.intent.intent in CHANGES]
        trust = TRUST * (sure - KEEPS) if fact.category in ("CORE", "PREFERENCE") else 0.0
        withdrawn = any(_withdraws(other, fact.text) for other in asked)
        later = {other.text for other in (*after[:REACH], *asked)}
        if withdrawn or any(_takes_back(text, fact.text, trust) for text in later):
            dropped.append(Dropped(fact.text, "taken back", fact.evidence, fact.category))
        else:
            yield fact


def _takes_back(text: str, fact: str, trust: float) -> bool:
    """Tell whether a sentence seems to take back a fact that was told before it."""
    about = [word for word in words_of(fact) if word.folded not in SOFT]
    same = any(word.same(other) for word in about for other in words_of(text))
    return score(fact, text) >= (SAME_UNDONE if same else UNDONE) + trust


def _found(said: Sequence[Utterance], dropped: list[Dropped]) -> Iterator[Found]:
    """Yield the facts among what the user said, in order; what may be one is dropped."""
    own = [one for one in said if one.fault not in NOT_SAID]
    for one, marks in zip(own, marked([(one.text, one.key) for one in own]), strict=True):
        if one.fault or one.intent.intent in TO_THE_MEMORY:
            continue
        found = stretches(*marks, one.text)
        if asked := _asked(one):
            found = [(asked, _sort(marks[1]), 1.0)]
        for text, category, sure in found:
            if sure < KEEPS:
                dropped.append(Dropped(text, "unclear alone", (one.key,), category))
                continue
            weight = ASKED if asked or one.intent.intent == "correct" else WEIGHT[category]
            section = SECTION_OF[category]
            told = Candidate(category, text, (one.key,), weight, section, asked=bool(asked))
            yield told, one, sure


def _asked(one: Utterance) -> str:
    """Return what a sentence surely asks to have kept; empty for nothing."""
    asks = one.intent.intent == "remember" and one.intent.confidence >= ASKS
    return statement(one.intent.payload) if asks else ""


def stretches(words: Sequence[Word], tags: Matrix, text: str) -> list[tuple[str, Category, float]]:
    """Return the parts of a sentence whose words are marked as a fact that can be understood by
    itself: each with its sort, and how likely it is one.
    """
    likely = 1 - tags[:, 0]
    edges = np.flatnonzero(np.diff(likely >= MAYBE, prepend=False, append=False))
    found = []
    for begin, end in edges.reshape(-1, 2).tolist():
        sort, first, stop = _sort(tags[begin:end]), words[begin].start, words[end - 1].end
        if begin and fold(words[begin - 1].text) in NEGATIONS:  # "not MailerLite, we take Brevo"
            first = words[begin - 1].start
        if rest := _GOES_ON.match(text, stop):  # "at 18:30", "in 2024/25"
            stop = rest.end()
        piece, before = statement(text[first:stop]), text[:first].rstrip()
        personal = sort in ("CORE", "PREFERENCE") or len(before.split()) > HEAD
        for_another = before.endswith(":") and personal  # "For the test user: I ..."
        tells = len(piece.split()) >= FEWEST and not for_another
        if tells and not _NO_FACT.search(piece):
            found.append((piece, sort, float(likely[begin:end].mean())))
    return found


def _sort(tags: Matrix) -> Category:
    """Return the likeliest sort of fact of some words."""
    return list(WEIGHT)[int(tags[:, 1:].sum(axis=0).argmax())]


# --- merging with what is known ----------------------------------------------------------

UPDATED = 5.0
"""What the correction of a known fact weighs."""
ALIKE = 0.9
"""Share of its words in which a fact says no more than another."""


def merge(
    found: Iterable[Candidate], messages: Sequence[Message], brain: Sequence[Fact], max_facts: int
) -> Extraction:
    """Return what is new to a brain, the most important first, and what was dropped.

    `brain`: its facts and those of its archive, as visible to the agent. A DELETE names the
    fact that it means by its words and block.
    """
    single, dropped = _once(found)
    kept: list[Candidate] = []
    known = [fact for fact in brain if not fact.until]
    for one in (_dated(fact, messages) for fact in single):
        if one.category != "DELETE":
            merged = _told(one, known)
        elif meant := find(known, one.text).found:
            fact = known[meant[0]]
            merged = replace(one, text=fact.text, block=fact.block, section=fact.section)
        else:
            merged = Dropped(one.text, "not in memory", one.evidence, "DELETE")
        if isinstance(merged, Dropped):
            dropped.append(merged)
        else:
            kept.append(merged)
    kept.sort(key=lambda one: (not one.asked, -one.weight))
    most = max(max_facts, sum(one.asked for one in kept))  # what was asked for is never too much
    dropped += [Dropped(one.text, "too many", one.evidence, one.category) for one in kept[most:]]
    return Extraction(tuple(sorted(kept[:most], key=lambda one: -one.weight)), tuple(dropped))


def _once(found: Iterable[Candidate]) -> tuple[list[Candidate], list[Dropped]]:
    """Return facts, each once: what was said again has more evidence."""
    kept: list[Candidate] = []
    dropped: list[Dropped] = []
    for one in found:
        at = next((at for at, other in enumerate(kept) if _alike(one, other)), None)
        if at is None:
            kept.append(one)
            continue
        lesser, fuller = sorted((kept[at], one), key=lambda it: len(it.text))
        kept[at] = replace(
            fuller,
            evidence=tuple(dict.fromkeys((*kept[at].evidence, *one.evidence))),
            weight=max(one.weight, kept[at].weight),
            asked=one.asked or kept[at].asked,
            doubt=one.doubt and kept[at].doubt,
        )
        dropped.append(Dropped(lesser.text, "said twice", lesser.evidence, lesser.category))
    return kept, dropped


def _alike(one: Candidate, other: Candidate) -> bool:
    """Tell whether one fact says no more than another."""
    if (one.category == "DELETE") != (other.category == "DELETE"):
        return False
    few = min(len(words_of(one.text)), len(words_of(other.text)))
    return same_fact(one.text, other.text) or (few > 1 and share_of(one.text, other.text) >= ALIKE)


def _dated(one: Candidate, messages: Sequence[Message]) -> Candidate:
    """Return the fact of a statement with the date of its `tomorrow`."""
    if one.category == "DELETE":
        return one
    days = [day for each in messages if key_of(each) in one.evidence and (day := day_of(each))]
    text = one.text[:1].upper() + one.text[1:]
    return replace(one, text=with_dates(text, max(days)) if days else text)


def _told(one: Candidate, brain: Sequence[Fact]) -> Candidate | Dropped:
    for fact in brain:
        if is_known(one.text, fact.text):
            return Dropped(one.text, "already known", one.evidence, one.category)
    old = next((fact for fact in brain if contradicts(one.text, fact.text)), None)
    if old is None:
        return one
    section, weight = old.section or one.section, max(UPDATED, one.weight)
    found = replace(one, category="UPDATE", section=section, weight=weight)
    return replace(found, replaces=old.text, block=old.block)


def is_known(new: str, old: str) -> bool:
    """Tell whether an old fact says all that a new one does."""
    if same_fact(new, old):
        return True
    words = tuple(word for word in content(new) if word.folded not in SOFT)
    return bool(words) and covers(words, content(old)) and denies(new) == denies(old)
