"""A model behind the running conversation in the whole house: it is told, found and forgotten."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from tests.serve.vaults import config_of
from tests.session.summary.talks import talk
from tests.waiting import until
from vaultmind.app import App, open_app
from vaultmind.config import MinionConfig
from vaultmind.minion.choice import Minion
from vaultmind.session.summary import parse_rolling, shown
from vaultmind.types import PERSON, Generated, Message, Prompt, SearchRequest

NOW = "2026-03-01T12:00:00+01:00"
TOLD = "Larch is what they decided to build the shed from."
TOOL = "The whole suite was run with pytest, and its 40 tests passed."


class Answering:
    """Implements Generator: says one thing of the shed, and one of each call of a tool."""

    id, context_tokens = "tiny", 4096

    def count(self, text: str) -> int:
        return len(text) // 3

    def generate(self, prompt: Prompt) -> Generated:
        asked = prompt.turns[0].text
        if '"calls"' in asked:
            return Generated(json.dumps({"calls": [{"call": 1, "text": TOOL}]}))
        lines = [{"kind": "decision", "text": TOLD, "from": [2]}] if "larch" in asked else []
        return Generated(json.dumps({"lines": lines}))

    def close(self) -> None:
        """Nothing is open."""


@contextmanager
def house(folder: Path) -> Iterator[App]:
    """Open a vault whose model for summaries is `Answering`."""
    (folder / "vault").mkdir(exist_ok=True)
    config = config_of(folder)
    config = replace(config, index=replace(config.index, embedder="none", debounce_ms=10))
    models = MinionConfig(summary="tiny.gguf")
    minion = Minion(models, config.state_dir, open_generator=lambda _: Answering())
    app = open_app(config, clock=lambda: datetime.fromisoformat(NOW), minion=minion)
    app.start()
    try:
        yield app
    finally:
        app.close()


def test_what_a_model_says_of_a_conversation_is_shown_found_and_forgotten(tmp_path: Path) -> None:
    with house(tmp_path) as app:
        for number, one in enumerate(talk(100), 1):
            text = "40 tests passed in the suite" if number == 20 else one.text
            role = "tool" if number == 20 else one.role
            name = "pytest" if number == 20 else ""
            app.sessions.log("main", Message(role, text, NOW, id=one.id, speaker=name))
        view = app.talks.view("main")
        assert view is not None
        file = app.paths.root / app.paths.rolling("main", view.session)
        until(lambda: file.exists() and parse_rolling(file.read_text()).tools)
        seen = app.talks.view("main")
        assert seen is not None
        assert TOLD in shown(seen.rolling)
        assert TOOL not in shown(seen.rolling)
        assert app.index.wait_ready(30)

        def found(query: str) -> list[str]:
            app.index.refresh([app.paths.rolling("main", view.session)])
            asked = SearchRequest(query, agent="main", kinds=("summary",))
            return [hit.text for hit in app.index.search(asked, PERSON).hits]

        assert any(TOOL in text for text in found("whole suite run tests passed"))
        assert any(TOLD in text for text in found("larch decided build shed"))
        app.requests.forget(PERSON, "main", "We decided to build the shed from larch.")
        assert not any("larch" in text.lower() for text in found("larch decided build shed"))
        seen = app.talks.view("main")
        assert seen is not None
        assert "Larch" not in shown(seen.rolling)


def test_what_is_paused_asks_no_model(tmp_path: Path) -> None:
    with house(tmp_path) as app:
        app.consolidation.pause()
        for one in talk(60):
            app.sessions.log("main", replace(one, time=NOW, block=""))
        assert app.talks.settle(10)
        telling = app.talks.telling
        assert telling is not None
        assert telling.settle(10)
        session = app.talks.view("main")
        assert session is not None
        assert session.rolling.messages == 36
        assert session.rolling.told == ""


def test_what_the_end_keeps_of_a_models_line_is_forgotten_with_it(tmp_path: Path) -> None:
    with house(tmp_path) as app:
        for one in talk(60):
            app.sessions.log("main", replace(one, time=NOW, block=""))
        session = app.talks.view("main")
        assert session is not None
        file = app.paths.root / app.paths.rolling("main", session.session)
        until(lambda: file.exists() and TOLD in file.read_text("utf-8"))
        app.sessions.end("main")
        context = app.paths.active_context("main")
        until(lambda: TOLD in (app.paths.root / context).read_text("utf-8"))
        there = (app.paths.root / context).read_text("utf-8").splitlines(keepends=True)
        kept = "".join(line for line in there if TOLD in line or not line.startswith("- "))
        (app.paths.root / context).write_text(kept, "utf-8")
        app.sessions.log("main", Message("user", "We decided to sell the boat.", NOW))
        app.sessions.end("main")
        assert TOLD in str(app.start_context("main", PERSON).parts), "told of as an earlier one"
        assert app.index.wait_ready(30)
        app.requests.forget(PERSON, "main", "We decided to build the shed from larch.")
        assert TOLD not in str(app.start_context("main", PERSON).parts)


def test_without_a_model_nothing_of_it_is_loaded(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.serve.vaults import config_of;"
        "from vaultmind.app import open_app;"
        f"folder = Path({str(tmp_path)!r}); (folder / 'vault').mkdir();"
        "app = open_app(config_of(folder)); app.close();"
        "print('vaultmind.consolidate.model.telling' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "False", done.stderr
