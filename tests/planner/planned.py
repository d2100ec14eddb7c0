"""An app over a small vault and the shop linked to it, as plans are made of them. No vectors."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.planner.shop import make_shop
from vaultmind.app import App, open_app
from vaultmind.config import Flags, load_config
from vaultmind.planner.source import Source
from vaultmind.planner.types import Plan, PlanRequest
from vaultmind.types import PERSON, Caller, MemoryWrite

MAIN, OTHER = Caller("agent", "main"), Caller("agent", "other")
NOTES = {
    "Oven.md": "# Oven\n\nThe bread oven is built of clay. See [[Clay]].\n\n## Door\n\nOf oak.\n",
    "Clay.md": "---\ntags: [material]\n---\n# Clay\n\nClay for the oven comes from the river.\n",
    "Bread.md": "# Bread\n\nRye bread is baked in the oven on Saturdays.\n",
    "Taxes.md": "# Taxes\n\nDue in April.\n",
    "secrets/Bread keys.md": "# Bread keys\n\nThe bread oven's key is under the mat.\n",
}


class Planned:
    """An app that runs, both sources settled."""

    def __init__(self, folder: Path) -> None:
        self.vault, self.shop = folder / "vault", folder / "shop"
        for name, text in NOTES.items():
            path = self.vault / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        make_shop(self.shop)
        self.app = self._open(folder)
        self.app.start()
        self.app.init("main", "en", PERSON)
        self.app.init("other", "en", PERSON)
        self.app.sources.link(self.shop, "shop")
        self.settle()

    def _open(self, folder: Path) -> App:
        env = {
            "VAULTMIND_STATE_DIR": str(folder / "state"),
            "VAULTMIND_CONFIG": str(folder / "config" / "none.toml"),
            "VAULTMIND_INDEX_EMBEDDER": "none",
            "VAULTMIND_INDEX_EXCLUDE": "secrets/",
            "VAULTMIND_INDEX_DEBOUNCE_MS": "10",
        }
        return open_app(load_config(Flags(vault=str(self.vault)), env=env))

    def close(self) -> None:
        """Let go of everything."""
        self.app.close()

    def source(self, name: str = "shop") -> Source:
        """Return a source by name."""
        return self.app.sources.find(name)

    def settle(self) -> None:
        """Wait until all that stands on disk is known."""
        for name in ("vault", "shop"):
            source = self.source(name)
            source.index.everything()
            assert source.index.wait_ready(200)
            assert source.settle(200) != "partial"

    def plan(self, task: str, caller: Caller = PERSON, **wanted: object) -> Plan:
        """Return the plan of a task, over the shop where no other source is named."""
        request = PlanRequest(str(wanted.pop("project_root", "shop")), task, **wanted)  # type: ignore[arg-type]
        return self.app.planner.plan(request, caller)

    def over_vault(self, task: str, caller: Caller = PERSON, **wanted: object) -> Plan:
        """Return the plan of a task over the vault."""
        return self.plan(task, caller, project_root="vault", **wanted)

    def remember(self, agent: str, text: str) -> None:
        """Have an agent remember a fact."""
        told = self.app.gate.write(MemoryWrite("remember", agent, PERSON, text, section="user"))
        assert told.outcome == "written", told
        self.app.index.refresh([f"VaultMind/agents/{agent}/memory/brain.md"])


def has_git() -> bool:
    """Tell whether there is a git here."""
    return shutil.which("git") is not None
