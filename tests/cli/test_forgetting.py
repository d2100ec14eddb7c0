"""`vaultmind forget`: topics and erasures, through a real daemon, on a terminal and in a pipe."""

from __future__ import annotations

import json

from tests.cli.program import on_terminal, run
from tests.machine import Machine, fingerprint

SECRET = "Piotr keeps the spare key under the blue flowerpot"
MINE = f"# Keys\n\nNote to self: {SECRET}.\n"
WHAT = {"text": "green glass"}
ERASED = {"outcome", "counts", "found", "yours", "seal", "message", "left", "near"}


def furnish(machine: Machine) -> None:
    machine.run("remember", SECRET)
    context = machine.brain().with_name("active_context.md")
    context.write_text(f"We spoke of the garden. {SECRET}.\n", "utf-8")
    (machine.vault / "Keys.md").write_text(MINE, "utf-8")
    export = machine.state / "export.jsonl"
    message = {"session": "a", "time": "2026-01-02T10:00:00Z", "role": "user", "id": "1"}
    export.write_text(json.dumps(message | {"content": f"So {SECRET}, yes?"}) + "\n", "utf-8")
    machine.run("import", str(export))
    machine.run("index")


def everything(machine: Machine) -> bytes:
    """Return all bytes of the memory folder and of the state folder."""
    files = [*(machine.vault / "VaultMind").rglob("*"), *machine.config.state_dir.rglob("*")]
    return b"\n".join(path.read_bytes() for path in files if path.is_file())


def test_an_erasure_is_shown_then_confirmed_then_searched_for(machine: Machine) -> None:
    furnish(machine)
    own = fingerprint(machine.vault)
    words = "spare key under the blue flowerpot"
    shown = machine.run("forget", "--everywhere", words, "--dry-run")
    assert set(shown) == ERASED and shown["seal"]
    assert {"facts", "messages", "summaries", "audit texts"} <= set(shown["counts"])
    refused = run(machine, "forget", "--everywhere", words)
    assert refused.code == 2 and "no terminal to ask" in refused.err and "--yes" in refused.err
    code, said = on_terminal(machine, "n", "forget", "--everywhere", words)
    assert code == 1 and "cannot be undone" in said and "Nothing was erased" in said
    assert "Keys.md" in said and "brain.md" in said
    assert b"blue flowerpot" in machine.brain().read_bytes()
    erased = machine.run("forget", "--everywhere", words, "--yes")
    assert set(erased) == ERASED
    assert (erased["outcome"], erased["left"]) == ("erased", [])
    assert [place["path"] for place in erased["yours"]] == ["Keys.md"]
    assert fingerprint(machine.vault) == own
    assert b"flowerpot" not in b"".join(
        path.read_bytes() for path in (machine.vault / "VaultMind").rglob("*") if path.is_file()
    )
    again = run(machine, "forget", "--everywhere", words, "--yes")
    assert again.code == 5 and "Nothing in memory mentions it" in again.out


def test_no_byte_is_left_and_a_new_state_folder_brings_nothing_back(machine: Machine) -> None:
    furnish(machine)
    (machine.vault / "Keys.md").unlink()
    counts = machine.run("forget", "--everywhere", SECRET, "--dry-run")["counts"]
    assert counts["index and log"] == 1
    assert machine.run("forget", "--everywhere", SECRET, "--yes")["outcome"] == "erased"
    assert b"flowerpot" not in everything(machine).lower()
    machine.stop()
    for path in sorted(machine.config.state_dir.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    machine.begin()
    machine.run("index")
    hits = machine.run("search", "spare key flowerpot", ok=(0, 5))["hits"]
    assert not any("flowerpot" in hit["text"] for hit in hits)
    assert machine.run("import", str(machine.state / "export.jsonl"))["messages"] == 0
    assert b"flowerpot" not in everything(machine).lower()
