"""`context_plan`: one contract for all who ask, over a linked folder; nothing hidden is in it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.machine import fingerprint
from tests.serve.vaults import ORDER
from vaultmind.app import App
from vaultmind.errors import NotFound
from vaultmind.serve.op import Answer, Call, answer
from vaultmind.types import PERSON, Caller, MemoryWrite

SCHEMAS = Path(__file__).parent.parent.parent / "docs/schemas"
RESPONSE = json.loads((SCHEMAS / "plan-context.response.json").read_text("utf-8"))
MAIN = Caller("agent", "main")
CODE = {
    "src/cart.py": f'"""The cart."""\n\n# {ORDER}\n\n\nclass Cart:\n    def add(self) -> None:\n'
    '        """Put an item in."""\n',
    "src/session.py": "from src.cart import Cart\n\n\ndef logout() -> None:\n    Cart().add()\n",
    "tests/test_cart.py": "from src.cart import Cart\n\n\ndef test_add():\n    Cart().add()\n",
    ".env": "CART_SECRET=hunter2hunter2\n",
    ".gitignore": "built/\n",
    "built/cart.js": "var cart = 'generated'\n",
}


def ask(app: App, caller: Caller, op: str = "context_plan", **args: Any) -> Answer:
    return answer(app, Call(caller), op, args, "http" if op == "context_plan" else "cli")


def outside(text: str) -> str:
    return re.sub(r"<<recalled (\w{8}) from .*?<<end \1>>", "", text, flags=re.DOTALL)


def test_a_linked_folder_is_planned_over_and_never_written(app: App, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    for name, text in CODE.items():
        (shop / name).parent.mkdir(parents=True, exist_ok=True)
        (shop / name).write_text(text, "utf-8")
    (tmp_path / "outside.py").write_text("cart = 'outside'\n", "utf-8")
    (shop / "src/away.py").symlink_to(tmp_path / "outside.py")
    before = fingerprint(shop, but=".git")
    task = "bug: the cart loses its items on logout"
    with pytest.raises(NotFound):
        ask(app, MAIN, task=task, project_root=str(shop))
    ask(app, PERSON, "link", path=str(shop), name="shop")
    ask(app, PERSON, "explore", source="shop", wait_seconds=60)
    person = ask(app, PERSON, task=task, project_root=str(shop))
    agent = ask(app, MAIN, task=task, project_root="shop", detail="verbose")
    for one in (person, agent):
        faults = [fault.message for fault in Draft202012Validator(RESPONSE).iter_errors(one.json)]
        assert not faults, faults
        assert one.json["source"] == "shop" and "src/cart.py" in one.json["context"]["files"]
        assert set(one.json["context"]["files"]) <= {*CODE} - {".env", "built/cart.js"}
        told = json.dumps(one.json)
        assert "hunter2" not in told and "outside'" not in told and "generated" not in told
    assert ORDER not in outside(json.dumps(agent.json)) + outside(agent.words)
    assert fingerprint(shop, but=".git") == before
    ask(app, PERSON, "unlink", source="shop")
    with pytest.raises(NotFound):
        ask(app, MAIN, task=task, project_root="shop")


def test_what_agents_remember_is_in_no_plan(app: App) -> None:
    app.gate.write(MemoryWrite("remember", "main", PERSON, "Owns a zeppelin"))
    assert app.index.wait_ready(200, vectors=True)
    for caller in (MAIN, PERSON):
        told = ask(app, caller, task="find out what the zeppelin and the bread oven cost").json
        assert "Owns a zeppelin" not in str(told) and "230 degrees" in str(told)
