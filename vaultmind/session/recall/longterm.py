"""Lasting memory before an answer: what notes, facts and past conversations say to it.

Asked where the conversation itself has no good answer, or where its topic is new.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vaultmind.config.settings import AssociationConfig, RecallConfig
from vaultmind.ports import Related
from vaultmind.session.context.parts import Dropped, Part
from vaultmind.types import Caller, SearchRequest, SearchResponse

Search = Callable[[SearchRequest, Caller], SearchResponse]


@dataclass(frozen=True, slots=True)
class LongTermSettings:
    """When lasting memory is asked, and how much of it may be shown."""

    recall: RecallConfig
    association: AssociationConfig
    gate: float
    """Where the conversation's best match is as good, only a new topic asks."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What lasting memory is asked, and what the answer may cost."""

    query: str
    """The pending messages, joined as auto-RAG joins them, so that one vector serves both."""
    agent: str
    caller: Caller
    session: str
    """The running one, whose messages are no lasting memory yet; empty where there is none."""
    language: str
    room_tokens: int
    association_tokens: int
    shown: tuple[str, ...] = ()
    """Texts that stand in the context already: what they say is not said again."""
    best: float = 0.0
    """Relevance of the conversation's own best match, from 0 to 1."""
    topic_is_new: bool = True
    since: str = ""
    """Block id of the first message of the running segment: what was said before it, in earlier
    segments, may be recalled. Empty: nothing of the session may."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What came of it: a part each where there is something to show, and what is left out."""

    memory: Part | None = None
    associations: Part | None = None
    dropped: tuple[Dropped, ...] = ()


class LongTerm:
    """Recalls from lasting memory, and what comes to mind through it. Any thread."""

    def __init__(self, search: Search, related: Related, settings: LongTermSettings) -> None:
        self._search = search
        self._related = related
        self._settings = settings

    def recall(self, ask: Ask) -> Brought:
        """Return what lasting memory says to a question, within the room."""
        if not self._settings.recall.enabled:
            return Brought(dropped=(Dropped("memory", "switched off"),))
        return Brought()
