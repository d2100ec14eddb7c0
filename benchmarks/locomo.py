"""LoCoMo's conversations as vaults, and its questions.

LoCoMo (Maharana et al., ACL 2024) is CC BY-NC 4.0 and is not part of this repository: benchmarks
take the path of a copy. The program itself imports each conversation into a vault of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

CUTS = (1, 3, 5, 10, 20)
AGENT = "main"
_TIME = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one conversation, and the turns that hold its answer."""

    conversation: str
    text: str
    evidence: frozenset[str]
    category: int
    """1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop, 5 adversarial."""


def load(data: Path) -> list[dict[str, Any]]:
    """Return the conversations of a copy; ends the program where there is none."""
    if not data.is_file():
        sys.exit(f"There is no {data}: LoCoMo is not shipped here, name your copy of it.")
    read: list[dict[str, Any]] = json.loads(data.read_text("utf-8"))
    return read


def name_of(number: int) -> str:
    """Return what a conversation is called here."""
    return f"locomo-{number}"


def questions(conversations: list[dict[str, Any]]) -> list[Question]:
    """Return the questions that name their evidence."""
    found = []
    for number, conversation in enumerate(conversations):
        for item in conversation["qa"]:
            named = " ".join(item.get("evidence") or ()).replace(";", " ").replace(",", " ")
            if evidence := frozenset(named.split()):
                asked = Question(name_of(number), item["question"], evidence, item["category"])
                found.append(asked)
    return found


def imported(conversation: dict[str, Any], folder: Path) -> Path:
    """Return the vault of a conversation in a folder, imported with `vaultmind import` if new."""
    vault = folder / "vault"
    if vault.exists():
        return vault
    vault.mkdir(parents=True)
    lines = folder / "turns.jsonl"
    lines.write_text("".join(turns(conversation["conversation"])), "utf-8")
    state = str(folder / "state")
    places = ["--vault", str(vault), "--state-dir", state, "--in-process"]
    environment = {**os.environ, "VAULTMIND_INDEX_EMBEDDER": "none"}
    for command in (["init"], ["import", str(lines)]):
        run = [sys.executable, "-m", "vaultmind", *places, *command]
        subprocess.run(run, check=True, env=environment, stdout=subprocess.DEVNULL)
    return vault


def turns(said_in: dict[str, Any]) -> list[str]:
    """Return a conversation's turns as lines of an import, in order."""
    lines = []
    number = 0
    while said := said_in.get(f"session_{(number := number + 1)}"):
        started = datetime.strptime(said_in[f"session_{number}_date_time"], _TIME)
        for turn in said:
            one = {
                "session": f"session_{number}",
                "time": started.replace(tzinfo=UTC).isoformat(),
                "role": "user",
                "speaker": turn["speaker"],
                "content": turn["text"],
                "id": turn["dia_id"],
            }
            lines.append(json.dumps(one, ensure_ascii=False) + "\n")
    return lines
