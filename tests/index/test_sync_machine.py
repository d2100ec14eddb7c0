"""Random lives of a vault; at the end the index is what an index made from scratch would be."""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.fakes import HashEmbedder, OpenToAll
from tests.index.vault import Hidden
from vaultmind.config import Config, IndexConfig
from vaultmind.index.folder import VaultFolder
from vaultmind.index.index import Index
from vaultmind.index.outlet import Outlet
from vaultmind.vault.paths import VaultPaths

FOLDERS = ("", "A", "A/B", "C", "VaultMind/agents/main/memory")
NAMES = ("one.md", "two.md", "brain.md", "board.canvas")
WORDS = ("oven", "bread", "żurek", "хлеб", "rye", "starter")
LINES = st.lists(
    st.sampled_from(["# Heading", "## Deeper", "", "- a fact ^abcd", "#tag", *WORDS]), max_size=8
)
PLACES = st.tuples(st.sampled_from(FOLDERS), st.sampled_from(NAMES))


def open_index(vault: Path, state: Path) -> Index:
    index = Index(
        Config(vault, state, index=IndexConfig(watch=False, debounce_ms=0)),
        Outlet(VaultFolder(VaultPaths(vault)), Hidden(), OpenToAll()),
        clock=lambda: datetime.now(UTC),
        embedder=lambda: HashEmbedder(dim=8),
    )
    index.start()
    return index


def contents(index: Index) -> list[Any]:
    """Return all that is derived from the vault: files, chunks, full text, vectors."""
    with index._database.read() as connection:
        chunks = connection.execute(
            'SELECT id, path, ordinal, kind, agent, anchor, title, text, start, "end", lang, tags,'
            " time, block, text_hash, embeds, tokens FROM chunks ORDER BY id"
        ).fetchall()
        rowids = connection.execute("SELECT rowid FROM chunks ORDER BY id").fetchall()
        files = connection.execute("SELECT path, sha, fault FROM files ORDER BY path").fetchall()
    columns, slots = index._columns, index._columns.slots_of(one for (one,) in rowids)
    vectors = np.round(columns.vectors(slots), 2).tolist()
    return [chunks, files, vectors]


class Life(RuleBasedStateMachine):
    """What a person, Obsidian and a sync program do; hints come late, doubled or not at all."""

    @initialize()
    def begin(self) -> None:
        self.top = Path(tempfile.mkdtemp(prefix="vaultmind-life-"))
        self.vault = self.top / "vault"
        self.vault.mkdir()
        self.index = open_index(self.vault, self.top / "state")
        self.lost = False

    def file(self, place: tuple[str, str]) -> Path:
        return self.vault / place[0] / place[1]

    def hint(self, heard: bool, *paths: Path) -> None:
        """Tell what the watcher would tell; or nothing, and the next comparison must find it."""
        if heard:
            self.index.mark([path.relative_to(self.vault).as_posix() for path in paths])
        else:
            self.lost = True

    @rule(place=PLACES, lines=LINES, heard=st.booleans())
    def save(self, place: tuple[str, str], lines: list[str], heard: bool) -> None:
        file = self.file(place)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines))
        self.hint(heard, file)

    @rule(place=PLACES, heard=st.booleans())
    def spoil(self, place: tuple[str, str], heard: bool) -> None:
        if self.file(place).exists():
            self.file(place).write_bytes(b"\xff\xfe\x00")
            self.hint(heard, self.file(place))

    @rule(place=PLACES, heard=st.booleans())
    def delete(self, place: tuple[str, str], heard: bool) -> None:
        self.file(place).unlink(missing_ok=True)
        self.hint(heard, self.file(place))

    @rule(old=PLACES, new=PLACES, heard=st.booleans())
    def rename(self, old: tuple[str, str], new: tuple[str, str], heard: bool) -> None:
        if self.file(old).exists():
            self.file(new).parent.mkdir(parents=True, exist_ok=True)
            self.file(old).replace(self.file(new))
            self.hint(heard, self.file(old), self.file(new))

    @rule(old=st.sampled_from(["A", "A/B", "C"]), new=st.sampled_from(["A", "C/D", "E"]))
    def move_folder(self, old: str, new: str) -> None:
        if new.startswith(old) or not (self.vault / old).is_dir():
            return
        if not (self.vault / new).exists():
            (self.vault / new).parent.mkdir(parents=True, exist_ok=True)
            (self.vault / old).rename(self.vault / new)
            self.index.mark([f"{old}/", f"{new}/"])

    @rule(folder=st.sampled_from(["A", "C", "E"]), outward=st.booleans())
    def move_across_the_border(self, folder: str, outward: bool) -> None:
        inside, outside = self.vault / folder, self.top / f"outside-{folder}"
        source, target = (inside, outside) if outward else (outside, inside)
        if source.is_dir() and not target.exists():
            source.rename(target)
            self.index.mark([f"{folder}/"])

    @rule(excluded=st.sampled_from(["[]", '["A/"]', '["C/D/", "/two/"]']))
    def change_the_rules(self, excluded: str) -> None:
        (self.vault / ".obsidian").mkdir(exist_ok=True)
        (self.vault / ".obsidian/app.json").write_text(f'{{"userIgnoreFilters": {excluded}}}')
        self.index.everything()

    @rule()
    def restart(self) -> None:
        self.index.close()
        self.index = open_index(self.vault, self.top / "state")
        self.lost = False

    @rule()
    def settle(self) -> None:
        assert self.index.wait_ready(20, vectors=True), self.index.state()

    @invariant()
    def never_failed(self) -> None:
        if hasattr(self, "index"):
            assert self.index.state().phase != "failed"

    def teardown(self) -> None:
        if not hasattr(self, "index"):
            return
        scratch = open_index(self.vault, self.top / "scratch")
        try:
            if self.lost:
                self.index.everything()
            assert self.index.wait_ready(20, vectors=True), self.index.state()
            assert scratch.wait_ready(20, vectors=True), scratch.state()
            assert contents(self.index) == contents(scratch)
        finally:
            self.index.close()
            scratch.close()
            shutil.rmtree(self.top)


TestLife = Life.TestCase
TestLife.settings = settings(
    max_examples=18,
    stateful_step_count=14,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
