"""A conversation, a memory and a vault, small enough to build contexts of in a test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.fakes import HashEmbedder
from vaultmind.config import Config
from vaultmind.index.columns import message_number
from vaultmind.index.embed import scale_of
from vaultmind.session.context import ContextBuilder
from vaultmind.session.conversation import View
from vaultmind.session.files import Hides
from vaultmind.session.longterm import Ask, Brought
from vaultmind.session.parts import BuildRequest, BuiltContext, Part
from vaultmind.session.recall import SegmentIndex
from vaultmind.session.summary import Rolling, Window, due, fold
from vaultmind.tokens import clip, count
from vaultmind.types import Caller, Message, Role
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.ports import Closeness

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

    def __init__(self) -> None:
        self.views: dict[str, View] = {}
        self.windows: list[Window] = []

    def hold(self, messages: Sequence[Message]) -> None:
        """Hold a conversation."""
        index = SegmentIndex().updated(messages, 10)
        path = f"VaultMind/agents/main/memory/sessions/{SESSION}.md"
        rolling = Rolling(session=SESSION, agent="main", language="en")
        view = View("main", SESSION, 1, path, tuple(messages), rolling, index, "en")
        self.views[SESSION] = view

    def closeness(self, path: str, query: str) -> Closeness:
        """Return how near each message is to a question."""
        held = self.views[SESSION].index.held
        near = HashEmbedder().embed([one.text for one in held]) @ HashEmbedder().embed_query(query)
        scale = scale_of("use-hash")  # one that no other test measures
        near = (near - scale.nothing) / (scale.same - scale.nothing)
        return np.array([message_number(one.block) for one in held]), near.clip(0, 1)

    def view(self, agent: str, session: str = "") -> View | None:
        """Return the conversation that is named, or the only one."""
        return self.views.get(session or SESSION)

    def fold(self, view: View, window: Window) -> View:
        """Return the view with what is due folded."""
        self.windows.append(window)
        rolling = view.rolling
        while leaving := due(view.messages, rolling.upto, window):
            rolling = fold(rolling, leaving, language="en")
        self.views[view.session] = replace(view, rolling=rolling)
        return self.views[view.session]


class Shelf:
    """Implements the builder's `Memory`: says one thing, as much of it as there is room for."""

    says = ""

    def recall(self, ask: Ask) -> Brought:
        """Return what it says."""
        text = clip(self.says, ask.room_tokens)
        return [Part("memory", text, count(text), ("Notes.md",))] if text else [], []


@dataclass
class House:
    """A vault with one agent, and a builder of its contexts."""

    paths: VaultPaths
    config: Config
    talks: Chats = field(default_factory=Chats)
    memory: Shelf = field(default_factory=Shelf)
    hides: Hides = lambda *part: False

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
        builder = ContextBuilder(
            reader=VaultReader(self.paths, max_bytes=8_000_000),
            shows=lambda path, who: True,
            hides=self.hides,
            talks=self.talks,
            memory=self.memory,
            meaning=self.talks,
            config=self.config,
        )
        return builder.build(BuildRequest("main", pending=pending, **request), caller)


def names(context: BuiltContext) -> list[str]:
    """Return the names of a context's parts."""
    return [part.name for part in context.parts]


def text_of(context: BuiltContext, name: Any) -> str:
    """Return a part's text; empty where it is not there."""
    part = context.part(name)
    return part.text if part else ""


def reason_of(context: BuiltContext, what: str) -> str:
    """Return why something is not there."""
    return "; ".join(one.reason for one in context.dropped if what in one.what)
