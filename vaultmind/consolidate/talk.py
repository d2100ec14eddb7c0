"""A conversation taken apart: the sentences of its speakers, and which of them may not be kept.

Pastes, quotations, code and private passages are not their writer's own words. What a sentence of
the person's own means is for the trained models in `extract` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from vaultmind.consolidate.types import Reason, any_of
from vaultmind.language.reader import Intent, intent_of
from vaultmind.language.text import plain_sentences
from vaultmind.language.words import fold
from vaultmind.redact import MARK, mask, private_spans
from vaultmind.session.recall import key_of
from vaultmind.session.summary import unkept
from vaultmind.types import Message, Role
from vaultmind.vault.oneline import one_line

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


@dataclass(frozen=True, slots=True)
class Talk:
    """All that was said, in order."""

    said: tuple[Utterance, ...]
    days: Mapping[str, date] = field(default_factory=dict)
    """The day of each message by its key, where it has one."""


def day_of(message: Message) -> datetime | None:
    """Return the beginning of the day on which a message was said, where it is known."""
    said = re.match(r"\d{4}-\d\d-\d\d", message.time)
    return datetime.fromisoformat(said[0]) if said else None


def read_talk(messages: Sequence[Message]) -> Talk:
    """Return a conversation taken apart."""
    gone = unkept(messages)
    said: list[Utterance] = []
    days: dict[str, date] = {}
    for at, message in enumerate(messages):
        if message.role not in ("user", "assistant") or message.asked or message.erased:
            continue
        if day := day_of(message):
            days[key_of(message)] = day.date()
        said += _utterances(message, at, withheld=at in gone)
    return Talk(tuple(said), days)


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
    for start, end in reversed(private_spans(shown)):
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


def _without_paste(text: str) -> tuple[str, list[str]]:
    """Return what stands before a paste, and the paste."""
    if chat := _CHAT.search(text):
        rest = f"{text[: chat.start()]}{text[chat.end() :]}"
        own, pasted = _without_paste(rest) if rest.strip() else ("", [])
        return own, [chat.group(), *pasted]
    first, *rest_ = _PARAGRAPH.split(text.strip())
    lines = first.split("\n")
    opens = next((at for at, line in enumerate(lines) if line.rstrip().endswith(":")), None)
    foreign = next((at for at, line in enumerate(lines) if _is_foreign(line)), None)
    ends = [at for at in (None if opens is None else opens + 1, foreign) if at is not None]
    if ends and (min(ends) < len(lines) or rest_):
        end = min(ends)
        return "\n".join(lines[:end]), ["\n".join([*lines[end:], *rest_])]
    if any(_is_foreign(line) for line in "\n".join(rest_).split("\n")):
        return first, rest_
    return text, []


def _is_foreign(line: str) -> bool:
    folded = fold(line).strip()
    return bool(_FOREIGN.search(folded) or _ORDER.search(folded))


def spans(sentence: str) -> list[str]:
    """Return the runs of clauses of a sentence that may say something by themselves.

    The whole comes first; then what is left without its first clauses, its last, or both.
    """
    joints = [(0, 0), *(one.span() for one in _CLAUSE.finditer(sentence))][:8]
    ends = [*(start for start, _ in joints[1:]), len(sentence)]
    found = [
        sentence[begin:end]
        for at, (_, begin) in enumerate(joints)
        for end in reversed(ends[at:])
        if GAP not in sentence[begin:end]
    ]
    return [one for one in dict.fromkeys(map(statement, found)) if one]


def statement(text: str) -> str:
    """Return a piece of a sentence on one line, its first letter a capital, without a mark."""
    text = one_line(_SIGNS.sub(" ", text)).strip(" ,;:.!?…–—-)")
    if len(text) > STATEMENT_CHARACTERS:
        ends = [m.start() for m in _CLAUSE.finditer(text) if m.start() <= STATEMENT_CHARACTERS]
        text = text[: ends[-1] if ends else text.rfind(" ", 0, STATEMENT_CHARACTERS)]
    return text[:1].upper() + text[1:]
