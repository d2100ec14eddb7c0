"""What extraction does not write although the agent might, since it comes late or is not its own.

A conversation may be read long after it was held: meanwhile its facts may have been forgotten,
said otherwise in a later one, or changed by the person. What was said before loses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from vaultmind.memory.audit import JOINT, AuditLine, moment, newest_first, refs_of
from vaultmind.memory.doubts import named
from vaultmind.memory.forget.again import repeats
from vaultmind.memory.match import says
from vaultmind.memory.rights.policy import Decision, inferred
from vaultmind.redact import mask
from vaultmind.types import Fact, MemoryWrite, MessageRef
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import parse_session

FORGOTTEN = "forgotten"
TAKEN_BACK = "taken back"
_DAY = 10
"""Characters of an ISO date."""


@dataclass(frozen=True, slots=True)
class Hindrance:
    """Why extraction does not write something by itself."""

    decision: Decision
    """Denied: it is dropped. Suggested: the person decides."""
    dropped: str = ""
    """The reason under which it is told as dropped."""


class Late:
    """Looks at what extraction is about to write. Reads only; any thread."""

    def __init__(self, paths: VaultPaths, text: Callable[[str], str]) -> None:
        """Take `text`, which gives a file's text, empty where it cannot be read."""
        self._paths = paths
        self._text = text

    def hindrance(self, write: MemoryWrite, gone: Iterable[Fact]) -> Hindrance | None:
        """Return why a write is not simply made; None for what extraction may do, and for others.

        `gone` are the facts that it would take away.
        """
        if not inferred(write):
            return None
        if write.op != "forget" and self._was_forgotten(write):
            return Hindrance(Decision("deny", "it was forgotten after it was said"), FORGOTTEN)
        for fact in gone:
            if self._is_older(write, fact):
                return Hindrance(Decision("deny", f"{named(fact)} was said later"), TAKEN_BACK)
        edited = next((one for one in gone if one.block and self._differs(write.agent, one)), None)
        if edited:
            return Hindrance(Decision("suggest", f"the person changed {named(edited)} by hand"))
        return None

    def _was_forgotten(self, write: MemoryWrite) -> bool:
        """Tell whether the person had a fact forgotten after it was said."""
        said = self._time(write.evidence)
        return any(
            line.outcome == "written"
            and not (line.undoes or line.undone_by)
            and said <= line.moment
            and self._repeats(write.text, line)
            for line in newest_first(self._paths, (write.agent,), ("forget",), '"op": "forget"')
        )

    def _repeats(self, text: str, line: AuditLine) -> bool:
        if line.before:
            pieces = {line.before, *line.before.split(JOINT)}
            return any(repeats(text, piece) for piece in pieces if piece)
        return any(says(said, text) for said in self._hidden(line))

    def _hidden(self, line: AuditLine) -> Iterable[str]:
        """Yield what messages said that were hidden since no fact said it."""
        refs = [ref for ref in refs_of(line.hidden) if isinstance(ref, MessageRef)]
        for agent, session in dict.fromkeys((ref.agent, ref.session) for ref in refs):
            blocks = {ref.block for ref in refs if ref.session == session}
            for placed in parse_session(self._text(self._paths.session(agent, session))).messages:
                if placed.message.block in blocks and not placed.message.erased:
                    yield placed.message.text

    def _is_older(self, write: MemoryWrite, fact: Fact) -> bool:
        """Tell whether a write was said before a fact whose place it would take."""
        if since := self._time(fact.evidence):
            return self._time(write.evidence) < since
        return fact.written > (write.evidence.session[:_DAY] if write.evidence else "")

    def _time(self, ref: MessageRef | None) -> float:
        """Return when a message was said; without a message, 0."""
        if ref is None:
            return 0.0
        text = self._text(self._paths.session(ref.agent, ref.session))
        for placed in parse_session(text).messages:
            if placed.message.block == ref.block or (ref.id and placed.message.id == ref.id):
                return moment(placed.message.time)
        return moment(ref.session[:_DAY])

    def _differs(self, agent: str, fact: Fact) -> bool:
        """Tell whether the log knows other words of a fact than those that stand."""
        for line in newest_first(self._paths, (agent,), holding=f'"block": "{fact.block}"'):
            if line.block == fact.block and line.outcome == "written" and line.op != "forget":
                return bool(line.after) and one_line(line.after) != mask(one_line(fact.text)).text
        return False
