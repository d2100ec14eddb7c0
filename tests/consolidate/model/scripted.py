"""Conversations, and models that answer about them as a test wants."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.fakes import QueueGenerator
from vaultmind.config import MinionConfig
from vaultmind.consolidate.model import Thinker
from vaultmind.consolidate.types import Extraction
from vaultmind.errors import MinionFailed
from vaultmind.minion.choice import Minion
from vaultmind.types import Fact, Message, Role


def talk(*texts: str) -> list[Message]:
    """Return messages of the user; a text with `a:` is the assistant's, with `t:` a tool's."""
    roles: dict[str, Role] = {"a:": "assistant", "t:": "tool"}
    return [
        Message(roles.get(text[:2], "user"), text[2:].strip() if text[:2] in roles else text,
                "2026-11-22T10:00:00+01:00", id=f"c{at}", block=f"m{at}")
        for at, text in enumerate(texts, 1)
    ]  # fmt: skip


def named(category: str, fact: str, *evidence: int, replaces: int = 0) -> dict[str, Any]:
    """Return a fact as a model gives it."""
    return {"category": category, "fact": fact, "evidence": list(evidence), "replaces": replaces}


def answer(*facts: dict[str, Any], summary: Sequence[str] = ()) -> str:
    """Return a model's answer about a conversation."""
    return json.dumps({"facts": facts, "summary": list(summary)}, ensure_ascii=False)


class Models:
    """One model that gives some answers, and the thinker that asks it."""

    def __init__(self, folder: Path, *answers: str | MinionFailed, **config: Any) -> None:
        self.model = QueueGenerator(*answers)
        usual: dict[str, Any] = {"model": "queue.gguf"}
        self.minion = Minion(
            MinionConfig(**(usual | config)), folder, open_generator=lambda name: self.model
        )
        self.thinker = Thinker(self.minion)

    def extract(
        self, messages: Sequence[Message], *brain: str, language: str = "en", max_facts: int = 8
    ) -> Extraction:
        """Return what is made of a conversation; `brain` holds what is known."""
        known = [Fact(text, "user", f"k{at}") for at, text in enumerate(brain, 1)]
        return self.thinker.extract(messages, known, language=language, max_facts=max_facts)
