"""What a person said to a memory, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vaultmind.language.reader import Intent
from vaultmind.session.voice.said import Said
from vaultmind.types import Caller, Outcome


@dataclass(frozen=True, slots=True)
class Spoken:
    """One sentence on its way."""

    caller: Caller
    target: str
    words: str
    intent: Intent
    id: str = ""
    """Of the message; empty when it has none."""
    said: Said | None = None
    """The message, where it is written down already."""
    done: bool | None = None
    """Whether the message that this is a part of was acted on; None where that is not known."""

    @property
    def to(self) -> str:
        """Return the agent that was spoken to, in whose session the words belong."""
        return self.caller.agent if self.caller.kind == "agent" else self.target

    @property
    def ear(self) -> str:
        """Return who was spoken to and in which conversation: by both it is told what is meant."""
        return ear_of(self.caller, self.target)


def ear_of(caller: Caller, target: str) -> str:
    """Return what tells one who listens from the next: another window's "that" is another."""
    spoken_to = caller.agent if caller.kind == "agent" else target
    return f"{spoken_to} {caller.conversation}".rstrip()


@dataclass(frozen=True, slots=True)
class Heard:
    """What was understood, what came of it, and the answer in the person's language."""

    intent: Intent
    message: str
    outcome: Outcome
    facts: tuple[str, ...] = ()
    """For a question about what is known: the facts."""


def together(heard: Sequence[Heard]) -> Heard:
    """Return what came of several requests as of one: the first change, and every
    answer, the last one with the facts.
    """
    first = next((one for one in heard if one.outcome.outcome != "unchanged"), heard[0])
    facts = tuple(dict.fromkeys(fact for one in heard for fact in one.facts))
    answers = [one.message for one in sorted(heard, key=lambda one: bool(one.facts))]
    return replace(first, message="\n".join(answers), facts=facts)
