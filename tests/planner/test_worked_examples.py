"""The worked examples of docs/planning.md: what is shown there is what comes out."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.machine import Machine, fingerprint
from tests.planner.shop import make_shop

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/planning.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```\n(\$ vaultmind .*?)^```", PAGE, re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^ +[\d,]+  [█▉▊▋▌▍▎▏]* *(.+?) L\d\b", re.MULTILINE)
"""A file's row in what `vaultmind plan` shows: tokens, a bar, its path, its layer."""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """The example vault, and a shop beside it that is not linked yet."""
    if shutil.which("git") is None:
        pytest.skip("the examples need git")
    folder = tmp_path_factory.mktemp("examples")
    machine = Machine(folder / "vault", folder / "state")
    shutil.copytree(ROOT / "vault-example", machine.vault)
    make_shop(folder / "shop")
    machine.begin()
    machine.run("refresh")
    yield machine
    machine.stop()


def test_there_is_an_example_over_the_vault_and_one_over_a_linked_folder() -> None:
    commands = [one.splitlines()[0] for one in EXAMPLES]
    assert any(one.startswith("$ vaultmind plan --task") for one in commands)
    assert any(one.startswith("$ vaultmind plan shop --task") for one in commands)
    assert any(one.startswith("$ vaultmind link ") for one in commands)


def test_the_examples_show_what_comes_out_and_write_nothing(machine: Machine) -> None:
    home = machine.vault.parent
    before = {name: fingerprint(home / name, but=".git") for name in ("vault", "shop")}
    for example in EXAMPLES:
        command, *shown = example.splitlines()
        done = run(machine, *shlex.split(command)[2:], "--vault", str(machine.vault), cwd=home)
        assert done.code == 0, f"{command}: {done.err}"
        if command.startswith("$ vaultmind plan") and " --text" not in command:
            expected, found = FILE.findall(example), FILE.findall(done.out)
            assert expected, example
            assert set(expected) <= set(found), command
            assert expected[0] == found[0], command
            _same_words(command, shown[:1], done.out)
        elif " --text" in command:
            _same_words(command, shown, done.out)
            _stands_in_files(done.out, home / ("shop" if " shop " in command else "vault"))
        else:
            _same_words(command, shown, done.out.replace(str(home), "~"))
        if command.startswith("$ vaultmind link "):
            run(machine, "links", "--wait", "--vault", str(machine.vault))
            run(machine, "refresh", "shop", "--vault", str(machine.vault))
    assert {name: fingerprint(home / name, but=".git") for name in before} == before


def _same_words(command: str, shown: list[str], output: str) -> None:
    """Check that every line shown is a line of the output, in this order; numbers may differ."""
    lines = iter([_plain(line) for line in output.splitlines()])
    for line in shown:
        if line.strip() not in ("", "…"):
            assert _plain(line) in lines, f"{command}: {line!r} not in\n{output}"


def _plain(line: str) -> str:
    return re.sub(r"[0-9a-f]{10}|[\d,.]*\d", "0", line).strip()


def _stands_in_files(text: str, root: Path) -> None:
    """Check that what is shown of numbered lines stands there on disk."""
    checked = 0
    for block in text.split("\n\n"):
        found = re.match(r"(.+?):(\d+)-\d+(?: .*)?\n(.+)", block)
        if found and (root / found[1]).is_file():
            lines = (root / found[1]).read_text("utf-8").splitlines()
            assert found[3] in lines[int(found[2]) - 1], block
            checked += 1
    assert checked, text
