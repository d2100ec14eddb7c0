"""What a person asked not to keep: the one place that decides it, for all that keeps something.

"Don't remember this: my sister is pregnant" means itself; "don't keep that" means what was said
before it; "from here on, off the record" means what follows, until something is to be remembered.
What somebody asked so gets into no summary, fact or context. The session's file has it, but for a
message that surely means itself: of that it only says when it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile

from vaultmind.language.names import covers
from vaultmind.language.reader import POINTS, Intent, intent_of, intents_of
from vaultmind.language.text import sentences
from vaultmind.language.words import content
from vaultmind.types import Message, MessageRef

REACH = 6
"""The user's messages before a wish that it may mean."""
AHEAD = 0.95
"""Likelihood from which a wish means all that follows."""
BEYOND_DOUBT = 0.9
"""Likelihood from which a message is hidden as soon as it is written down."""

ASKS_FROM = {"forget_that": 0.0, "forget_topic": 0.0, "remember": 0.95, "skip": 0.95}
"""Likelihood from which a sentence is a request to the memory: many a decision sounds like one."""


def unkept(messages: Sequence[Message], least: float = 0.0) -> dict[int, int]:
    """Return which messages were asked not to be kept, each with the one that asks, by number.

    `messages` are those of a conversation in their order; `least` is how sure a reading must be.
    """
    talk = ("user", "assistant")
    spoken = [at for at, one in enumerate(messages) if one.role in talk and not one.erased]
    users = [at for at in spoken if messages[at].role == "user"]
    intents_of([messages[at].text for at in users])  # read together, and kept as read
    found: dict[int, int] = {}
    ahead: int | None = None
    for place, at in enumerate(users):
        intent = _wish(messages[at].text)
        if intent.intent == "skip" and intent.confidence >= least:
            back = "before" in intent.scopes and intent.scopes[0] != "after"
            earlier = _spoken_of(messages, users[:place], at) if back else ()
            for said in (*earlier, *([at] if "this" in intent.scopes or not earlier else [])):
                found.setdefault(said, at)
            if intent.scopes[:1] == ("after",) and intent.confidence >= AHEAD:
                ahead = at
        elif intent.intent == "remember":
            ahead = None
        elif ahead is not None:
            found.setdefault(at, ahead)
    for at, asker in list(found.items()):
        found.update((n, asker) for n in _echoes(messages, spoken, at) if n not in found)
    return found


def keeping(messages: Sequence[Message]) -> Sequence[Message]:
    """Return messages with nothing in those that were asked not to be kept."""
    gone = unkept(messages)
    return [replace(one, text="") if at in gone else one for at, one in enumerate(messages)]


def is_off(text: str, least: float = BEYOND_DOUBT) -> bool:
    """Tell whether a person's message asks, at least so surely, that it be not kept itself."""
    wish = _wish(text)
    return wish.scopes[:1] == ("this",) and wish.confidence >= least


def refs_of(agent: str, session: str, messages: Iterable[Message]) -> list[MessageRef]:
    """Return where messages stand that are to be hidden; requests, which are no talk, aside."""
    placed = (one for one in messages if one.block and not one.asked)
    return [MessageRef(agent, session, one.block, one.id) for one in placed]


def asks_memory(sentence: str) -> bool:
    """Tell whether a sentence has the memory keep or leave something: in no summary.

    What puts something right is said of the conversation, too.
    """
    intent = intent_of(sentence)
    return intent.confidence >= ASKS_FROM.get(intent.intent, 2.0)


def _wish(text: str) -> Intent:
    """Return what a message asks; one that only points back in its first sentence means that."""
    intent, said = intent_of(text), sentences(text)
    begun = text[said[0].start : said[0].end] if len(said) > 1 else ""
    if not begun or len(begun.split()) > POINTS:
        return intent
    first = intent_of(begun)
    return first if first.intent == "skip" and first.scopes == ("before",) else intent


def _spoken_of(messages: Sequence[Message], before: Sequence[int], at: int) -> Sequence[int]:
    """Return which of the user's last messages share a word with one that asks; else the last."""
    shared = [n for n in before[-REACH:] if _share(messages[n], messages[at])]
    return shared or before[-1:]


def _echoes(messages: Sequence[Message], spoken: Sequence[int], at: int) -> list[int]:
    """Return the assistant's messages right after a user's that say any of its words again."""
    after = (n for n in spoken if n > at)
    answers = takewhile(lambda n: messages[n].role != "user", after)
    return [n for n in answers if _share(messages[n], messages[at])]


def _share(one: Message, other: Message) -> bool:
    return any(covers([word], content(other.text)) for word in content(one.text))
