"""A vault with ended sessions, a real gate, and the levels over it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.memory.conftest import MAIN, NOW, House
from vaultmind.config.settings import LevelsConfig
from vaultmind.consolidate.levels import Levels, Summarise, of_sources
from vaultmind.consolidate.types import Resources, SummaryDone
from vaultmind.memory.forget.hiding import Tombstones
from vaultmind.session.files import Shelf
from vaultmind.types import Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.properties import set_property
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

DEVICE = "test"
TALKS = (
    ("We decided to paint the kitchen walls green in April.", "The green paint costs 240 euros."),
    ("My sister Olga moved to Gdynia with her two dogs.", "She works in the harbour office."),
    ("I booked the train to Vienna for the 14th of May.", "The hotel stands near the Prater."),
    ("Our team agreed to ship the invoice module in Rust.", "The deadline is the third of June."),
    ("The doctor told me to avoid peanuts and walnuts.", "I bought a bread machine for that."),
)


class Vault(House):
    """A house with sessions in it."""

    def __init__(self, root: Path, level: int = 2) -> None:
        super().__init__(root, level)
        self.reader = VaultReader(self.paths, 8_000_000)

    def talk(self, number: int, *texts: str, agent: str = "main", **meta: str) -> str:
        """Write an ended session of the day `number` of February 2026 and return its id."""
        day = f"2026-02-{number:02d}"
        time = f"{day}T10:00:00+01:00"
        known = {"consolidated": time, "device": DEVICE, **meta}
        head = SessionMeta(f"{day}_001", agent, started=time, ended=time, state="ended")
        said = [
            Message("user", text, time, f"id{at}", "Anna", block=f"m{at}")
            for at, text in enumerate(texts or TALKS[number % len(TALKS)], 1)
        ]
        text = render_header(head) + "".join(map(render_message, said))
        for key, value in known.items():
            text = set_property(text, key, value) if value else text
        self.put(self.paths.session(agent, head.id), text)
        return head.id

    def talks(self, first: int, last: int) -> list[str]:
        """Write a session a day."""
        return [self.talk(number) for number in range(first, last + 1)]

    def levels(self, gate: Any = None, writer: Summarise = of_sources, **settings: int) -> Levels:
        """Return what makes summaries, as after a start."""
        resources = Resources(
            gate or self.gate,
            self.reader,
            Tombstones(self.paths).hides,
            Shelf(self.reader).heads,
            lambda: NOW,
            DEVICE,
        )
        return Levels(resources, writer, LevelsConfig(**settings))

    def make(self, **settings: int) -> list[SummaryDone]:
        """Make what is due."""
        return self.levels(**settings).make("main", MAIN)

    def text(self, relative: str) -> str:
        """Return a file's text."""
        return self.file(relative).read_text("utf-8")
