"""A context while it is built: what is spent, what stands in it, what does not and why."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from vaultmind.session.context.budget import Caps, Purse, at_most, total
from vaultmind.session.context.parts import (
    NO_ROOM,
    BuildRequest,
    BuiltContext,
    Dropped,
    Part,
    PartName,
    in_shown_order,
)
from vaultmind.tokens import clip, count
from vaultmind.types import Caller

_LEAST_FIRST: tuple[PartName, ...] = (
    "associations",
    "memory",
    "active context",
    "summary",
    "history",
    "earlier",
    "brain",
    "tools",
    "identity",
)
"""What goes first where the estimates of the parts missed their sum."""


@dataclass(slots=True)
class Draft:
    """A context that is being built."""

    request: BuildRequest
    caller: Caller
    budget: int
    caps: Caps
    purse: Purse
    parts: dict[PartName, Part] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)
    cut: list[Dropped] = field(default_factory=list)
    """What of identity, brain and active context had no room in their share."""
    notes: list[str] = field(default_factory=list)

    def wants(self, name: PartName) -> bool:
        """Tell whether a part may be in the context at all."""
        return name not in self.request.without

    def add(self, part: Part | None) -> None:
        """Take a part and pay for it; nothing for None or an empty one."""
        if part is not None and part.text:
            self.parts[part.name] = part
            self.purse.pay(part.tokens)

    def drop(self, what: str, reason: str) -> None:
        """Note what is left out."""
        self.dropped.append(Dropped(what, reason))

    def text(self, name: PartName) -> str:
        """Return a part's text; empty where it is not there."""
        part = self.parts.get(name)
        return part.text if part else ""

    def finished(self, session: str = "", segment: int = 0) -> BuiltContext:
        """Return the context; what the estimates let in too much is taken out again."""
        self._fit()
        parts = in_shown_order(tuple(self.parts.values()))
        tokens = total(parts, self.request.frame_tokens)
        return BuiltContext(
            agent=self.request.agent,
            session=session,
            segment=segment,
            budget=self.budget,
            tokens=tokens,
            parts=parts,
            dropped=tuple(dict.fromkeys(self.dropped)),
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def excess(self, another: Part | None = None) -> int:
        """Return how much the parts, and another one, may cost more than the budget."""
        parts = [*self.parts.values(), *([another] if another else [])]
        return at_most([one for one in parts if one.text], self.request.frame_tokens) - self.budget

    def _fit(self) -> None:
        for name in _LEAST_FIRST:
            if self.excess() <= 0:
                return
            if self.parts.pop(name, None) is not None:
                self.drop(f"the {name}", NO_ROOM)
        excess, part = self.excess(), self.parts.get("window")
        if part is None or excess <= 0:
            return
        text = clip(part.text, part.tokens - excess)
        self.parts["window"] = replace(part, text=text, tokens=count(text), messages=())
        if not text:
            self.drop("the pending messages", NO_ROOM)
