"""Having a model say what was folded, and what tools did, and keeping that in the summary's file.

The extractive summary is there before, and stays where the model fails. What a model is asked for
may take minutes: no lock is held meanwhile, and what the person, a fold or an erasure changed in
that time counts when its answer comes.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from vaultmind.errors import VaultMindError
from vaultmind.index.where import message_number
from vaultmind.session.summary import Rolling, Told, parse_rolling, rewritten, shown
from vaultmind.session.summary.told import Asked, with_told, with_tools
from vaultmind.session.talk.means import Teller, ToolCall
from vaultmind.session.talk.talk import Talk
from vaultmind.session.talk.view import View
from vaultmind.session.transcripts import CALLED
from vaultmind.types import Caller, Message
from vaultmind.vault.files import Change, FileText

MOST_ASKED = 24
"""Messages that a model is asked about at once."""
LOOKED_BACK = 240
"""Of a conversation that grew without a model, so many of its last folded messages are told by
it: the summary of the others is made of their own words."""
TOOLS_EVERY = 50
"""Messages after which a model is asked what tools did in them."""
MOST_CALLS = 10
"""Calls of tools that it is asked about at once: of more, some fewer each time, ..."""
TOOLS_LOOKED_BACK = 400
"""... and of so many messages at most."""
EARLIER_TOKENS = 200
"""Of the summary so far, which a model is shown so that it knows what is spoken of."""
log = logging.getLogger(__name__)

Merge = Callable[[Rolling, set[str]], Rolling]
"""Returns a summary with a model's answer in it, given the messages that it may not use."""


@dataclass(frozen=True, slots=True)
class _Job:
    """What a model is to be asked about."""

    asked: Asked
    segment: int
    path: str
    language: str
    earlier: str


class Saving:
    """Whether an answer may still be written, and the lock under which it is."""

    def __init__(self, stopping: Callable[[], bool], lock: AbstractContextManager[object]) -> None:
        self.stopping, self.lock = stopping, lock


def tell_due(talk: Talk, teller: Teller, saving: Saving) -> bool:
    """Have a model say what was folded and what tools did; return False where it failed.

    A part that is done is kept, so that the rest may be done another time.
    """
    while not saving.stopping() and (job := _untold(talk)) is not None:
        if not teller.ready():
            return True
        told = teller.lines(job.asked.messages, job.earlier, job.language)
        if told is None or not _keep(talk, job, saving, _lines_in(talk, job, told)):
            return False
    return saving.stopping() or _tell_tools(talk, teller, saving)


def _lines_in(talk: Talk, job: _Job, told: Told) -> Merge:
    most = talk.means.settings.summary_tokens
    return lambda rolling, gone: with_told(rolling, told, job.asked, most, gone)


def _tell_tools(talk: Talk, teller: Teller, saving: Saving) -> bool:
    job = _untold_tools(talk)
    if job is None or not teller.ready():
        return True
    answers: list[Told] = []
    for calls in _shared_out(_calls(job.asked.messages)):
        told = None if saving.stopping() else teller.tools(calls, job.language)
        if told is None:
            return saving.stopping()
        answers.append(told)
    return _keep(talk, job, saving, lambda all_, gone: with_tools(all_, answers, job.asked, gone))


def _shared_out(calls: Sequence[ToolCall]) -> list[Sequence[ToolCall]]:
    """Return calls in as few groups as there must be, of about the same size."""
    groups = -(-len(calls) // MOST_CALLS)
    ends = [len(calls) * number // groups for number in range(groups + 1)] if groups else []
    return [calls[start:end] for start, end in itertools.pairwise(ends)]


# --- what is due ---------------------------------------------------------------------------


def _untold(talk: Talk) -> _Job | None:
    """Return the folded messages that a model has not been asked about, as many as at once."""
    with talk.lock:
        view = talk.view()
        folded = _folded(talk, view, talk.rolling.told, LOOKED_BACK)
        spoken = [one for one in folded if one.role in ("user", "assistant") and one.text.strip()]
        return _job(talk, view, spoken[:MOST_ASKED]) if view and spoken else None


def _untold_tools(talk: Talk) -> _Job | None:
    """Return the folded messages since tools were told last, once they are enough."""
    with talk.lock:
        view = talk.view()
        folded = _folded(talk, view, talk.rolling.tools_upto, TOOLS_LOOKED_BACK)
        return _job(talk, view, folded) if view and len(folded) >= TOOLS_EVERY else None


def _folded(talk: Talk, view: View | None, after: str, most: int) -> list[Message]:
    """Return the last messages of the running segment that are in its summary, after one.

    None for an agent for which nothing is written, and where the conversation is over: what is
    left of that is another's task. Under the lock.
    """
    is_over = view is None or view.ended or bool(talk.reading.meta.source)
    if is_over or not talk.means.gate.keeps_records(talk.agent):
        return []
    first, upto = message_number(after), _number_of(talk, talk.rolling.upto)
    numbered = [(message_number(one.block), one) for one in talk.messages]
    return [one for number, one in numbered if first < number <= upto][-most:]


def _number_of(talk: Talk, name: str) -> int:
    """Return the number of the message with an own id or block id; 0 where there is none."""
    named = (one for one in reversed(talk.reading.messages) if name and name in (one.id, one.block))
    return max((message_number(one.block) for one in named), default=0)


def _job(talk: Talk, view: View, messages: Sequence[Message]) -> _Job:
    rolling = talk.rolling
    blocks = {one.block for one in messages}
    known = frozenset(one.block for one in rolling.lines if not one.own and one.source in blocks)
    return _Job(
        Asked(tuple(messages), _numbers(talk, blocks), known),
        talk.reading.segment,
        talk.rolling_path,
        talk.language,
        shown(view.rolling, EARLIER_TOKENS, speakers=True),
    )


def _numbers(talk: Talk, blocks: Iterable[str]) -> dict[str, int]:
    """Return the numbers of messages in the conversation, counted back from the last folded."""
    known = {one.source: one.at for one in talk.rolling.lines if one.source and one.at}
    names = [one.block for one in talk.messages]
    upto = next(
        (n for n, one in enumerate(talk.messages) if talk.rolling.upto in (one.id, one.block)),
        len(names) - 1,
    )
    first = talk.rolling.messages - upto
    counted = {block: max(1, first + number) for number, block in enumerate(names)}
    return {block: known.get(block, counted.get(block, 1)) for block in blocks}


def _calls(messages: Sequence[Message]) -> list[ToolCall]:
    """Return the calls of tools whose results are kept, each with what was said before it."""
    found, before, turn = [], "", ""
    for one in messages:
        if one.role in ("user", "assistant") and one.text.strip():
            before = one.text
            turn = one.text if one.role == "user" else turn
        elif one.role == "tool" and one.block and one.text.strip() not in ("", CALLED):
            asked = turn if turn != before else ""
            found.append(ToolCall(one.speaker, one.text, one.block, before, one.time, asked))
    return found


# --- keeping -------------------------------------------------------------------------------


def _keep(talk: Talk, job: _Job, saving: Saving, merge: Merge) -> bool:
    """Write a model's answer into the summary's file; return whether it stands there."""
    change = _change(talk, job, merge)
    caller = Caller("agent", talk.agent)
    with saving.lock, talk.work:
        if saving.stopping():
            return False
        try:
            reason = "a model says what was said"
            written = talk.means.gate.save(job.path, change, caller, reason)
        except VaultMindError as error:
            log.warning("what a model says of %s was not saved: %s", talk.path, error)
            return False
        if not isinstance(written, FileText):
            return False
        kept = parse_rolling(written.text)
        talk.keep(kept, job.segment, written.text, written.stat)
    return job.asked.upto in (kept.told, kept.tools_upto)  # or its front matter is broken


def _change(talk: Talk, job: _Job, merge: Merge) -> Change:
    """Return the change that takes an answer in.

    None where the file does not hold those messages yet: the disk was full when they were folded.
    """

    def change(file: FileText | None) -> str | None:
        if file is None or not file.text.strip():
            return None
        rolling = parse_rolling(file.text)
        with talk.lock:
            if _number_of(talk, rolling.upto) < message_number(job.asked.upto):
                return None
        changed = merge(rolling, _gone(talk, job))
        return rewritten(file.text, changed) if changed != rolling else None

    return change


def _gone(talk: Talk, job: _Job) -> set[str]:
    """Return the messages that may not be recalled any more, or say something else by now."""
    with talk.lock:
        talk.view()
        now = {one.block: one for one in talk.reading.messages}
        gone = set()
        for one in job.asked.messages:
            there = now.get(one.block)
            if there is None or there.text != one.text or not talk.recallable(there):
                gone.add(one.block)
    return gone
