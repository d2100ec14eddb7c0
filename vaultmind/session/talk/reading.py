"""A session's file as it was read, so that only what was added to it is read again.

Appended messages are parsed alone; so is what follows a change near the end, as the heading of a
topic is. What stands before the change is not looked at, but for a comparison of bytes.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

from vaultmind.redact import blank_private, mask, private_spans
from vaultmind.types import Message
from vaultmind.vault.files import decode
from vaultmind.vault.session_meta import SessionMeta
from vaultmind.vault.transcript import Transcript, parse_session, render_segment

if TYPE_CHECKING:
    from vaultmind.vault.files import FileStat

_BLOCK_BYTES = 1 << 16
_BOM_BYTES = 3
_PROBE = '\n\n> [!user] %%{"how":"cli"}%%\n> .\n'
"""A message after the last one: what segment it would be of is what the running one is."""
_HEADING = re.compile(rb"^#{1,6} (?![ \t]*Segment[ \t]+\d)[^\r\n]*\S", re.MULTILINE)


class Reading:
    """The messages of one session's file, secrets and private passages taken out."""

    def __init__(self) -> None:
        self.meta = SessionMeta("", "")
        self.messages: list[Message] = []
        self.segments = array("i")
        """Which segment each message is of."""
        self.segment = 1
        """The running one."""
        self.parsed = 0
        """Messages that were parsed so far, again ones too."""
        self._raw = b""
        self._starts = array("q")
        self._blocks: set[str] = set()
        self._whole_only = False
        """Whether something in it can only be told from the whole file."""
        self._unchanged = 0

    def take(self, path: str, raw: bytes, stamp: FileStat) -> int:
        """Take the file's bytes as they are now; return how many first messages are unchanged.

        Raises UnreadableNote; what was read before stands then.
        """
        common = _common(self._raw, raw)
        if common == len(raw) == len(self._raw) and self._starts:
            return len(self.messages)
        keep = bisect_left(self._starts, common) - 2  # the last one's own header may be torn
        if keep >= 0 and not self._whole_only and self._take_tail(path, raw, stamp, keep):
            return self._unchanged
        self._take_all(path, raw, stamp)
        return self._unchanged

    def headed(self) -> int:
        """Return which message the last topic heading of the running segment stands before.

        -1: there is none. A heading that the person typed counts as well.
        """
        first = self.first_of_segment()
        if first == len(self.messages):
            return -1
        start = self._starts[first - 1] if first else self._starts[0]
        last = max((match.start() for match in _HEADING.finditer(self._raw, start)), default=-1)
        return bisect_left(self._starts, last) if last >= 0 else -1

    def first_of_segment(self) -> int:
        """Return where the running segment's messages begin; past the last where it has none."""
        try:
            return self.segments.index(self.segment)
        except ValueError:
            return len(self.segments)

    def _take_tail(self, path: str, raw: bytes, stamp: FileStat, keep: int) -> bool:
        """Parse the file from a message on; return False where that alone cannot be told."""
        start = self._starts[keep]
        text = decode(path, raw[start:], stamp).text
        if private_spans(text):
            return False
        started = self.meta.started.partition("\n")[0]
        began = render_segment(self.segments[keep], "")
        head = f"---\nstarted: {started}\n---\n\n{began}"
        found = parse_session(f"{head}{text}{_PROBE}")
        earlier = self._blocks.difference(one.block for one in self.messages[keep:])
        if found.faults or not earlier.isdisjoint(one.message.block for one in found.messages):
            return False  # what a person left odd is told from the whole: an id that stands twice
        self._put(keep, found, (text, len(head), start))
        self._raw = raw
        return True

    def _take_all(self, path: str, raw: bytes, stamp: FileStat) -> None:
        file = decode(path, raw, stamp)
        text = blank_private(file.text)
        found = parse_session(f"{text}{_PROBE}")
        self._whole_only = bool(found.faults) or text != file.text
        self._put(0, found, (text, 0, _BOM_BYTES if file.bom else 0))
        self.meta, self._raw = found.meta, raw

    def _put(self, keep: int, found: Transcript, where: tuple[str, int, int]) -> None:
        """Replace the messages from one on by those found.

        `where`: the text, what was put before it to parse it, and the byte of the file it is from.
        """
        text, skipped, start = where
        *placed, probe = found.messages
        before, segments = self.messages[keep:], self.segments[keep:]
        now = [_clean(one.message) for one in placed]
        self._blocks.difference_update(one.block for one in before)
        self._blocks.update(one.block for one in now if one.block)
        del self.messages[keep:], self.segments[keep:], self._starts[keep:]
        self.messages += now
        self.segments.extend(one.segment for one in placed)
        at = 0
        for one in placed:
            start += len(text[at : one.start - skipped].encode())
            at = one.start - skipped
            self._starts.append(start)
        self.segment = probe.segment
        self.parsed += len(now)
        same = 0
        for old, new, *numbers in zip(before, now, segments, self.segments[keep:], strict=False):
            if old != new or numbers[0] != numbers[1]:
                break
            same += 1
        self._unchanged = keep + same


def _clean(message: Message) -> Message:
    """Return a message without secrets, which a person may have typed into the file."""
    text = mask(message.text).text
    return message if text == message.text else replace(message, text=text)


def _common(old: bytes, new: bytes) -> int:
    """Return how many first bytes two texts have in common."""
    if new.startswith(old):
        return len(old)
    most = min(len(old), len(new))
    for at in range(0, most, _BLOCK_BYTES):
        if old[at : at + _BLOCK_BYTES] != new[at : at + _BLOCK_BYTES]:
            break
    else:
        return most
    low, high = at, min(at + _BLOCK_BYTES, most)
    while low < high:
        middle = (low + high + 1) // 2
        if old[at:middle] == new[at:middle]:
            low = middle
        else:
            high = middle - 1
    return low
