"""Taking out of the summaries what a person took out of the conversation's file by hand.

What comes back, as after a half-written file or a `<private>` that was not yet closed, comes back
into the summary too, for as long as the conversation is held in memory.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from vaultmind.errors import VaultMindError
from vaultmind.session.files import read_text
from vaultmind.session.summary import Rolling, astray, parse_rolling, rewritten, without
from vaultmind.session.summary.rolling import Line, ordered
from vaultmind.session.talk.talk import Talk
from vaultmind.types import Caller
from vaultmind.vault.files import Change, FileText

log = logging.getLogger(__name__)


def take_out(talk: Talk) -> None:
    """Write the summaries without what is said no more, where anything is. Under `work`.

    The running segment's at each change of what was known; those of earlier ones with it.
    """
    with talk.lock:
        if talk.view() is None:
            return
        running, stale, doubtful = talk.reading.segment, talk.stale, talk.doubtful
        talk.doubtful = False
    if stale:
        _rewrite(talk, running)
    for segment in range(1, running if doubtful else 1):
        path = talk.means.reader.paths.rolling(talk.agent, talk.session, segment)
        text, _ = read_text(talk.means.reader, path)
        rolling = parse_rolling(text)
        if text.strip() and _standing(talk, rolling, segment)[0] != rolling:
            _rewrite(talk, segment)


def _rewrite(talk: Talk, segment: int) -> None:
    gate, paths = talk.means.gate, talk.means.reader.paths
    if not gate.keeps_records(talk.agent):
        if segment == talk.reading.segment:
            kept, talk.taken[segment] = _standing(talk, talk.rolling, segment)
            talk.keep(kept, segment, "", None)
        return
    path, taken = paths.rolling(talk.agent, talk.session, segment), dict[str, Line]()
    try:
        reason, caller = "a person took out what it says", Caller("agent", talk.agent)
        written = gate.save(path, _change(talk, segment, taken), caller, reason)
    except VaultMindError as error:
        log.warning("a summary of %s still holds what was taken out: %s", talk.path, error)
        talk.doubtful = True
        return
    if isinstance(written, FileText):
        talk.taken[segment] = taken
        talk.keep(parse_rolling(written.text), segment, written.text, written.stat)


def _change(talk: Talk, segment: int, taken: dict[str, Line]) -> Change:
    """Return the change that rewrites a summary; what it takes out is put into `taken`."""

    def change(file: FileText | None) -> str | None:
        if file is None:
            return None
        rolling = parse_rolling(file.text)
        stands, gone = _standing(talk, rolling, segment)
        taken.clear()
        taken.update(gone)
        return rewritten(file.text, stands) if stands != rolling else None

    return change


def _standing(talk: Talk, rolling: Rolling, segment: int) -> tuple[Rolling, dict[str, Line]]:
    """Return a summary as it may stand, and its lines that are to be taken out, by block id."""
    with talk.lock:
        talk.view()
        there = {one.block for one in rolling.lines}
        taken = talk.taken.get(segment, {})
        back = [one for block, one in taken.items() if block not in there]
        whole = replace(rolling, lines=ordered((*rolling.lines, *back))) if back else rolling
        gone = astray(whole, talk.reading.messages, talk.means.embedder)
        lost = {one.block: one for one in whole.lines if one.block in gone and not one.own}
        return without(whole, gone), lost
