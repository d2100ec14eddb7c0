"""What extraction wrote and what it dropped, as the audit knows it.

A dropped fact is a line of its own, with `op` "drop", so that a person can see what was not kept
and why. It changes nothing: the story of the changes leaves it out, and an undo cannot name it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vaultmind.memory.audit.lines import DROP, AuditLine, ref_of
from vaultmind.memory.audit.reading import Wanted, history, lines_holding
from vaultmind.memory.words import saying
from vaultmind.redact import mask
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths

_COUNT = re.compile(r"(.{1,99}?) ×(\d+)(?:, |$)")
_LEFT = ("written", "rejected")
"""What settles a fact for good: it was written once, or the person did not want it."""


@dataclass(frozen=True, slots=True)
class Drop:
    """A fact that was not kept; or, without text, how many more of a session were not."""

    time: str
    """ISO 8601 with an offset."""
    agent: str
    session: str
    text: str
    """Masked, on one line; empty for a secret, for what was asked not to be kept, once erased."""
    reason: str
    block: str = ""
    """Of the message that it came from."""
    counts: tuple[tuple[str, int], ...] = ()
    """For the line that counts the rest of a session: (reason, number), the most first."""
    device: str = ""
    erased: bool = False


def drops(paths: VaultPaths, wanted: Wanted) -> tuple[tuple[Drop, ...], bool]:
    """Return what was dropped, newest last, and whether there is older than the limit shows.

    `wanted.ops` is not looked at.
    """
    found, more = history(paths, Wanted(wanted.agents, wanted.since, (DROP,), wanted.limit))
    return tuple(_drop(one.line, one.device) for one in found), more


def drops_of(paths: VaultPaths, agent: str, session: str) -> tuple[Drop, ...]:
    """Return what was dropped of one session, oldest first."""
    told = lines_holding(paths, agent, f'"op": "{DROP}"', session)
    return tuple(one for one in map(_drop, told) if one.session == session)


def counted_rest(counts: Sequence[tuple[str, int]]) -> str:
    """Return the reason of the line that counts what a session dropped besides."""
    return ", ".join(f"{reason} ×{number}" for reason, number in counts)


def settled_before(paths: VaultPaths, agent: str, session: str) -> frozenset[str]:
    """Return the facts that a session left once, each as `settled_words` gives its words.

    Those written, whatever became of them since, and those that the person rejected.
    """
    told = lines_holding(paths, agent, '"how": "', session)
    return frozenset(
        settled_words(one.after)
        for one in told
        if one.after and one.outcome in _LEFT and _session(one) == session
    )


def settled_words(text: str) -> str:
    """Return the words of a fact as `settled_before` knows them."""
    return " ".join(saying(one_line(mask(text).text)))


def _session(line: AuditLine) -> str:
    ref = ref_of(line.evidence)
    return ref.session if ref else ""


def _drop(line: AuditLine, device: str = "") -> Drop:
    ref = ref_of(line.evidence)
    counts = () if line.after else tuple((one, int(n)) for one, n in _COUNT.findall(line.reason))
    return Drop(
        line.time,
        line.agent,
        ref.session if ref else "",
        line.after,
        line.reason,
        ref.block if ref else "",
        counts,
        device,
        line.erased,
    )
