"""`vaultmind minion`: which models there are, with a real one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.machine import Machine
from tests.minion.model import gguf
from vaultmind.minion.gguf import read_head
from vaultmind.minion.state import learn


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    one = Machine(vault, tmp_path / "state")
    one.state.mkdir()
    yield one
    one.stop()


def config_file(machine: Machine) -> Path:
    return machine.state / "none.toml"


@pytest.mark.minion
def test_a_model_that_is_written_down_is_shown(machine: Machine) -> None:
    learn(machine.config.state_dir, read_head(gguf()).key, safe=True)
    lines = f"[minion]\nmodel = {json.dumps(str(gguf()))}\nrerank = 'extractive'\n"
    config_file(machine).write_text(lines, "utf-8")
    found = machine.run("minion", "status")
    assert found["purposes"]["extraction"] == [str(gguf()), "extractive"]
    assert found["purposes"]["rerank"] == ["extractive"]
    (model,) = found["models"]
    assert (model["kind"], model["problem"]) == ("gguf", "")
    assert model["trained_tokens"] == model["context_tokens"] == 8192 and model["safe"]


def test_status_says_what_is_wrong_with_a_model_that_is_configured(machine: Machine) -> None:
    config_file(machine).write_text('minion = "/gone/model.gguf"\n', "utf-8")
    (model,) = machine.run("minion", "status", ok=(1,))["models"]
    assert "There is no model file" in model["problem"]
    assert "whole path" in model["hint"]
    shown = run(machine, "minion", "status")
    assert shown.code == 1
    assert "model.gguf → extractive" in shown.out and "Name it by its whole path" in shown.out
