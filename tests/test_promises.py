"""The promises, each on the real program: processes, sockets, files, an MCP client over stdio."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.machine import Machine, fingerprint, text_of
from tests.session.transcripts import Script
from tests.waiting import until
from vaultmind.app import open_app
from vaultmind.client.client import Client
from vaultmind.errors import VaultMindError
from vaultmind.serve.call import Call
from vaultmind.serve.op import run_operation
from vaultmind.types import Caller

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
from make_vault import make_vault

NOTES = {
    "Garden.md": "# Garden\n\nThe plum tree by the gate is a Węgierka, planted in 2019.\n",
    "Praca/Spotkanie.md": "# Spotkanie\n\nUstaliliśmy, że rękopis oddamy czternastego marca.\n",
    "Дневник/Поездка.md": "# Поездка\n\nМы опоздали на поезд в Караганду и ночевали на вокзале.\n",
}
CONVERSATION = [
    ("D1:1", "Anna", "My new phone number is 555-0199, please keep it to yourself."),
    ("D1:2", "Claude", "Of course."),
    ("D1:3", "Anna", "Also, the boat is called Kormoran."),
]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    vault = tmp_path / "Notes 🌱"
    for name, text in NOTES.items():
        path = vault / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (vault / ".obsidian").mkdir()
    machine = Machine(vault, tmp_path / "state")
    yield machine
    machine.stop()


def anew(machine: Machine) -> None:
    """Begin with an empty state folder, as on another machine."""
    machine.stop()
    shutil.rmtree(machine.state)
    machine.begin()


def conversation(folder: Path) -> Path:
    lines = [
        {
            "session": "s1",
            "time": f"2026-01-05T10:0{n}:00",
            "id": id,
            "speaker": who,
            "content": text,
        }
        for n, (id, who, text) in enumerate(CONVERSATION)
    ]
    path = folder / "talk.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    return path


def hits(answer: dict[str, Any], field: str = "text") -> str:
    return "\n".join(hit[field] for hit in answer["hits"])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_person_with_only_the_readme_gets_an_answer_over_stdio(
    machine: Machine, mode: str
) -> None:
    machine.run("init")

    async def talk() -> list[str]:
        async with machine.client(mode=mode) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"memory_search", "memory_update", "context_start"} <= names
            asked = await until_found(client, "when was the plum tree planted?")
            told = await client.call_tool(
                "memory_update", {"op": "remember", "text": "I prefer short answers"}
            )
            known = await client.call_tool("memory_show", {})
            begun = await client.call_tool("context_start", {})
            return [asked, text_of(told), text_of(known), text_of(begun)]

    asked, told, known, begun = asyncio.run(talk())
    assert "2019" in asked and "Garden.md" in asked
    assert "short answers" in told
    assert "short answers" in known
    assert "short answers" in begun
    assert "- I prefer short answers" in machine.brain().read_text("utf-8")


async def until_found(client: Any, query: str) -> str:
    """Ask as a model would: again, while the answer is that the index is being built."""
    for _ in range(200):
        result = await client.call_tool("memory_search", {"query": query})
        if "indexing" not in text_of(result):
            return text_of(result)
        await asyncio.sleep(0.05)
    raise AssertionError("still indexing")


def test_two_pipes_a_command_line_and_an_editor_share_one_vault(machine: Machine) -> None:
    machine.begin()
    machine.run("init")
    machine.run("index")

    async def agent(name: str) -> None:
        async with machine.client(agent=name) as client:
            for number in range(5):
                args = {"op": "remember", "text": f"{name} learned thing number {number}"}
                result = await client.call_tool("memory_update", args)
                assert not result.is_error, text_of(result)

    async def both() -> None:
        await asyncio.gather(agent("main"), agent("jaskier"))

    def editor() -> None:
        for number in range(10):
            note = machine.vault / f"Typed {number}.md"
            note.write_text(f"# Typed {number}\n\nThe code word is kumquat{number}.\n", "utf-8")

    threads = [
        threading.Thread(target=asyncio.run, args=(both(),)),
        threading.Thread(target=editor),
    ]
    for thread in threads:
        thread.start()
    machine.run("remember", "The command line was here")
    for thread in threads:
        thread.join()
    for name in ("main", "jaskier"):
        facts = machine.brain(name).read_text("utf-8")
        assert all(facts.count(f"{name} learned thing number {n} ") == 1 for n in range(5)), facts
    assert "The command line was here" in machine.brain().read_text("utf-8")
    until(lambda: "kumquat9" in hits(machine.run("search", "kumquat9", ok=(0, 5))))


def test_markdown_is_the_truth_so_deleting_the_state_loses_nothing(
    machine: Machine, tmp_path: Path
) -> None:
    machine.begin()
    machine.run("init")
    machine.run("import", str(conversation(tmp_path)))
    machine.run("remember", "My favourite cake is sernik")
    queries = ("Kormoran boat", "favourite cake", "plum tree", "rękopis", "поезд")
    before = [machine.run("search", query)["hits"] for query in queries]
    anew(machine)
    after = [machine.run("search", query)["hits"] for query in queries]
    kept = ("id", "path", "anchor", "text", "message", "speaker", "time")
    was, came = (
        [[hit[k] for k in kept] for one in side for hit in one] for side in (before, after)
    )
    assert was == came
    assert after[0][0]["message"] == "D1:3" and after[0][0]["speaker"] == "Anna"


def test_zero_touch_no_byte_outside_the_memory_folder_changes(
    machine: Machine, tmp_path: Path
) -> None:
    make_vault(machine.vault, 120, seed=3)
    (machine.vault / "Broken.md").write_bytes(b"\xff\xfe not utf-8")
    (machine.vault / "Windows.md").write_bytes(b"\xef\xbb\xbf# Title\r\n\r\nline\r\n")
    before = fingerprint(machine.vault)
    machine.begin()
    machine.run("init")
    machine.run("index")
    machine.run("import", str(conversation(tmp_path)))
    machine.run("search", "needle000100x")
    machine.run("fetch", "Windows.md")
    machine.run("remember", "Zero touch is a promise")
    machine.run("forget", "Zero touch is a promise")
    machine.run("doctor")
    machine.run("reindex")
    machine.run("connect", "claude-code", "--file", str(tmp_path / "x.json"), "--write")
    machine.kill()
    machine.run("status")
    assert fingerprint(machine.vault) == before


@pytest.mark.parametrize(
    "folder", ["", "../Out", "/tmp", ".obsidian", "VaultMind", "vaultmind/agents", "Linked/Notes"]
)
def test_notes_are_saved_nowhere_but_in_a_folder_that_the_person_allowed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    (machine.vault / "Linked").symlink_to(machine.vault.parent, target_is_directory=True)
    monkeypatch.setitem(machine.env, "VAULTMIND_NOTES_FOLDER", folder)
    before = fingerprint(machine.vault)
    note = {"op": "save_note", "title": "Plums", "text": "Prune them in July."}
    with pytest.raises(VaultMindError), closing(open_app(machine.config)) as app:
        run_operation(app, Call(Caller("agent", "main")), "memory_update", note, "mcp")
    assert fingerprint(machine.vault) == before


def test_a_saved_note_is_new_found_at_once_and_taken_back(machine: Machine) -> None:
    machine.env["VAULTMIND_NOTES_FOLDER"] = "Praca"
    before = fingerprint(machine.vault)
    machine.run("index")
    with Client.connect(machine.config, Caller("agent", "main")) as client:

        def save(title: str) -> str:
            note = {"op": "save_note", "title": title, "text": "The parrot is called Kakadu."}
            return str(client.call("memory_update", note)["path"])

        saved = save("Żako: the parrot")
        assert saved in hits(client.call("memory_search", {"query": "Kakadu"}), "path")
        for taken in ("Spotkanie", "SPOTKANIE", "z\u0307ako the parrot"):
            with pytest.raises(VaultMindError, match="already"):
                save(taken)
    assert machine.run("undo")["outcome"] == "written"
    assert fingerprint(machine.vault) == before


def test_forget_means_forget_also_after_the_state_is_rebuilt(
    machine: Machine, tmp_path: Path
) -> None:
    machine.begin()
    machine.run("init")
    machine.run("import", str(conversation(tmp_path)))
    machine.run("remember", "My new phone number is 555-0199")
    assert "555-0199" in hits(machine.run("search", "phone number"))
    outcome = machine.run("forget", "my new phone number is 555-0199")
    assert outcome["outcome"] == "written" and outcome["hidden_messages"] >= 1
    for step in ("forgotten", "rebuilt", "imported again"):
        if step == "rebuilt":
            anew(machine)
        if step == "imported again":
            machine.run("import", str(conversation(tmp_path)))
        machine.run("index")
        assert "Kormoran" in hits(machine.run("search", "what is the boat called")), step
        assert "555-0199" not in json.dumps(machine.run("search", "phone number", ok=(0, 5))), step
        assert "555-0199" not in json.dumps(machine.run("show")), step


TOLD = (
    "I prefer dark mode in every editor",
    "We run Postgres 16 in production",
    "I work at Bosch",
    "My sister Zosia lives in Kraków",
)
REQUESTS = (
    "Remove the dark mode toggle from the settings page",
    "Drop the Postgres container from the compose file",
    "Please delete the Bosch logo from the header. Remove Zosia from the test fixtures.",
    "Forget about the sourdough, let's make pizza",
    "Zapomnij o Zosi w testach, zróbmy nowe dane",
    "Убери Postgres из docker-compose",
)


def test_nothing_is_deleted_by_guess(machine: Machine, tmp_path: Path) -> None:
    machine.run("init")
    for text in TOLD:
        machine.run("remember", text)
    before = machine.brain().read_text("utf-8")
    script = Script(tmp_path / "projects/p/5f1c-1.jsonl")
    host = Client.connect(machine.config, Caller("agent", "main", "claude-code"))
    args = {"session_id": script.session_id, "transcript_path": str(script.path)}
    for text in REQUESTS:
        script.user(text)
        host.call("hook", {"event": "UserPromptSubmit", "prompt": text, **args})
        script.says("Done.")
        host.call("hook", {"event": "Stop", **args})
    host.call("hook", {"event": "SessionEnd", **args})
    host.close()
    machine.run("consolidate")
    after = machine.brain().read_text("utf-8")
    assert [line for line in before.splitlines() if line not in after.splitlines()] == []
    assert not list(machine.vault.rglob("tombstones-*.jsonl"))
    machine.run("say", "Forget that my sister Zosia lives in Kraków")
    after = machine.brain().read_text("utf-8")
    assert [text in after for text in TOLD] == [True, True, True, False]


def test_never_stale_an_answer_never_shows_what_the_vault_no_longer_holds(
    machine: Machine,
) -> None:
    machine.begin()
    machine.run("index")
    note = machine.vault / "Garden.md"
    with Client.connect(machine.config) as client:
        for number in range(40):
            year = f"19{number:02d}"
            note.write_text(f"# Garden\n\nThe plum tree was planted in {year}.\n", "utf-8")
            answer = client.call("memory_search", {"query": "when was the plum tree planted"})
            assert all(year in hit["text"] for hit in answer["hits"] if hit["path"] == "Garden.md")
        note.unlink()
        answer = client.call("memory_search", {"query": "plum tree planted"})
        assert "Garden.md" not in {hit["path"] for hit in answer["hits"]}


def test_a_hand_edit_during_writes_is_kept(machine: Machine) -> None:
    machine.begin()
    machine.run("init")
    machine.run("remember", "The first fact")
    brain = machine.brain()
    typed: list[str] = []
    done = threading.Event()

    def person() -> None:
        rng = random.Random(1)
        while not done.is_set() and len(typed) < 200:
            line = f"- Typed by hand, number {len(typed)}"
            text = brain.read_text("utf-8")
            fresh = brain.with_name("brain.md.sync-tmp")
            fresh.write_text(f"{text.rstrip()}\n{line}\n", "utf-8")
            if brain.read_text("utf-8") == text:  # as an editor that reloads on change
                fresh.replace(brain)
                typed.append(line)
            done.wait(rng.uniform(0.02, 0.1))

    thread = threading.Thread(target=person)
    thread.start()
    with Client.connect(machine.config) as client:
        for number in range(40):
            args = {"op": "remember", "text": f"Written through the gate, fact {number}"}
            assert client.call("memory_update", args)["outcome"] == "written"
    done.set()
    thread.join()
    ours = [f"Written through the gate, fact {n} " for n in range(40)]
    text = brain.read_text("utf-8")
    archived = brain.with_name("brain_archive.md").read_text("utf-8")  # a full brain moves some
    lost_ours = [fact for fact in ours if fact not in text + archived]
    assert len(typed) > 5
    assert not [line for line in typed if line not in text.split("\n")]
    assert len(lost_ours) <= 2, "the person's own editor may overwrite, we may not"


def test_kill_minus_nine_at_any_moment_loses_no_memory(machine: Machine) -> None:
    make_vault(machine.vault, 300, seed=5)
    machine.begin()
    machine.run("init")
    rng = random.Random(9)
    written: list[str] = []
    for number in range(20):
        killer = threading.Timer(rng.uniform(0.0, 0.5), machine.kill)
        if number % 5 and not machine.pid():  # else whoever comes next starts one
            machine.begin()
        try:
            with Client.connect(machine.config) as client:
                killer.start()
                for step in range(50):
                    fact = f"Survivor {number} dash {step}"
                    outcome = client.call("memory_update", {"op": "remember", "text": fact})
                    assert outcome["outcome"] in ("written", "unchanged")
                    written.append(fact)
        except VaultMindError:
            pass
        killer.join()
        brain = machine.brain().read_text("utf-8") if machine.brain().exists() else ""
        lines = brain.split("\n")
        for fact in written:
            assert sum(line.startswith(f"- {fact} ") for line in lines) == 1, fact
    machine.run("index")
    for number in rng.sample(range(300), 5):
        query = f"needle{number:06d}x"
        assert query in hits(machine.run("search", query))
    report = machine.run("doctor", ok=(0, 1))
    assert not [c for c in report["checks"] if c["result"] == "fail"], report
    audit = "".join(p.read_text("utf-8") for p in machine.brain().parent.glob("audit-*.jsonl"))
    recorded = [json.loads(line).get("after") for line in audit.splitlines() if line.strip()]
    assert sum(fact not in recorded for fact in written) == 0


def test_it_always_answers_without_vectors_and_says_what_is_missing(machine: Machine) -> None:
    answer = machine.run("search", "plum tree")
    assert "2019" in hits(answer)
    assert any("embedder" in note for note in answer["state"]["notes"])


def test_secrets_in_notes_are_masked_on_every_way_out(machine: Machine) -> None:
    key = "sk-ant-api03-" + "Zk9" * 20
    (machine.vault / "Router.md").write_text(f"# Router\n\nThe api_key = {key}\n", "utf-8")
    machine.begin()
    assert key not in json.dumps(machine.run("search", "router api key"))
    assert key not in json.dumps(machine.run("fetch", "Router.md"))

    async def read() -> str:
        async with machine.client() as client:
            result = await client.read_resource("note:///Router.md")
            return str(result.contents[0].text)

    assert key not in asyncio.run(read())
