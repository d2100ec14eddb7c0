"""A model on a running conversation: what it says holds, or the messages' own words stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.fakes import QueueGenerator
from tests.session.talks import message
from vaultmind.config import MinionConfig
from vaultmind.consolidate.model import TRIES, ModelTeller
from vaultmind.errors import MinionFailed
from vaultmind.minion.choice import Minion
from vaultmind.session.summary import ModelLines

SAID = [
    message(1, "My sister Ola moved to Gdynia in May."),
    message(2, "Nice! Does she need help with the boat?"),
    message(3, "No. We decided to sell the boat for 4,200 euros."),
    message(4, "Good. I'll write the advertisement tonight."),
]


def line(text: str, *numbers: int, kind: str = "fact") -> dict[str, Any]:
    return {"kind": kind, "text": text, "from": list(numbers)}


def lines(*found: dict[str, Any]) -> str:
    return json.dumps({"lines": found})


def teller(folder: Path, generator: QueueGenerator, **values: Any) -> ModelTeller:
    config = MinionConfig(model="big.gguf", **values)
    return ModelTeller(Minion(config, folder, open_generator=lambda _: generator))


def told(folder: Path, *answers: str | MinionFailed) -> ModelLines | None:
    return teller(folder, QueueGenerator(*answers)).lines(SAID, "", "en")


def test_a_model_that_mostly_talks_nonsense_is_not_believed_at_all(tmp_path: Path) -> None:
    nonsense = [line(f"Captain {name} sailed to the Azores.", 2) for name in ("Ahab", "Nemo")]
    right = line("Ola is the sister, and she moved to Gdynia.", 1)
    found = told(tmp_path, lines(right, *nonsense))
    assert found == ModelLines((), "queue", ("m1", "m2", "m3", "m4"))


def test_numbers_of_messages_that_there_are_not_are_mended_once(tmp_path: Path) -> None:
    right = lines(line("Ola is the sister, and she moved to Gdynia.", 1))
    generator = QueueGenerator(lines(line("Ola moved to Gdynia.", 11)), right)
    found = teller(tmp_path, generator).lines(SAID, "", "en")
    assert found is not None
    assert [one.sources for one in found.lines] == [("m1",)]
    assert "numbers from 1 to 4" in generator.asked[1].turns[-1].text


def test_a_model_that_fails_is_asked_again_and_not_for_ever(tmp_path: Path) -> None:
    slow = MinionFailed("timeout", "The model was too slow.")
    one = teller(tmp_path, QueueGenerator(*[slow] * TRIES, lines()))
    assert [one.lines(SAID, "", "en") for _ in range(TRIES - 1)] == [None] * (TRIES - 1)
    assert one.lines(SAID, "", "en") == ModelLines((), "extractive", ("m1", "m2", "m3", "m4"))
    assert one.lines(SAID[:2], "", "en") == ModelLines((), "queue")


def test_a_model_that_rests_has_not_failed(tmp_path: Path) -> None:
    one = teller(tmp_path, QueueGenerator(*[MinionFailed("resting", "It rests.")] * (TRIES + 1)))
    assert [one.lines(SAID, "", "en") for _ in range(TRIES + 1)] == [None] * (TRIES + 1)
