"""memory/forget: an erasure reaches every kind of record, each by name, and says what is left."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import HashEmbedder
from tests.machine import fingerprint
from tests.memory.conftest import NOW, House, read_audit
from tests.serve.vaults import config_of
from vaultmind.app import App, open_app
from vaultmind.errors import NotFound, WriteConflict
from vaultmind.memory.forget.erasing import ERASABLES, Erased, Erasing
from vaultmind.memory.forget.hiding import Tombstones, render_tombstones
from vaultmind.memory.gate import Gate, GateSettings
from vaultmind.session.imports import import_file
from vaultmind.types import PERSON, Chunk, MemoryWrite, Message, MessageRef, Scrubbed
from vaultmind.vault.files import FileText
from vaultmind.vault.transcript import parse_session

WORDS = "allergic to hazelnuts"
SAID = "Anna is allergic to hazelnuts"
MEMORY = "VaultMind/agents/main/memory"
EXPORT = (
    ("2025-05-01T10:00:00+02:00", "i1", "The weather in Sopot was fine the whole week long."),
    (
        "2025-05-01T10:01:00+02:00",
        "i2",
        "To hazelnuts she is allergic, poor Anna, since last year.",
    ),
)
FILES = {
    "Notes/Mine.md": f"# Mine\n\nI wrote it myself: {SAID}.\n",
    "Notes/Cake.md": "# Cake\n\nHazelnuts go into the cake.\n",
    "VaultMind/agents/main/identity.md": "---\nlanguage: en\n---\nYou are Main.\n",
    f"{MEMORY}/brain_archive.md": f"# Archive\n\n- {SAID}, badly\n- Keeps bees\n",
    f"{MEMORY}/active_context.md": f"We baked bread. {SAID}. The oven works.\n",
    f"{MEMORY}/summaries/rolling/2026-02-20_001.md": f"They talked. {SAID}!\n",
    f"{MEMORY}/summaries/L1/L1_001.md": f"# January\n\nBees. {SAID}.\n\n- {SAID} ^p1\n- Bees\n",
    f"{MEMORY}/summaries/L2/L2_001.md": f"# Winter\n\n{SAID}. A cold winter.\n",
    f"{MEMORY}/brain.damaged-2026-01-01T10-00-00.md": f"<<<<<<< ours\n- {SAID}\n",
    f"{MEMORY}/brain (conflicted copy).md": f"- {SAID}\n- Keeps bees\n",
    f"{MEMORY}/.vaultmind-0a1b2c3d-0-1": f"- {SAID}\n",
    "VaultMind/agents/iris/memory/brain.md": f"- {SAID}\n- Sings\n",
    "VaultMind/conversations/scheduler_brief/2026-02-20.jsonl": (
        json.dumps({"role": "assistant", "content": f"Note that {SAID}."}) + "\n"
        + json.dumps({"role": "assistant", "content": "All is well."}) + "\n"
    ),
    "VaultMind/Suggestions.md": (
        "# Suggestions\n\n## Waiting\n\n"
        '- [ ] **main** wants to remember: Bees %%{"op":"remember","agent":"main","by":"main",'
        f'"why":"{SAID}"}}%% ^s-aaaa\n    - why: {SAID}\n'
        "- [ ] **main** wants to remember: Keeps bees ^s-bbbb\n"
    ),
}  # fmt: skip


def put(root: Path, relative: str, text: str) -> Path:
    path = root / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def export(folder: Path) -> Path:
    lines = (
        json.dumps({"session": "spring", "time": time, "role": "user", "id": id_, "content": text})
        for time, id_, text in EXPORT
    )
    return put(folder, "export.jsonl", "".join(f"{line}\n" for line in lines))


@dataclass
class Scene:
    """A vault that says it in every kind of record, before and after an erasure."""

    app: App
    folder: Path
    preview: Erased
    erased: Erased
    own: dict[str, str]
    """Fingerprints of what is the person's, taken before."""

    def text(self, relative: str) -> str:
        return (self.app.paths.root / relative).read_text("utf-8")


def live(folder: Path) -> App:
    app = open_app(config_of(folder), embedder=HashEmbedder())
    app.start()
    assert app.index.wait_ready(30, vectors=True)
    return app


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("erasing")
    for relative, text in FILES.items():
        put(folder / "vault", relative, text)
    app = live(folder)
    try:
        app.sessions.ask(
            MemoryWrite("remember", "main", PERSON, SAID), words=f"Remember, please: {SAID}."
        )
        app.sessions.log("main", Message("assistant", f"Noted that {SAID}. Anything else?", ""))
        app.sessions.log("main", Message("user", "No, thank you. Hazelnuts grow here.", ""))
        import_file(app.sessions, export(folder), "main")
        log = put(app.config.state_dir, "daemon.log", f"12:00 INFO x: {SAID}\n12:01 INFO y: fine\n")
        assert log.is_file() and app.index.wait_ready(30, vectors=True)
        own = fingerprint(app.paths.root)
        preview = app.gate.erasing.preview(WORDS, PERSON)
        erased = app.gate.erasing.erase(WORDS, PERSON, app.index.erasing, preview.seal)
        yield Scene(app, folder, preview, erased, own)
    finally:
        app.close()


def test_the_preview_names_every_kind_with_paths_and_excerpts(scene: Scene) -> None:
    kinds = {one.name for one in ERASABLES} | {"copies"}
    assert kinds - {"saved plans"} == set(scene.preview.counts) and scene.preview.outcome == "found"
    assert scene.preview.counts["messages"] == 3 and scene.preview.counts["suggestions"] == 1
    assert "cannot be undone" in scene.preview.message
    assert all("azelnut" in one.excerpt and len(one.excerpt) < 100 for one in scene.preview.found)


def test_an_erasure_says_what_it_did_and_that_nothing_is_left(scene: Scene) -> None:
    erased = scene.erased
    assert (erased.outcome, erased.left) == ("erased", ())
    assert erased.counts == scene.preview.counts
    assert "text, meaning and raw bytes finds no trace of it" in erased.message


LEFT = {
    "VaultMind/agents/iris/memory/brain.md": "- Sings\n",
    f"{MEMORY}/brain_archive.md": "# Archive\n\n- Keeps bees\n",
    f"{MEMORY}/active_context.md": "We baked bread. The oven works.\n",
    f"{MEMORY}/summaries/rolling/2026-02-20_001.md": "They talked.\n",
    f"{MEMORY}/summaries/L1/L1_001.md": "# January\n\nBees.\n\n- Bees\n",
    f"{MEMORY}/summaries/L2/L2_001.md": "# Winter\n\nA cold winter.\n",
    f"{MEMORY}/brain.damaged-2026-01-01T10-00-00.md": "<<<<<<< ours\n",
    f"{MEMORY}/brain (conflicted copy).md": "- Keeps bees\n",
    f"{MEMORY}/.vaultmind-0a1b2c3d-0-1": "",
    "VaultMind/Suggestions.md": (
        "# Suggestions\n\n## Waiting\n\n- [ ] **main** wants to remember: Keeps bees ^s-bbbb\n"
    ),
}


def test_each_kind_of_file_loses_it_and_keeps_the_rest(scene: Scene) -> None:
    assert {path: scene.text(path) for path in LEFT} == LEFT
    assert "azelnut" not in scene.text(f"{MEMORY}/brain.md")


def test_sessions_have_markers_in_its_place(scene: Scene) -> None:
    (own, imported) = sorted(
        (scene.app.paths.root / MEMORY / "sessions").glob("*.md"), reverse=True
    )
    first = [one.message for one in parse_session(own.read_text("utf-8")).messages]
    assert [one.erased for one in first] == [True, True, False]
    assert first[2].text == "No, thank you. Hazelnuts grow here."
    second = [one.message for one in parse_session(imported.read_text("utf-8")).messages]
    assert [(one.id, one.erased) for one in second] == [("i1", False), ("i2", True)]


def test_audit_loses_texts_and_keeps_its_lines(scene: Scene) -> None:
    lines = read_audit(scene.app.paths, "main")
    assert sum(line.erased for line in lines) == 1
    erasing = [line for line in lines if line.op == "erase"]
    assert [line.caller for line in erasing] == ["person"]
    assert not any(line.before or line.after for line in erasing)
    (path,) = (scene.app.paths.root / MEMORY).glob("audit-*.jsonl")
    assert "azelnut" not in path.read_text("utf-8")


def test_a_persons_own_notes_are_listed_and_not_touched(scene: Scene) -> None:
    assert [place.path for place in scene.erased.yours] == ["Notes/Mine.md"]
    assert SAID in scene.erased.yours[0].excerpt
    assert fingerprint(scene.app.paths.root) == scene.own


def test_importing_the_same_export_again_does_not_bring_it_back(scene: Scene) -> None:
    done = import_file(scene.app.sessions, export(scene.folder), "main")
    assert (done.messages, done.skipped) == (0, 2)
    path = f"{MEMORY}/sessions/2025-05-01_001.md"
    assert "allergic" not in scene.text(path)
    (scene.folder / "vault" / path).unlink()
    import_file(scene.app.sessions, export(scene.folder), "main")
    session = scene.app.sessions.latest("main")
    again = f"{MEMORY}/sessions/{session}.md"
    assert again != path, "a number is used once"
    assert "%%erased%%" in scene.text(again) and "allergic" not in scene.text(again)


# --- the ways it can go wrong --------------------------------------------------------------


@dataclass
class NoIndex:
    """Implements ports.IndexErasing over nothing; notes what was scrubbed."""

    scrubbed: list[str] = field(default_factory=list)
    fault: str = ""
    begun: bool = False

    def begin(self) -> None:
        self.begun = True

    def scrub(self, paths: Iterable[str]) -> Scrubbed:
        self.scrubbed += paths
        return Scrubbed(faults=(self.fault,) if self.fault else ())

    def saying(self, text: str, limit: int) -> list[Chunk]:
        return []

    def nearest_to(self, texts: Sequence[str], limit: int) -> list[tuple[Chunk, float]] | None:
        return None


class Killed(BaseException):
    """Stands for a kill -9."""


def erasing(house: House, before: Callable[[str], None]) -> Erasing:
    """Return an erasing by the gate's own hands, which fail or die when they are told to."""

    class Dying(Gate):
        def edit(self, relative: str, change: Callable[[FileText | None], str | None]) -> Any:
            before(relative)
            return super().edit(relative, change)

    settings = GateSettings("test")
    gate = Dying(house.paths, settings, (), house.indexer, house.authority, lambda: NOW)
    return gate.erasing


def furnish(house: House) -> None:
    for relative, text in FILES.items():
        house.put(relative, text)
    house.put(
        f"{MEMORY}/sessions/2026-02-20_001.md",
        '---\nid: 2026-02-20_001\nagent: main\n---\n\n> [!user] 10:00:03 %%{"id":"a"}%%\n'
        "> They give me hives.\n\n^m1\n\n"
        f'> [!user] 10:00:04 %%{{"id":"b"}}%%\n> {SAID}.\n\n^m2\n',
    )
    evidence = MessageRef("main", "2026-02-20_001", "m1", "a")
    house.gate.write(MemoryWrite("remember", "main", PERSON, SAID, evidence=evidence))


def everything(house: House) -> str:
    """Return all the memory folder says, names of files aside."""
    files = sorted((house.paths.root / "VaultMind").rglob("*"))
    return "\n".join(path.read_text("utf-8") for path in files if path.is_file())


def test_an_erasure_that_was_killed_anywhere_is_finished_by_the_next(tmp_path: Path) -> None:
    counting, steps = House(tmp_path / "counting"), list[str]()
    furnish(counting)
    work = erasing(counting, steps.append)
    assert work.erase(WORDS, PERSON, NoIndex()).outcome == "erased"
    for at in {1, *range(2, len(steps), 3), len(steps)}:
        house, done = House(tmp_path / f"killed-{at}"), list[str]()
        furnish(house)

        def die(path: str, at: int = at, done: list[str] = done) -> None:
            done.append(path)
            if len(done) == at:
                raise Killed

        with pytest.raises(Killed):
            erasing(house, die).erase(WORDS, PERSON, NoIndex())
        assert house.gate.erasing.erase(WORDS, PERSON, NoIndex()).outcome == "erased"
        text = everything(house)
        assert "allergic" not in text and "hives" not in text, at


def test_what_could_not_be_changed_makes_it_partial_and_is_named(house: House) -> None:
    furnish(house)
    brain = house.paths.brain("main")

    def refuse(path: str) -> None:
        if path == brain:
            raise WriteConflict(f"{path} kept changing.")

    erased = erasing(house, refuse).erase(WORDS, PERSON, NoIndex())
    assert erased.outcome == "partial"
    assert [place.path for place in erased.left] == [brain]
    assert "kept changing" in erased.left[0].why and brain in erased.message
    assert SAID in house.brain()
    assert "azelnut" not in house.file(f"{MEMORY}/active_context.md").read_text()


def test_what_changed_since_the_preview_stops_the_erasure(house: House) -> None:
    furnish(house)
    preview = house.gate.erasing.preview(WORDS, PERSON)
    house.put(f"{MEMORY}/summaries/L1/L1_002.md", f"{SAID}.\n")
    with pytest.raises(WriteConflict, match="has changed"):
        house.gate.erasing.erase(WORDS, PERSON, NoIndex(), preview.seal)
    assert SAID in house.brain()


def test_a_fact_can_be_named_by_its_id_and_takes_the_message_it_came_from(house: House) -> None:
    furnish(house)
    block = next(line.block for line in read_audit(house.paths, "main") if line.block)
    erased = house.gate.erasing.erase(f"^{block}", PERSON, NoIndex())
    assert erased.outcome == "erased"
    session = house.file(f"{MEMORY}/sessions/2026-02-20_001.md").read_text("utf-8")
    assert "hives" not in session and "azelnut" not in session
    with pytest.raises(NotFound):
        house.gate.erasing.erase("^none", PERSON, NoIndex())


def test_what_was_hidden_for_it_before_is_erased_too_and_no_undo_brings_it_back(
    house: House,
) -> None:
    furnish(house)
    house.forget(SAID)
    forgot = next(one.id for one in read_audit(house.paths, "main") if one.op == "forget")
    assert house.gate.erasing.erase(SAID, PERSON, NoIndex()).outcome == "erased"
    assert "hives" not in house.file(f"{MEMORY}/sessions/2026-02-20_001.md").read_text("utf-8")
    assert house.gate.undo("main", forgot, PERSON).outcome == "unchanged"
    ref = MessageRef("main", "2026-02-20_001", "m1")
    assert house.gate.hiding.show([ref]) == (), "what was erased is not shown again"
    lifted = render_tombstones([ref], "2027-01-01T00:00:00+01:00", lifted=True)
    house.put(f"{MEMORY}/tombstones-phone.jsonl", lifted)
    assert Tombstones(house.paths).hides("main", "2026-02-20_001", "m1"), "nor by another device"
