"""An agent's own recap of a conversation: held against what was said, sentence by sentence, and
put first in what the conversation leaves for the next one.

Pure: messages and sentences in, lines and reasons out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from vaultmind.consolidate.facts.astray import astray, of_the_user
from vaultmind.consolidate.facts.supported import unsaid
from vaultmind.consolidate.talk import Understand, own_words, says
from vaultmind.memory.sensitive import sensitive
from vaultmind.memory.words import fold
from vaultmind.redact import blank_private, mask
from vaultmind.session.active import recap_block
from vaultmind.session.files import plain_text
from vaultmind.session.sentences import LANGUAGES, headings, sentences
from vaultmind.session.summary import Line, section_text, unkept
from vaultmind.session.summary_file import source_bullet
from vaultmind.tokens import count
from vaultmind.types import Message
from vaultmind.vault.bullets import HEADING

MOST_SENTENCES = 12
"""Of a recap; what comes after them is told to be too much."""
MOST_MESSAGES = 200
"""Messages that a recap is held against: of more, those that have most words in common with it."""
DOES_NOT_SAY = "the conversation does not say {}"
ORDERS = "it gives orders to the memory"
SECRET = "it holds a secret"
PRIVATE = "it holds something private"
LONG = "a recap has at most {} sentences"

_DESCRIBES = re.compile(r"(?:the )?users?(?:['’]s)? (?!to\b)|uzytkowni\w+ |пользовател\w+ ")
_WORD = re.compile(r"\w{3,}")
_STEM = 5
"""Letters in which two forms of a word begin alike."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A sentence that was not kept, and why."""

    sentence: str
    reason: str


@dataclass(frozen=True, slots=True)
class Grounded:
    """What of a recap is kept, each sentence with the message that says most of it."""

    lines: tuple[Line, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def grounded(
    recap: str,
    messages: Sequence[Message],
    agent: str,
    session: str,
    understand: Understand | None = None,
) -> Grounded:
    """Return the sentences of a recap that the conversation bears out.

    `messages` are those that may be recalled; `agent`, whose words these are, is named beside
    them.
    """
    gone = unkept(messages, understand)
    near = [_own(one) for at, one in enumerate(messages) if at not in gone]
    near = nearest(recap, [one for one in near if one.text.strip()])
    dates = " ".join(sorted({one.time[:10] for one in near}))
    also = " ".join([*{one.speaker for one in near if one.speaker}, dates, agent])
    lines: list[Line] = []
    left_out: list[LeftOut] = []
    for sentence in dict.fromkeys(sentences(recap)):
        source = _closest(sentence, near)
        reason = _fault(sentence) or _unsaid(sentence, near, also)
        if not reason and source is None:
            reason = DOES_NOT_SAY.format("anything of it")
        if not reason and len(lines) == MOST_SENTENCES:
            reason = LONG.format(MOST_SENTENCES)
        if reason or source is None:
            left_out.append(LeftOut(sentence, reason))
            continue
        block = recap_block(session, len(lines) + 1)
        at = next((n for n, one in enumerate(messages, 1) if one.block == source.block), 0)
        lines.append(Line(sentence, "other", block, source.block, at, speaker=agent))
    return Grounded(tuple(lines), tuple(left_out))


def nearest(text: str, messages: Sequence[Message]) -> list[Message]:
    """Return the messages that a text may be about, in their order; all where they are few."""
    spoken = [one for one in messages if one.role in ("user", "assistant")]
    if len(spoken) <= MOST_MESSAGES:
        return spoken
    wanted = set(_stems(text))
    scores = [len(wanted & set(_stems(one.text))) for one in spoken]
    ranked = sorted(range(len(spoken)), key=lambda at: (-scores[at], -at))
    return [spoken[at] for at in sorted(ranked[:MOST_MESSAGES])]


def with_recap(text: str, lines: Sequence[Line], language: str, max_tokens: int) -> str:
    """Return the body of an active context with a recap in the place of what it was about.

    `text` is what the conversation leaves without it, empty where it leaves nothing: its other
    sections stay as far as there is room. At least one line of the recap is kept.
    """
    title = headings(language)["about"]
    kept = list(lines)
    body = section_text(title, map(source_bullet, kept))
    while len(kept) > 1 and _tokens(body) > max_tokens:
        kept.pop()
        body = section_text(title, map(source_bullet, kept))
    for heading, items in _others(text):
        section = [heading]
        for item in items:
            if _tokens("\n\n".join([body, "\n".join([*section, item])])) <= max_tokens:
                section.append(item)
        if len(section) > 1:
            body = "\n\n".join([body, "\n".join(section)])
    return body


def _fault(sentence: str) -> str:
    """Return why a sentence is kept from no conversation; empty for one that may be."""
    if mask(sentence).text != sentence:
        return PRIVATE if blank_private(sentence) != sentence else SECRET
    folded = fold(sentence)
    found = says(folded, "order")
    while found and _DESCRIBES.match(found.group()):
        folded = folded[found.end() :]  # a recap speaks of the user: that is no order
        found = says(folded, "order")
    return ORDERS if found else ""


def _unsaid(sentence: str, messages: Sequence[Message], also: str) -> str:
    """Return what of a sentence nobody said: a number, name or date; of private things any word."""
    reason, lost = unsaid(sentence, messages, also=also)
    if not reason and sensitive(sentence):
        own = [one.text for one in messages if one.role == "user" or not of_the_user(sentence)]
        lost = astray(sentence, [*own, also])
    return DOES_NOT_SAY.format(lost) if lost else ""


def _own(message: Message) -> Message:
    """Return a message without what its writer pasted."""
    return replace(message, text=own_words(message.text)[0]) if message.role == "user" else message


def _closest(sentence: str, messages: Sequence[Message]) -> Message | None:
    """Return the message that has most of a sentence's words; of equals the last."""
    wanted = set(_stems(sentence))
    best: tuple[int, Message | None] = (0, None)
    for one in messages:
        shared = len(wanted & set(_stems(one.text)))
        if shared and shared >= best[0]:
            best = shared, one
    return best[1]


def _stems(text: str) -> Iterable[str]:
    return (word[:_STEM] for word in _WORD.findall(fold(text)))


def _others(text: str) -> list[tuple[str, list[str]]]:
    """Return the sections of an active context but the one on what it was about."""
    about = {headings(code)["about"].casefold() for code in LANGUAGES}
    sections: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if match := HEADING.match(line):
            sections.append((line if match[1].casefold() not in about else "", []))
        elif line.strip() and sections:
            sections[-1][1].append(line)
    return [one for one in sections if one[0]]


def _tokens(body: str) -> int:
    return count(plain_text(body))
