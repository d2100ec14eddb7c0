"""What a context may cost, and what each of its parts may take of that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vaultmind.config import Config
from vaultmind.session.context.parts import Part
from vaultmind.tokens import clip, count

BETWEEN = "\n\n"
"""What stands between two parts."""
BETWEEN_TOKENS = 3
"""What that costs (1.3), and at most what two rounded estimates miss of their sum."""
MARK = " …"
"""What a cut text ends with."""
LONGEST_TOKEN = 32
"""Characters: a text of more a token is cut before it is counted, which takes time."""

START_SHARE = 0.3
"""Of a budget, that identity, brain and active context may take together, ..."""
START_TOKENS = 240
"""... or so many, where half of it holds them; half of these is the last conversation's."""
SUMMARY_SHARE = 0.2
MEMORY_SHARE = 0.15
ASSOCIATION_SHARE = 0.05
WINDOW_SHARE = 0.1
"""Kept for the last messages, whatever is recalled."""
TOOLS_SHARE = 0.5
"""Of what the pending messages leave."""


@dataclass(frozen=True, slots=True)
class Caps:
    """What the parts may cost at most; auto-RAG has its own rules."""

    start: int
    """Beside what nobody else takes in the end."""
    summary: int
    memory: int
    association: int
    window: int
    """Kept for it whatever is recalled."""
    summary_full: str = ""
    """Why more of a summary that takes all it may is not shown, and what to raise."""


def caps_of(config: Config, budget: int) -> Caps:
    """Return what each part may take of a budget: its own limit, or its share of a small one."""
    return Caps(
        start=max(int(START_SHARE * budget), min(START_TOKENS, budget // 2)),
        summary=min(config.summary.max_tokens, int(SUMMARY_SHARE * budget)),
        memory=min(config.recall.max_tokens, int(MEMORY_SHARE * budget)),
        association=min(config.association.max_tokens, int(ASSOCIATION_SHARE * budget)),
        window=int(WINDOW_SHARE * budget),
        summary_full=_full(config.summary.max_tokens, "summary.max_tokens", SUMMARY_SHARE, budget),
    )


def _full(most: int, key: str, share: float, budget: int) -> str:
    """Return which of two limits of a part is the lower, as something to raise."""
    if most <= int(share * budget):
        return more_than(most, key)
    return more_than_share(share)


def more_than(most: int, key: str) -> str:
    """Return why something is left out that a setting limits."""
    return f"more than {most:,} tokens (raise {key})"


def more_than_share(share: float) -> str:
    """Return why something is left out that may take only a share of a budget."""
    return f"more than {share:.0%} of the budget (raise it)"


@dataclass(slots=True)
class Purse:
    """What is left of a budget while parts are added."""

    left: int
    frame_tokens: int = 0

    @classmethod
    def of(cls, budget: int, frame_tokens: int) -> Purse:
        """Return a purse for a budget: before the first part nothing stands."""
        return cls(budget + BETWEEN_TOKENS, frame_tokens)

    @property
    def room(self) -> int:
        """Return what the text of one more part may cost, what stands around it aside."""
        return max(0, self.left - self.frame_tokens - BETWEEN_TOKENS)

    def price(self, tokens: int) -> int:
        """Return what a part costs with what stands around it."""
        return tokens + self.frame_tokens + BETWEEN_TOKENS

    def pay(self, tokens: int) -> None:
        """Take a part's text and what stands around it."""
        self.left -= self.price(tokens)


def total(parts: Sequence[Part], frame_tokens: int) -> int:
    """Return what parts cost one after the other, each with what stands around it."""
    return count(joined(part.text for part in parts)) + frame_tokens * len(parts)


def joined(texts: Iterable[str]) -> str:
    """Return texts as they are shown one after the other."""
    return BETWEEN.join(texts)


def at_most(parts: Sequence[Part], frame_tokens: int) -> int:
    """Return what parts cost together at most, without counting them again."""
    each = sum(part.tokens + frame_tokens for part in parts)
    return each + BETWEEN_TOKENS * max(0, len(parts) - 1)


def cut(text: str, room: int) -> str:
    """Return as much of a text as there is room for, with a mark where it was cut."""
    head = text[: LONGEST_TOKEN * max(0, room)]
    shown = clip(head, room)
    if len(head) == len(text) or shown != head:
        return shown
    return clip(head, room - count(MARK), mark="").rstrip() + MARK  # little but spaces
