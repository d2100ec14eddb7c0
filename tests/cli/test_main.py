"""The program as a whole: global options, where a vault is found, errors, start-up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import environment, run
from tests.machine import Machine

HEAVY = {"numpy", "chromadb", "mcp", "pydantic", "watchdog", "asyncio", "yaml", "pathspec"}


def test_a_vault_is_named_by_flag_environment_or_configuration(
    machine: Machine, tmp_path: Path
) -> None:
    vault = str(machine.vault)
    config = tmp_path / "config.toml"
    config.write_text(f"vault = {json.dumps(vault)}\n", "utf-8")
    assert run(machine, "--vault", vault, "show", cwd=tmp_path).code == 0
    assert run(machine, "show", "--vault", vault, cwd=tmp_path).code == 0
    assert run(machine, "show", cwd=tmp_path, VAULTMIND_VAULT=vault).code == 0
    assert run(machine, "show", cwd=tmp_path, VAULTMIND_CONFIG=str(config)).code == 0


@pytest.mark.parametrize("arguments", [["--help"], ["search", "plum", "--json"], ["status"]])
def test_a_command_imports_nothing_heavy(machine: Machine, arguments: list[str]) -> None:
    machine.run("daemon", "start")
    code = (
        "import sys; from vaultmind.cli.main import main; "
        f"main({arguments!r}); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(machine),
        cwd=machine.vault,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert not loaded & HEAVY
