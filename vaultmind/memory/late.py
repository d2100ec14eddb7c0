"""What extraction does not write although the agent might, since it comes late or is not its own.

A conversation may be read long after it was held: meanwhile its facts may have been forgotten,
said otherwise in a later one, or changed by the person. What was said before loses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from vaultmind.memory.audit import AuditLine, moment, newest_first, refs_of
from vaultmind.memory.brain import JOINT
from vaultmind.memory.changes import named
from vaultmind.memory.match import repeats, says
from vaultmind.memory.rights import Decision
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
class Late:
    """Looks at what extraction is about to write. Reads only; any thread."""

    paths: VaultPaths
    text: Callable[[str], str]
    """Gives a file's text, empty where it cannot be read."""

    def hindrance(self, write: MemoryWrite, gone: Iterable[Fact]) -> tuple[Decision, str] | None:
        """Return why a write that takes some facts away is not simply made, for what nobody asked.

        Denied: it is dropped, under the reason told beside it. Suggested: the person decides.
        """
        if write.op != "forget" and self._was_forgotten(write):
            return Decision("deny", "it was forgotten after it was said"), FORGOTTEN
        for fact in gone:
            if self._is_older(write, fact):
                return Decision("deny", f"{named(fact)} was said later"), TAKEN_BACK
        for fact in gone:
            if fact.block and self._was_edited(write.agent, fact):
                return Decision("suggest", f"the person changed {named(fact)} by hand"), ""
        return None

    def _was_forgotten(self, write: MemoryWrite) -> bool:
        """Tell whether the person had a fact forgotten after it was said."""
        said = self._time(write.evidence)
        return any(
            line.outcome == "written"
            and not (line.undoes or line.undone_by)
            and said <= line.moment
            and any(repeats(write.text, words) for words in self._words(line))
            for line in newest_first(self.paths, (write.agent,), ("forget",), '"op": "forget"')
        )

    def _words(self, line: AuditLine) -> Iterator[str]:
        """Yield what was forgotten: the facts, or what the messages said where no fact did."""
        yield from filter(None, dict.fromkeys((line.before, *line.before.split(JOINT))))
        refs = () if line.before else refs_of(line.hidden)
        for ref in refs:
            if "/" not in ref.session:
                yield from (one for one in [self._message(ref)[0]] if says(one, line.after or one))

    def _is_older(self, write: MemoryWrite, fact: Fact) -> bool:
        """Tell whether a write was said before a fact whose place it would take."""
        if since := self._time(fact.evidence):
            return self._time(write.evidence) < since
        return fact.written > (write.evidence.session[:_DAY] if write.evidence else "")

    def _time(self, ref: MessageRef | None) -> float:
        """Return when a message was said; without a message, 0."""
        if ref is None:
            return 0.0
        return moment(self._message(ref)[1] or ref.session[:_DAY])

    def _message(self, ref: MessageRef) -> tuple[str, str]:
        """Return what a message said, and when; empty for one that is not there."""
        text = self.text(self.paths.session(ref.agent, ref.session))
        for placed in parse_session(text).messages:
            one = placed.message
            if one.block == ref.block or (ref.id and one.id == ref.id):
                return one.text, one.time
        return "", ""

    def _was_edited(self, agent: str, fact: Fact) -> bool:
        """Tell whether the log knows other words of a fact than those that stand."""
        for line in newest_first(self.paths, (agent,), holding=f'"block": "{fact.block}"'):
            if line.block == fact.block and line.outcome == "written" and line.op != "forget":
                return bool(line.after) and one_line(line.after) != mask(one_line(fact.text)).text
        return False
