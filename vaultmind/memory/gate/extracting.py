"""What extraction does not write although the agent might, since it comes late or is not its own.

A conversation may be read long after it was held: meanwhile its facts may have been forgotten,
said otherwise in a later one, or changed by the person. What was said before loses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from vaultmind.memory.audit.lines import AuditLine, hidden_ref
from vaultmind.memory.audit.reading import lines_holding, moment
from vaultmind.memory.audit.undo import JOINT, undone
from vaultmind.memory.changes import Step
from vaultmind.memory.doubts import named
from vaultmind.memory.forget.again import repeats
from vaultmind.memory.gate.dropping import FORGOTTEN, TAKEN_BACK
from vaultmind.memory.match import says
from vaultmind.memory.rights.policy import Decision, inferred
from vaultmind.redact import mask
from vaultmind.types import Fact, MemoryWrite, MessageRef
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import parse_session

_WRITTEN = '"outcome": "written"'
_FORGOTTEN = ('"op": "forget"', _WRITTEN)
"""How these stand in a line of the log."""
_DAY = 10
"""Characters of an ISO date."""


@dataclass(frozen=True, slots=True)
class Hindrance:
    """Why extraction does not write something by itself."""

    decision: Decision
    """Denied: it is dropped. Suggested: the person decides."""
    dropped: str = ""
    """The reason under which it is told as dropped."""


class Extracting:
    """Looks at what extraction is about to write. Reads only; any thread."""

    def __init__(self, paths: VaultPaths, text: Callable[[str], str]) -> None:
        """Take `text`, which gives a file's text, empty where it cannot be read."""
        self._paths = paths
        self._text = text

    def hindrance(self, write: MemoryWrite, step: Step) -> Hindrance | None:
        """Return why a step is not simply made; None for what extraction may do, and for others."""
        if not inferred(write):
            return None
        if write.op != "forget" and self._was_forgotten(write):
            why = "it was forgotten after it was said"
            return Hindrance(Decision("deny", why), FORGOTTEN)
        if late := self._said_since(write, step.gone):
            why = f"{named(late)} was said later"
            return Hindrance(Decision("deny", why), TAKEN_BACK)
        if edited := self._edited(write, step.gone):
            why = f"the person changed {named(edited)} by hand"
            return Hindrance(Decision("suggest", why))
        return None

    def _was_forgotten(self, write: MemoryWrite) -> bool:
        """Tell whether the person had a fact forgotten after it was said."""
        made = lines_holding(self._paths, write.agent, *_FORGOTTEN)
        taken_back = undone(lines_holding(self._paths, write.agent, '"undoes": ')) if made else {}
        return any(
            self._repeats(write.text, line) and not self._is_newer(write, moment(line.time))
            for line in made
            if line.id not in taken_back and not line.undoes
        )

    def _repeats(self, text: str, line: AuditLine) -> bool:
        if line.before:
            pieces = {line.before, *line.before.split(JOINT)}
            return any(repeats(text, piece) for piece in pieces if piece)
        return any(says(said, text) for said in self._hidden(line))

    def _hidden(self, line: AuditLine) -> Iterable[str]:
        """Yield what messages said that were hidden since no fact said it."""
        refs = [ref for one in line.hidden if isinstance(ref := hidden_ref(one), MessageRef)]
        for agent, session in dict.fromkeys((ref.agent, ref.session) for ref in refs):
            blocks = {ref.block for ref in refs if ref.session == session}
            for placed in parse_session(self._text(self._paths.session(agent, session))).messages:
                if placed.message.block in blocks and not placed.message.erased:
                    yield placed.message.text

    def _said_since(self, write: MemoryWrite, gone: Iterable[Fact]) -> Fact | None:
        """Return a fact that would go although it was said after what takes its place."""
        for fact in gone:
            since = self._time(fact.evidence) if fact.evidence else 0.0
            if since and not self._is_newer(write, since, same=True):
                return fact
            if not since and fact.written > self._day(write.evidence):
                return fact
        return None

    def _is_newer(self, write: MemoryWrite, time: float, *, same: bool = False) -> bool:
        """Tell whether a write's message was said after a time, or at it where that will do."""
        said = self._time(write.evidence)
        return said > time or (same and said == time)

    def _time(self, ref: MessageRef | None) -> float:
        """Return when a message was said; without a message, 0."""
        if ref is None:
            return 0.0
        text = self._text(self._paths.session(ref.agent, ref.session))
        for placed in parse_session(text).messages:
            if placed.message.block == ref.block or (ref.id and placed.message.id == ref.id):
                return moment(placed.message.time)
        return moment(ref.session[:_DAY])

    def _day(self, ref: MessageRef | None) -> str:
        return ref.session[:_DAY] if ref else ""

    def _edited(self, write: MemoryWrite, gone: Iterable[Fact]) -> Fact | None:
        """Return a fact of ours that would go and whose words the person has changed."""
        return next(
            (fact for fact in gone if fact.block and self._differs(write.agent, fact)), None
        )

    def _differs(self, agent: str, fact: Fact) -> bool:
        """Tell whether the log knows other words of a fact than those that stand."""
        known = [
            line.after
            for line in lines_holding(self._paths, agent, f'"block": "{fact.block}"', _WRITTEN)
            if line.op != "forget"
        ]
        return bool(known and known[-1]) and one_line(known[-1]) != _stored(fact.text)


def _stored(text: str) -> str:
    return mask(one_line(text)).text
