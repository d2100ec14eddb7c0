"""What an agent itself says a conversation leaves: its recap, and facts that quote the person.

The agent that was there understood the person best, and is believed where it can show it: the
words that it quotes were logged, and every number, name and date was said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vaultmind.consolidate.extract import is_known
from vaultmind.consolidate.ground import share_of, stands, supported, unsaid
from vaultmind.consolidate.settle import bring_in, known_facts, retell
from vaultmind.consolidate.talk import day_of, gives_orders, own_words
from vaultmind.consolidate.types import (
    MEANS,
    SECTION_OF,
    Candidate,
    Category,
    Dropped,
    Reason,
    Resources,
    Settled,
    Work,
)
from vaultmind.index.when import with_dates
from vaultmind.language.secrets import sensitive
from vaultmind.language.text import plain_sentences
from vaultmind.language.words import fold
from vaultmind.memory.wording import pick
from vaultmind.redact import blank_private, mask
from vaultmind.session.active import recap_block
from vaultmind.session.files import read_session, recallable
from vaultmind.session.recall import key_of
from vaultmind.session.summary import Line, source_bullet, unkept
from vaultmind.types import Caller, Message, Section
from vaultmind.vault.oneline import one_line
from vaultmind.vault.transcript import runs

CATEGORY_OF: dict[Section, Category] = {section: name for name, section in SECTION_OF.items()}
OPEN = "the conversation goes on: what it leaves is taken from it when it ends"
LATER = "later conversations have left their own already"
MOST_SENTENCES = 12
"""Of a recap; what comes after them is told to be too much."""
DOES_NOT_SAY = "the conversation does not say {}"
_ABOUT_THE_USER = re.compile(
    r"\b(?:the )?(?:users?(?:['’]s?)?|uzytkowni[kc]\w*|пользовател\w*) (?!to\b)", re.IGNORECASE
)
"""How an agent speaks of the person: an order where somebody else writes it."""


@dataclass(frozen=True, slots=True)
class Told:
    """A fact as an agent tells it."""

    text: str
    quote: str
    """What the person said, in a message that was logged."""
    section: Section | None = None
    replaces: str = ""
    """The words of a known fact whose place it takes; its block id where there is one."""


class Reported:
    """Takes what agents tell of a conversation. Any thread."""

    def __init__(self, by: Resources, max_facts: int) -> None:
        self._by = by
        self._max_facts = max_facts

    def facts(
        self, agent: str, session: str, facts: Sequence[Told], caller: Caller
    ) -> tuple[Settled, ...]:
        """Bring into memory what the conversation bears out; return what became of each fact.

        `session` is empty where nothing was logged. Raises NotFound, UnreadableNote for a session
        that cannot be read.
        """
        said, _ = self._heard(agent, session)
        known = [one.text for one in known_facts(self._by, agent)]
        most, bad, fates = len(known) + self._max_facts, list[Dropped](), list[Settled]()
        work, messages = Work(self._by, agent, session, caller), {key_of(one): one for one in said}
        for told in facts:
            found = _judged(told, said)
            there = any(is_known(found.text, one) for one in known)
            if isinstance(found, Candidate) and (there or len(known) == most):
                reason = "already known" if there else "too many"
                found = Dropped(found.text, reason, found.evidence, found.category)
            if isinstance(found, Dropped):
                bad.append(found)
                fate = Settled(found.category, "", found.evidence, reason=found.reason)
            else:
                known.append(found.text)
                (fate,) = bring_in(work, [found], (), messages)
            fates.append(replace(fate, fact=one_line(mask(told.text).text)))
        bring_in(work, (), bad, messages)
        return tuple(fates)

    def recap(
        self, agent: str, session: str, recap: str, caller: Caller
    ) -> tuple[int, list[tuple[str, str]]]:
        """Write a recap into the active context; return how many of its sentences were kept, and
        the others, each with why not.
        """
        said, is_open = self._heard(agent, session)
        lines, left_out = grounded(recap, said, agent, session)
        why = OPEN if is_open else ""
        if lines and not why:
            work = Work(self._by, agent, session, caller)
            bullets = [source_bullet(one) for one in lines]
            why = "" if retell(work, bullets, "the agent's recap of a session") else LATER
        if why:
            return 0, [*left_out, *((one.text, why) for one in lines)]
        return len(lines), left_out

    def readable(self, agent: str, session: str) -> list[tuple[str, Message]]:
        """Return the messages of a session that an agent may read to settle it, by their names."""
        return [
            (one.block or one.id, replace(one, text=mask(blank_private(one.text)).text))
            for one in self._heard(agent, session)[0]
            if one.role in ("user", "assistant") and one.text.strip()
        ]

    def _heard(self, agent: str, session: str) -> tuple[list[Message], bool]:
        """Return what of a session may bear something out, and whether it goes on."""
        if not session:
            return [], True
        reader, hides = self._by.reader, self._by.hides
        file, transcript = read_session(reader, agent, session)
        shown = recallable(agent, file.path, file.text, hides, transcript=transcript)
        kept_out = unkept([one for one, _ in shown])
        said = [one for at, (one, _) in enumerate(shown) if at not in kept_out]
        return said, runs(transcript.meta)


def _unfit(text: str, *, quotes: bool = True) -> Reason:
    """Return why an agent's words are kept from nobody; empty for those that may be."""
    if blank_private(text) != text:
        return "private"
    if mask(text).text != text:
        return "secret"
    said = _ABOUT_THE_USER.sub("", fold(text)) if quotes else text
    return "orders the memory" if gives_orders(said) else ""


def _judged(told: Told, said: Sequence[Message]) -> Candidate | Dropped:
    """Return a fact with the message that it quotes as evidence, or why the talk bears it not out.

    Words that were pasted bear out nothing. What no message says may be what was forgotten: then
    the words are kept nowhere.
    """
    text, quote = one_line(told.text), told.quote
    section = told.section or pick(text)
    category = CATEGORY_OF[section]
    if reason := _unfit(told.text, quotes=bool(quote)):
        return Dropped("" if reason in ("private", "secret") else text, reason)
    there = [one for one in said if stands(quote, one.text)]
    there = [one for one in there if one.role == "user"] or there
    keys = tuple(key_of(one) for one in there[-1:])
    fault = supported(text, said, quote)
    if fault and fault.reason != "polarity":
        return Dropped(text if there else "", fault.reason, keys, category)
    if not fault and all(_is_pasted(quote, one.text) for one in there):
        return Dropped(text, "quoted", keys, category)
    if there and (day := day_of(there[-1])):
        text = with_dates(text, day)
    doubt = MEANS["polarity"] if fault else ""
    change: Category = "UPDATE" if told.replaces else category
    return Candidate(change, text, keys, 0.0, section, told.replaces, doubt=doubt, quote=quote)


def _is_pasted(quote: str, text: str) -> bool:
    """Tell whether words of a message are somebody else's, which its writer pasted or quoted."""
    own, others = own_words(text)
    return not stands(quote, own) and any(stands(quote, one) for one, _ in others)


def grounded(
    recap: str, messages: Sequence[Message], agent: str, session: str
) -> tuple[list[Line], list[tuple[str, str]]]:
    """Return the sentences of a recap that a conversation bears out, and the others with why not.

    `messages` are those that may be kept; `agent`, whose words these are, is named beside them.
    """
    own = [
        (number, replace(one, text=own_words(one.text)[0]) if one.role == "user" else one)
        for number, one in enumerate(messages, 1)
        if one.role in ("user", "assistant") and one.text.strip()
    ]
    near = [one for _, one in own]
    also = " ".join([*{one.speaker or "" for one in near}, *{one.time[:10] for one in near}, agent])
    lines: list[Line] = []
    left_out: list[tuple[str, str]] = []
    for sentence in dict.fromkeys(plain_sentences(recap)):
        shares = [share_of(sentence, one.text) for one in near]
        reason = _why_not(sentence, near, also)
        if not reason and not any(shares):
            reason = DOES_NOT_SAY.format("anything of it")
        if not reason and len(lines) == MOST_SENTENCES:
            reason = f"a recap has at most {MOST_SENTENCES} sentences"
        if reason:
            left_out.append((sentence, reason))
            continue
        at, source = own[shares.index(max(shares))]
        block = recap_block(session, len(lines) + 1)
        lines.append(Line(sentence, "other", block, source.block, at, speaker=agent))
    return lines, left_out


def _why_not(sentence: str, near: Sequence[Message], also: str) -> str:
    """Return why a sentence of a recap is not kept; empty for one that is."""
    if reason := _unfit(sentence):
        return MEANS[reason]
    fault = unsaid(sentence, near, near[-1].time[:10] if near else "", also)
    if not fault and sensitive(sentence):
        mine = [one for one in near if one.role == "user" or not _ABOUT_THE_USER.match(sentence)]
        fault = supported(sentence, mine, also=also)
    return DOES_NOT_SAY.format(fault.detail or fault.reason) if fault else ""
