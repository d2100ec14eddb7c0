"""Folding what has left the window into a conversation's summary, and keeping that in its file.

A long conversation that is folded for the first time, as an imported one is, goes the same way as
one that is folded while it grows: a few messages at a time. So its summary is the same.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vaultmind.errors import VaultMindError
from vaultmind.ports import Report, silent
from vaultmind.session.summary import (
    Rolling,
    TopicMark,
    Window,
    astray,
    due,
    fold,
    parse_rolling,
    rewritten,
    without,
)
from vaultmind.session.talk.hearing import hear_to
from vaultmind.session.talk.standing import take_out
from vaultmind.session.talk.talk import Talk
from vaultmind.types import Caller, Message, Progress
from vaultmind.vault.files import Change, FileText

PATIENCE_SECONDS = 0.5
"""How often whoever waits for a fold under way is told how far it is."""
SHOWN_EVERY = 120
"""Messages of a long conversation after which who asks meanwhile is shown its summary so far."""
SAVED_EVERY = 1200
"""Messages of a long conversation after which its summary is saved: a crash costs no more."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Backlog:
    """What is to be folded, as it stood when that was seen."""

    rolling: Rolling
    segment: int
    path: str
    language: str
    leaving: tuple[Message, ...]


def fold_due(talk: Talk, window: Window, report: Report = silent, most: int = 0) -> int:
    """Fold what is due into a conversation's summary and save it.

    Where that is more than `most` messages (0: any number may be folded) nothing is done, and how
    many they are is returned.

    What cannot be saved is kept in memory, and saved with the next fold that can. What a person
    took out of the conversation's file leaves the summary first.
    """
    waiting = len(_backlog(talk, window).leaving)
    if most and waiting > most:
        return waiting
    if not waiting and not talk.is_astray:
        return 0
    while not talk.work.acquire(timeout=PATIENCE_SECONDS):  # another thread folds it
        report(talk.folded)
    try:
        take_out(talk)
        backlog = _backlog(talk, window)
        if backlog.leaving:
            _fold_all(talk, backlog, window.every, report)
    finally:
        talk.work.release()
    return 0


def _fold_all(talk: Talk, backlog: _Backlog, every: int, report: Report) -> None:
    rolling, leaving = backlog.rolling, backlog.leaving
    in_file, saved = rolling, 0
    for at in range(0, len(leaving), every):
        batch = leaving[at : at + every]
        if _is_unheard(talk, backlog, rolling.messages + len(batch)):
            hear_to(talk, batch[-1])
        rolling = _folded(talk, rolling, batch, backlog.language)
        done = min(at + every, len(leaving))
        talk.folded = Progress(done, len(leaving), "summarising the conversation")
        report(talk.folded)
        stopping = talk.means.stopping()
        if done == len(leaving) or done - saved >= SAVED_EVERY or stopping:
            rolling = in_file = _save(talk, backlog, in_file, rolling)
            saved = done
        elif done % SHOWN_EVERY < every:
            talk.keep_unsaved(rolling, backlog.segment)
        if stopping:
            return


def _is_unheard(talk: Talk, backlog: _Backlog, messages: int) -> bool:
    """Tell whether topics may have come up in so many first messages that nobody looked for."""
    return talk.listening.segment != backlog.segment or messages > talk.listening.heard


def _folded(talk: Talk, rolling: Rolling, batch: Sequence[Message], language: str) -> Rolling:
    upto = rolling.messages + len(batch)
    known = max((one.at for one in rolling.topics), default=0)
    topics = [one for one in talk.listening.ended if known < one.at <= upto]
    first = "" if rolling.messages else language
    means = talk.means
    tokens, marks = means.settings.summary_tokens, _in_order(topics)
    return fold(rolling, batch, tokens, first, marks, embedder=means.embedder)


def _in_order(topics: Sequence[TopicMark]) -> list[TopicMark]:
    return sorted(topics, key=lambda one: one.at)


def _backlog(talk: Talk, window: Window) -> _Backlog:
    with talk.lock:
        if talk.view() is None:
            return _Backlog(talk.rolling, 0, "", "", ())
        waiting = talk.unfolded()
        leaving = due(waiting, "", window)
        segment = talk.reading.segment
        return _Backlog(talk.rolling, segment, talk.rolling_path, talk.language, leaving)


def _save(talk: Talk, backlog: _Backlog, before: Rolling, rolling: Rolling) -> Rolling:
    """Keep a summary in its file, and return it as it stands there.

    In memory alone for an agent for which nothing is written, and where it cannot be.
    """
    gate = talk.means.gate
    if not gate.keeps_records(talk.agent):
        talk.keep(rolling, backlog.segment, "", None)
        return rolling
    change = _change(talk, backlog, before, rolling)
    caller = Caller("agent", talk.agent)
    try:
        written = gate.save(backlog.path, change, caller, "a conversation is summarised")
    except VaultMindError as error:
        log.warning("the summary of %s was not saved: %s", talk.path, error)
        talk.keep_unsaved(rolling, backlog.segment)
        return rolling
    if not isinstance(written, FileText):
        return rolling
    kept = parse_rolling(written.text)
    kept = kept if kept.upto == rolling.upto else rolling  # a person broke its front matter
    talk.keep(kept, backlog.segment, written.text, written.stat)
    return kept


def _change(talk: Talk, backlog: _Backlog, before: Rolling, rolling: Rolling) -> Change:
    """Return the change that writes a summary; one that a person edited meanwhile is folded on."""

    def change(file: FileText | None) -> str:
        text = file.text if file else ""
        gone = _gone_since(talk, backlog)
        base = parse_rolling(text) if text.strip() else Rolling(talk.session, talk.agent)
        now = rolling if base == before else _again(talk, backlog, base, rolling)
        now = _without(now, gone)
        unsaid = astray(now, talk.reading.messages, talk.means.embedder)
        return rewritten(text, without(now, unsaid))

    return change


def _gone_since(talk: Talk, backlog: _Backlog) -> set[str]:
    """Return the block ids of messages that were erased, forgotten or changed since they were read.

    An erasure while a summary is being made must not be undone by the saving of it.
    """
    with talk.lock:
        talk.view()
        now = {one.block: one for one in talk.reading.messages}
        gone = {one.block for one in now.values() if one.erased}
        for one in backlog.leaving:
            there = now.get(one.block)
            if there is None or there.text != one.text or not talk.recallable(there):
                gone.add(one.block)
    return gone - {""}


def _without(rolling: Rolling, gone: set[str]) -> Rolling:
    lines = tuple(one for one in rolling.lines if one.own or one.source not in gone)
    return replace(rolling, lines=lines)


def _again(talk: Talk, backlog: _Backlog, base: Rolling, upto: Rolling) -> Rolling:
    """Return another summary with all messages in it that a summary holds."""
    with talk.lock:
        waiting = talk.unfolded(base, backlog.segment)
        later = talk.unfolded(upto, backlog.segment)
    missing = waiting[: len(waiting) - len(later)]
    every = talk.means.settings.window.every
    for at in range(0, len(missing), every):
        base = _folded(talk, base, missing[at : at + every], backlog.language)
    return base
