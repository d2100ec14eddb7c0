"""A write as it comes in: named, masked, checked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from vaultmind.errors import BadArgument
from vaultmind.memory.words import tokens
from vaultmind.redact import MARK, mask
from vaultmind.types import MemoryWrite
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import agent_name

FACT_MAX_CHARS = 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """A write as it was asked for and as it may be stored."""

    said: MemoryWrite
    safe: MemoryWrite
    redacted: tuple[str, ...]
    """The kinds of secrets that were taken out."""

    @property
    def is_secret_alone(self) -> bool:
        """Tell whether nothing is left to store once the secrets are out."""
        return bool(
            self.safe.op != "forget" and self.redacted and not tokens(MARK.sub("", self.safe.text))
        )


def asked(write: MemoryWrite) -> Asked:
    """Return a write with its secrets taken out.

    Raises BadArgument for an agent that can be none, for texts that are empty or too long.
    """
    said = replace(write, agent=agent_name(write.agent))
    text, old, reason = mask(said.text), mask(said.old), mask(said.reason)
    kinds = text.kinds if said.op != "forget" else ()
    safe = replace(
        said, text=one_line(text.text), old=one_line(old.text), reason=one_line(reason.text)
    )
    safe = replace(safe, hold=one_line(mask(said.hold).text))
    _check(safe)
    return Asked(said, safe, kinds)


def _check(safe: MemoryWrite) -> None:
    allowed = f"1 to {FACT_MAX_CHARS} characters: one fact"
    if not tokens(safe.text) or len(safe.text) > FACT_MAX_CHARS:
        raise BadArgument("text", safe.text, allowed)
    if safe.op == "replace" and (not tokens(safe.old) or len(safe.old) > FACT_MAX_CHARS):
        raise BadArgument("old", safe.old, f"{allowed} to replace, or its id (^k3f9)")
