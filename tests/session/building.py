"""A conversation, a memory and a vault, small enough to build contexts of in a test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from vaultmind.config import Config
from vaultmind.index.words import query_terms, words
from vaultmind.session.context import ContextBuilder
from vaultmind.session.conversation import View
from vaultmind.session.files import Hides
from vaultmind.session.parts import BuildRequest, BuiltContext
from vaultmind.session.recall import Recall, telling_terms
from vaultmind.session.summary import Rolling, due, fold
from vaultmind.types import (
    Caller,
    Hit,
    IndexState,
    Message,
    Neighbour,
    Role,
    SearchRequest,
    SearchResponse,
)
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

MAIN = Caller("agent", "main")
SESSION = "2026-02-20_001"
FILLER = (
    "Yesterday it rained for hours and we stayed at home",
    "My sister bought a new bicycle in Gdynia",
    "We painted the fence green, it looks fine",
    "The train was late again because of the snow",
    "Grandmother sent a parcel with jam and socks",
)
OVEN = "The oven costs four hundred euros and comes on Thursday"
ASKED = "How much was the oven?"


def message(number: int, text: str, role: Role | None = None, **more: Any) -> Message:
    """Return a message; the user and the assistant take turns."""
    who: Role = role or ("assistant" if number % 2 == 0 else "user")
    day, minute = divmod(number, 60)
    time = f"2026-02-{20 + day // 24 % 8:02d}T{day % 24:02d}:{minute:02d}:00+01:00"
    return Message(who, text, time, f"id{number}", block=f"m{number}", **more)


def chat(*texts: str, filler: int = 0) -> list[Message]:
    """Return a conversation: the texts, then so many messages of small moment."""
    said = [*texts, *(f"{FILLER[n % len(FILLER)]}, day {n}" for n in range(filler))]
    return [message(number, text) for number, text in enumerate(said, 1)]


class Chats:
    """Implements the builder's `Conversations` over messages in memory, with the real summary."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.views: dict[str, View] = {}
        self.rooms: list[int] = []
        self.reader: VaultReader
        self.gate: SimpleNamespace

    def hold(self, messages: Sequence[Message]) -> None:
        """Hold a conversation."""
        path = f"VaultMind/agents/main/memory/sessions/{SESSION}.md"
        rolling = Rolling(session=SESSION, agent="main", language="en")
        view = View("main", SESSION, 1, path, tuple(messages), rolling, tuple(messages), "en")
        self.views[SESSION] = view

    def view(self, agent: str, session: str = "") -> View | None:
        """Return the conversation that is named, or the only one."""
        return self.views.get(session or SESSION)

    def fold(self, view: View, room: int) -> View:
        """Return the view with what is due folded."""
        self.rooms.append(room)
        rolling = view.rolling
        while leaving := due(view.messages, rolling, self.config, room):
            rolling = fold(rolling, leaving, language="en")
        self.views[view.session] = replace(view, rolling=rolling)
        return self.views[view.session]


def hit(one: Message, path: str, share: float) -> Hit:
    """Return a message as a search finds it that holds a share of the words."""
    parts = {"coverage": share}
    return Hit(one.id, path, f"#^{one.block}", "message", "", "", one.text, share, parts)


@dataclass
class Shelf:
    """Finds messages of a conversation by their words, and elsewhere one note that says a thing."""

    talks: Chats
    says: str = ""

    def search(self, request: SearchRequest, caller: Caller) -> SearchResponse:
        """Return what holds words of the question, the most first."""
        found = [Hit("n", "Notes.md", "", "note", "", "", self.says, 1.0)] if self.says else []
        if request.file:
            terms = telling_terms(query_terms(request.query, ("en",)))
            wanted = {one.plain for one in terms}
            said = self.talks.views[SESSION].said
            shares = {one: len(wanted.intersection(words(one.text))) / len(wanted) for one in said}
            found = [
                hit(one, request.file, share)
                for one, share in sorted(shares.items(), key=lambda it: -it[1])
                if share
            ]
        state = IndexState("ready", 1, 1)
        return SearchResponse(tuple(found[: request.limit]), "found", state)

    def related(self, *asked: object) -> list[Neighbour]:
        """Return nothing."""
        return []

    def replies(self, *asked: object) -> dict[str, Hit]:
        """Return nothing."""
        return {}


@dataclass
class House:
    """A vault with one agent, and a builder of its contexts."""

    paths: VaultPaths
    config: Config
    recall: Recall | None = None
    says: str = ""
    """What lasting memory says."""
    hides: Hides = lambda *part: False

    def __post_init__(self) -> None:
        self.talks = Chats(self.config)

    def write(self, path: str, text: str) -> None:
        """Write a file of the vault."""
        file = self.paths.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "replace"))

    def know(self, identity: str = "", brain: str = "", active: str = "") -> None:
        """Write what the agent knows at a conversation's start."""
        self.write(self.paths.identity("main"), identity)
        self.write(self.paths.brain("main"), brain)
        self.write(self.paths.active_context("main"), active)

    def run(self, *lines: object) -> None:
        """Write a run of the task `daily`."""
        text = "".join(f"{json.dumps(one)}\n" for one in lines)
        self.write("VaultMind/conversations/scheduler_daily/2026-02-20.jsonl", text)

    def build(self, *pending: str, caller: Caller = MAIN, **request: Any) -> BuiltContext:
        """Build a context."""
        shelf = Shelf(self.talks, self.says)
        self.talks.reader = VaultReader(self.paths, max_bytes=8_000_000)
        self.talks.gate = SimpleNamespace(hiding=SimpleNamespace(hides=self.hides))
        recall = self.recall or Recall(shelf.search, shelf)
        builder = ContextBuilder(lambda path, who: True, self.talks, recall)
        return builder.build(BuildRequest("main", pending=pending, **request), caller)


def names(context: BuiltContext) -> list[str]:
    """Return the names of a context's parts."""
    return [part.name for part in context.parts]


def text_of(context: BuiltContext, name: Any) -> str:
    """Return a part's text; empty where it is not there."""
    return next((part.text for part in context.parts if part.name == name), "")


def reason_of(context: BuiltContext, what: str) -> str:
    """Return why something is not there."""
    return "; ".join(one.reason for one in context.dropped if what in one.what)
