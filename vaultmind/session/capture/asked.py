"""What the person last asked for in a conversation, by the end of its transcript.

The transcript is the host's: nothing is taken out of it. So what was forgotten or erased of this
memory still stands there, and is left out here.
"""

from __future__ import annotations

import os
import stat as modes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter

from vaultmind.errors import BadArgument
from vaultmind.memory.audit import JOINT, moment, newest_first
from vaultmind.memory.forget.tombstones import Tombstones
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.session.capture.lines import parse_line
from vaultmind.session.capture.tail import check_transcript
from vaultmind.session.records.keepable import keepable_id
from vaultmind.types import Message
from vaultmind.vault.files import OPEN_FLAGS
from vaultmind.vault.paths import VaultPaths

MAX_BYTES = 1024 * 1024
"""Of a transcript that are read, from its end."""
NO_TIME = datetime.fromtimestamp(0, UTC)
"""Of a line without one: it may have been said before anything was forgotten."""


@dataclass(frozen=True, slots=True)
class Unforgotten:
    """What an agent's memory lets be said of a message that stands in a host's transcript."""

    paths: VaultPaths
    tombstones: Tombstones
    agent: str

    def __call__(self, message: Message) -> str:
        """Return what is left of a message: nothing of one that is hidden or was erased.

        Of any other all but the sentences that say a fact which was forgotten since. What was
        erased is known by ids alone, and no session may have taken the message down: of one that
        was said before an erasure nothing is left, whatever it says.
        """
        # By its own id in whatever session: which one took it down is not known here.
        if keepable_id(message.id) in {name for _, name in self.tombstones.hidden(self.agent)}:
            return ""
        time = moment(message.time)
        forgotten = [*self._forgotten_since(time)]
        if not all(forgotten) or self._erased_since(time):
            return ""
        wanted = Wanted(forgotten)
        return left_of(message.text, wanted) if wanted.texts else message.text

    def _forgotten_since(self, time: float) -> Iterator[str]:
        """Yield the facts that were forgotten after a time, or in its second.

        Empty where nobody can tell which: no fact said it, or its words were erased later.
        """
        for line in newest_first(self.paths, (self.agent,), ("forget",), '"op": "forget"'):
            stands = line.outcome == "written" and not (line.undone_by or line.undoes)
            if stands and line.moment >= int(time):
                yield from line.before.split(JOINT)

    def _erased_since(self, time: float) -> bool:
        """Tell whether anything was erased after a time, or in its second, in any memory.

        Only those that held it have a line of that; a conversation with another may say it, too.
        """
        lines = newest_first(self.paths, self.paths.agent_names(), ("erase",), '"op": "erase"')
        return any(line.moment >= int(time) for line in lines)


def left_of(text: str, wanted: Wanted) -> str:
    """Return a text without the sentences that say what is wanted gone."""
    if not wanted.says(text):
        return text
    for start, end in reversed(wanted.spans(text)):
        text = text[:start] + text[end:].lstrip()
    return "" if wanted.says(text) else text.strip()


def last_prompt(path: str, left: Callable[[Message], str] = attrgetter("text")) -> str:
    """Return what is `left` of what was asked last.

    Empty where nothing is, and where the transcript is not there or does not say.
    """
    try:
        descriptor = os.open(check_transcript(path), OPEN_FLAGS)
    except (OSError, ValueError, BadArgument):
        return ""
    try:
        found = os.fstat(descriptor)
        if not modes.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
            return ""
        os.lseek(descriptor, max(0, found.st_size - MAX_BYTES), os.SEEK_SET)
        lines = os.read(descriptor, MAX_BYTES).splitlines()
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    for raw in reversed(lines):
        said = [one for one in parse_line(raw, {}, NO_TIME).messages if one.role == "user"]
        if said:
            return left(said[-1])
    return ""
