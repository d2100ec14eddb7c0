"""Two devices on one synced folder: nothing lost, nothing doubled, conflict copies reported."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import HashEmbedder
from tests.waiting import until
from vaultmind.app import App, open_app
from vaultmind.config import Config, IndexConfig
from vaultmind.memory.brain import parse_brain
from vaultmind.serve.op import Call, run_operation
from vaultmind.types import PERSON, Message

SAID = "By the way, my sister lives in Lublin."
FACT = "My sister lives in Lublin"
COPY = ".sync-conflict-20260220-101010-ABCDEFG"


class Ticks:
    """A clock that both devices go by: a second later whenever it is looked at."""

    def __init__(self) -> None:
        self._now = datetime(2026, 2, 20, 10, 0, 0, tzinfo=UTC)
        self._lock = threading.Lock()

    def __call__(self) -> datetime:
        with self._lock:
            self._now += timedelta(seconds=1)
            return self._now


class Device:
    """One of two machines: a vault of its own, and a state folder."""

    def __init__(self, folder: Path, clock: Ticks) -> None:
        self.vault = folder / "vault"
        (self.vault / ".obsidian").mkdir(parents=True)
        index = IndexConfig(debounce_ms=20)
        self.config = Config(vault=self.vault.resolve(), state_dir=folder / "state", index=index)
        self.app: App = open_app(self.config, clock=clock, embedder=HashEmbedder())
        self.app.start()
        assert self.app.index.wait_ready(30, vectors=True)

    def ask(self, operation: str, **args: Any) -> dict[str, Any]:
        return run_operation(self.app, Call(PERSON), operation, args)

    def remember(self, text: str) -> str:
        return str(self.ask("memory_update", op="remember", text=text)["outcome"])

    def forget(self, text: str) -> str:
        return str(self.ask("memory_update", op="forget", text=text)["outcome"])

    def facts(self) -> list[str]:
        path = self.vault / self.app.paths.brain("main")
        return sorted(fact.text for fact in parse_brain(path.read_text("utf-8")).all())

    def finds(self, query: str, text: str) -> bool:
        hits = self.ask("memory_search", query=query, kinds=["message"], agent="main")["hits"]
        return any(text in hit["text"] for hit in hits)

    def doctor(self) -> str:
        checks = self.ask("doctor")["checks"]
        return "\n".join(one["what"] for one in checks if one["result"] != "ok")

    def told(self) -> list[tuple[str, str, str]]:
        """Return the changes of facts as the log has them."""
        ops = ["remember", "replace", "forget"]
        lines = self.ask("log", limit=0, ops=ops)["lines"]
        return [(line["id"], line["device"], line["words"]) for line in lines]


@dataclass
class Folder:
    """A sync program: what changed on one side goes to the other, what changed on both doubles."""

    one: Device
    other: Device
    known: dict[str, bytes] = field(default_factory=dict)

    def sync(self) -> None:
        here, there = files(self.one.vault), files(self.other.vault)
        for name in sorted({*here, *there}):
            mine, theirs, before = here.get(name), there.get(name), self.known.get(name)
            if mine == theirs:
                pass
            elif mine == before or (mine is None and before is None):
                put(self.one.vault / name, theirs)
            elif theirs == before or (theirs is None and before is None):
                put(self.other.vault / name, mine)
            else:
                path = Path(name)
                copy = path.with_name(f"{path.stem}{COPY}{path.suffix}")
                put(self.other.vault / name, mine)
                for device in (self.one, self.other):
                    put(device.vault / copy, theirs)
        self.known = files(self.one.vault)
        assert self.known == files(self.other.vault)


def files(vault: Path) -> dict[str, bytes]:
    found = (path for path in vault.rglob("*") if path.is_file())
    return {path.relative_to(vault).as_posix(): path.read_bytes() for path in found}


def put(path: Path, raw: bytes | None) -> None:
    """Write as sync programs do: beside it, then in its place."""
    if raw is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".syncthing.{path.name}.tmp")
    beside.write_bytes(raw)
    shutil.move(beside, path)


@pytest.fixture
def synced(tmp_path: Path) -> Iterator[Folder]:
    clock = Ticks()
    with ExitStack() as open_apps:
        devices = [Device(tmp_path / name, clock) for name in ("laptop", "phone")]
        for device in devices:
            open_apps.callback(device.app.close)
        yield Folder(*devices)


def test_what_one_device_forgets_is_hidden_on_the_other_at_once(synced: Folder) -> None:
    laptop, phone = synced.one, synced.other
    laptop.app.sessions.log("main", Message("user", SAID, ""))
    laptop.remember(FACT)
    synced.sync()
    until(lambda: phone.finds("where does my sister live", "Lublin"))
    assert phone.forget(FACT) == "written"
    synced.sync()
    assert not laptop.finds("where does my sister live", "Lublin")
    assert laptop.facts() == phone.facts() == []
    line = laptop.ask("log", ops=["forget"])["lines"][0]
    assert laptop.ask("undo", id=line["id"])["outcome"] == "written"
    assert laptop.finds("where does my sister live", "Lublin")
    synced.sync()
    until(lambda: phone.finds("where does my sister live", "Lublin"))
    assert laptop.facts() == phone.facts() == [FACT]


def test_two_devices_on_one_synced_folder_lose_and_double_nothing(synced: Folder) -> None:
    laptop, phone = synced.one, synced.other
    laptop.remember("Plays chess")
    synced.sync()
    assert phone.remember("Plays chess") == "unchanged"
    phone.remember("Owns a kayak")
    synced.sync()
    assert laptop.facts() == phone.facts() == ["Owns a kayak", "Plays chess"]
    laptop.remember("Sings in a choir")
    phone.remember("Is afraid of moths")
    synced.sync()

    (copy,) = laptop.vault.glob("VaultMind/agents/main/memory/brain*onflict*.md")
    kept = [fact.text for fact in parse_brain(copy.read_text("utf-8")).all()]
    assert sorted({*laptop.facts(), *kept}) == [
        "Is afraid of moths", "Owns a kayak", "Plays chess", "Sings in a choir",
    ]  # fmt: skip
    for device in (laptop, phone):
        assert len(device.facts()) == len(set(device.facts())) == 3
        until(lambda d=device: copy.name in d.doctor())
        hits = device.ask("memory_search", query="moths afraid choir chess kayak")["hits"]
        assert len({hit["text"] for hit in hits}) == len(hits), "no fact is found twice"

    told = laptop.told()
    assert told == phone.told()
    assert len({device for _, device, _ in told}) == 2
    assert [words.split("“")[1].split("”")[0] for _, _, words in told] == [
        "Plays chess", "Plays chess", "Owns a kayak", "Sings in a choir", "Is afraid of moths",
    ]  # fmt: skip
    for copy in laptop.vault.rglob("*onflict*"):
        copy.unlink()  # compared, and found to be of no use any more
    synced.sync()
    for device in (laptop, phone):
        until(lambda d=device: "onflict" not in d.doctor())
    assert "chain" not in laptop.doctor() and "missing" not in phone.doctor()
