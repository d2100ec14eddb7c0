"""What do you know about me: facts by section, and where the files are."""

from __future__ import annotations

from pathlib import Path

from tests.fakes import HashEmbedder
from vaultmind.app import open_app
from vaultmind.config import Config
from vaultmind.serve.op import Call, run_operation
from vaultmind.types import PERSON

BRAIN = """## Użytkownik

- Mieszka w Krakowie %%2026-02-20 said%% ^a1b2

## Bieżące
- Piecze chleb

## Moje sprawy
- Coś mojego
"""


def test_facts_stand_by_section_and_the_files_that_are_there_are_named(tmp_path: Path) -> None:
    memory = tmp_path / "vault/VaultMind/agents/main/memory"
    memory.mkdir(parents=True)
    (memory / "brain.md").write_text(BRAIN, "utf-8")
    (memory / "brain_archive.md").write_text("- Dawny fakt\n- Drugi\n", "utf-8")
    config = Config(vault=tmp_path / "vault", state_dir=tmp_path / "state")
    app = open_app(config, embedder=HashEmbedder())
    try:
        shown = run_operation(app, Call(PERSON), "memory_show", {})
    finally:
        app.close()
    headings = [(part["section"], part["heading"]) for part in shown["sections"]]
    assert headings == [("user", "Użytkownik"), ("current", "Bieżące"), (None, "Moje sprawy")]
    assert shown["sections"][0]["facts"][0]["text"] == "Mieszka w Krakowie"
    assert [Path(one).name for one in shown["files"]] == ["brain.md", "brain_archive.md"]
