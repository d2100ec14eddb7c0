"""A person who saves while we write, a process that is killed, a disk that is full."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
from pathlib import Path

import pytest

from tests.waiting import until
from vaultmind.errors import WriteFailed
from vaultmind.vault import writer as writing
from vaultmind.vault.files import TEMP_PREFIX, FileText
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.writer import VaultWriter

ROOT = Path(__file__).parents[2]
NAME = "VaultMind/brain.md"
WRITES = 200
KILLS = 8


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    path = tmp_path / NAME
    path.parent.mkdir()
    path.write_text("start\n")
    return path


class Person:
    """Saves as editors do: all lines of theirs, in place or by an atomic rename."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path, self.random = path, random.Random(seed)
        self.lines: list[str] = []

    def save(self) -> str:
        self.lines.append(f"person {len(self.lines)}")
        text = "".join(f"{line}\n" for line in self.lines)
        how = self.random.choice(("truncate", "rewrite", "rename"))
        if how == "rename":
            temp = self.path.with_name("editor.tmp")
            temp.write_text(text)
            temp.replace(self.path)
        elif how == "truncate":
            with self.path.open("w") as file:
                for line in text.splitlines(keepends=True):
                    file.write(line)
                    if self.random.random() < 0.1:
                        file.flush()
        else:
            with self.path.open("r+") as file:
                file.write(text)
                file.truncate()
        return self.lines[-1]


US = """
    import sys
    from pathlib import Path
    from vaultmind.errors import WriteConflict
    from vaultmind.vault.paths import VaultPaths
    from vaultmind.vault.writer import VaultWriter

    writer, number = VaultWriter(VaultPaths(Path(sys.argv[1]))), 0
    while number < int(sys.argv[2]):
        try:
            writer.edit("VaultMind/brain.md", lambda f: (f.text if f else "") + f"ours {number}\\n")
            number += 1
        except WriteConflict:
            pass
"""


@pytest.mark.parametrize("patient", [True, False], ids=["looks-after-each-save", "never-stops"])
def test_a_hand_edit_during_a_write_is_kept(brain: Path, patient: bool) -> None:
    """Another process of ours writes hundreds of times while a person saves."""
    person, lost = Person(brain, 7), []

    def shown() -> list[str]:
        return brain.read_text().split("\n")

    def stands(line: str) -> bool:
        """Wait for the line with two of ours behind it.

        Between an exchange and its undoing the file is older for an instant; a save that was
        lost stays away, since the person does not save again meanwhile.
        """
        try:
            until(lambda: process.poll() == 0 or (line in (text := shown()) and is_ours(text)), 5)
        except AssertionError:
            return False
        return True

    def is_ours(text: list[str]) -> bool:
        return sum("ours" in one for one in text) > 1

    with worker(US, brain.parents[1], WRITES) as process:
        while process.poll() is None:
            line = person.save()
            if patient:  # two writes of ours on top of the save, and it must be there for good
                lost += [] if stands(line) else [line]
            else:
                threading.Event().wait(person.random.random() * 0.003)
    assert process.returncode == 0
    assert lost == [] and set(person.lines) <= set(shown())
    assert len(person.lines) > 4, "the person hardly saved"
    assert not list(brain.parent.glob(f"{TEMP_PREFIX}*"))


def test_a_save_between_the_exchange_and_the_look_at_what_came_out_is_put_back(
    brain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The narrowest moments, taken on purpose: the system's own calls, with a save between."""
    saves = iter(["first\n", "second\n"])
    exchange = writing.exchange

    def with_a_save(temp: Path, path: Path) -> bool:
        if text := next(saves, ""):
            fresh = path.with_name("editor.tmp")
            fresh.write_text(text)
            fresh.replace(path)
        return exchange(temp, path)

    monkeypatch.setattr(writing, "exchange", with_a_save)
    VaultWriter(VaultPaths(brain.parents[1])).edit(
        NAME, lambda file: f"{file.text if file else ''}ours\n"
    )
    assert brain.read_text() == "second\nours\n"


def test_an_editor_that_holds_the_file_open_is_waited_for(brain: Path) -> None:
    writer = VaultWriter(VaultPaths(brain.parents[1]))
    seen: list[str] = []

    def change(file: FileText | None) -> str:
        seen.append(file.text if file else "")
        return f"{seen[-1]}ours\n"

    thread = threading.Thread(target=writer.edit, args=(NAME, change))
    with brain.open("w") as held:
        thread.start()
        threading.Event().wait(0.1)
        assert not seen, "half a save was taken for the file"
        held.write("theirs, saved late\n")
    thread.join()
    assert brain.read_text() == "theirs, saved late\nours\n"


def test_without_the_systems_help_a_hand_edit_seen_in_time_is_kept(
    brain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a network drive: no exchange, nobody to say who has the file open."""
    monkeypatch.setattr(writing, "exchange", lambda one, other: False)
    monkeypatch.setattr(writing, "quiet", lambda descriptor: None)
    writer, calls = VaultWriter(VaultPaths(brain.parents[1])), []

    def change(file: FileText | None) -> str:
        calls.append(file)
        if len(calls) == 1:
            brain.write_text("theirs\n")
        return f"{file.text if file else ''}ours\n"

    writer.edit(NAME, change)
    assert brain.read_text() == "theirs\nours\n"


@pytest.mark.parametrize("how", ["rename", "truncate"])
def test_a_message_is_appended_again_when_a_save_took_it_away(
    brain: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The save comes after our bytes are written and before they are flushed."""
    writer, fsync, saves = VaultWriter(VaultPaths(brain.parents[1])), os.fsync, ["theirs\n"]

    def with_a_save(descriptor: int) -> None:
        if saves and how == "rename":
            brain.with_name("editor.tmp").write_text(saves.pop())
            brain.with_name("editor.tmp").replace(brain)
        elif saves:
            brain.write_text(saves.pop())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", with_a_save)
    writer.append(NAME, "message\n")
    assert brain.read_text() == "theirs\nmessage\n"


def test_a_pipe_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "VaultMind").mkdir()
    os.mkfifo(tmp_path / NAME)
    with pytest.raises(WriteFailed, match="not a regular file"):
        VaultWriter(VaultPaths(tmp_path)).append(NAME, "message\n")


# --- killed -------------------------------------------------------------------------------

WORKER = """
    import sys
    from pathlib import Path
    from vaultmind.vault.paths import VaultPaths
    from vaultmind.vault.writer import VaultWriter

    writer = VaultWriter(VaultPaths(Path(sys.argv[1])))
    number = int(sys.argv[2])
    while True:
        number += 1
        body = f"{number}\\n" + "x" * 20000 + "\\nend\\n"
        writer.edit("VaultMind/brain.md", lambda file: body)
        writer.append("VaultMind/log.jsonl", f'{{"n":{number}}}\\n')
        print(number, flush=True)
"""


def worker(script: str, *args: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, args)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_a_kill_at_any_moment_leaves_every_file_whole(tmp_path: Path) -> None:
    log, brain = tmp_path / "VaultMind/log.jsonl", tmp_path / NAME
    dice, told = random.Random(3), 0
    for _ in range(KILLS):
        with worker(WORKER, tmp_path, told) as process:
            assert process.stdout is not None
            for _ in range(dice.randint(1, 30)):
                told = int(process.stdout.readline())
            threading.Event().wait(dice.random() * 0.003)
            process.send_signal(signal.SIGKILL)
            rest = process.stdout.read().split("\n")
            told = max([told, *(int(one) for one in rest[:-1])])
        first, _, body = brain.read_text().partition("\n")
        assert int(first) >= told and body == "x" * 20000 + "\nend\n"
        numbers = [int(line[5:-1]) for line in log.read_text().splitlines()]
        assert numbers[-1] >= told and sorted(set(numbers)) == list(range(1, numbers[-1] + 1))
    VaultWriter(VaultPaths(tmp_path)).append("VaultMind/log.jsonl", '{"n":0}\n')
    assert log.read_text().endswith('\n{"n":0}\n')


# --- full and read-only disks -------------------------------------------------------------

REFUSED = """
    import os, resource, sys
    from pathlib import Path
    from vaultmind.errors import WriteFailed
    from vaultmind.vault.paths import VaultPaths
    from vaultmind.vault.writer import VaultWriter

    writer = VaultWriter(VaultPaths(Path(sys.argv[1])))
    if sys.argv[2] == "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    elif os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    for act in (
        lambda: writer.edit("VaultMind/brain.md", lambda file: "y" * 10000),
        lambda: writer.edit("VaultMind/new.md", lambda file: "y" * 10000),
        lambda: writer.append("VaultMind/brain.md", "z" * 10000),
    ):
        try:
            act()
        except WriteFailed as error:
            print(error)
"""


@pytest.mark.parametrize(("how", "why"), [("full", "too large"), ("closed", "permission denied")])
def test_what_cannot_be_written_is_named_and_the_old_file_is_whole(how: str, why: str) -> None:
    with tempfile.TemporaryDirectory(dir=tempfile.gettempdir()) as name:
        folder, brain = Path(name) / "VaultMind", Path(name) / NAME
        folder.mkdir()
        brain.write_text("start\n")
        if how == "closed":
            for path, mode in ((brain, 0o444), (folder, 0o555), (Path(name), 0o555)):
                path.chmod(mode)
        with worker(REFUSED, name, how) as process:
            assert process.stdout is not None
            said = process.stdout.read().splitlines()
        assert [line.split(" could not")[0] for line in said] == [NAME, "VaultMind/new.md", NAME]
        assert all(why in line and "The file is as it was" in line for line in said)
        assert brain.read_text() == "start\n"
        assert [one.name for one in folder.iterdir()] == ["brain.md"]
        for path in (Path(name), folder):
            path.chmod(0o755)
