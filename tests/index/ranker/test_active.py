"""ranker/active and registry: which ranker is in use, and what a damaged file does."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from vaultmind.index.models import ACTIVE, Active, Switch, parsed, read_active, written
from vaultmind.index.models import Model
from vaultmind.index.models import written as model_text
from vaultmind.index.models import OWN, registry_of, shipped

MINE = Model("mine", "", {"topic": 2.0}, {"topic": 0.2}, (), {})
SAID = Active(
    {"code": "code-1"},
    {"words": "a", "use": "shipped"},
    (Switch("planner", {"code": "shipped"}, "2026-11-22T18:00:00+00:00"),),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    own = tmp_path / OWN
    own.mkdir(parents=True)
    for name in ("a", "b"):
        (own / f"{name}.json").write_text(model_text(replace(MINE, name=name)), "utf-8")
    return tmp_path


def names(folder: Path, **ranker: str) -> None:
    (folder / ACTIVE).write_text(written(Active(ranker=ranker)), "utf-8")


def test_the_ranker_that_is_named_ranks_and_else_the_last_by_name(folder: Path) -> None:
    assert registry_of(folder).choose("").name == "b"
    names(folder, words="a")
    assert registry_of(folder).choose("").name == "a"
    assert registry_of(folder).choose("use-0.2.1") is shipped("use")
    names(folder, words="shipped")
    assert registry_of(folder).choose("") is shipped("")


def test_a_ranker_that_is_gone_gives_way_to_the_shipped_one_and_is_told(folder: Path) -> None:
    names(folder, words="gone")
    registry = registry_of(folder)
    assert registry.choose("") is shipped("")
    assert any("'gone'" in fault for fault in registry.faults)


def test_a_ranker_of_another_embedder_does_not_rank(folder: Path) -> None:
    names(folder, use="a")
    assert registry_of(folder).choose("use-0.2.1") is shipped("use")


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"version": 2}', '{"version": 1, "ranker": 3}', "\x00", "[" * 100_000,
     '{"version": 1, "ranker": {"words": ["a"]}}', " " * 200_000],
)  # fmt: skip
def test_a_damaged_file_means_shipped_models_and_is_told(folder: Path, text: str) -> None:
    (folder / ACTIVE).write_text(text, "utf-8")
    registry = registry_of(folder)
    assert registry.choose("") is shipped("")
    assert any(ACTIVE in fault for fault in registry.faults)


def test_changes_before_that_make_no_sense_are_left_out() -> None:
    told = json.loads(written(SAID))
    told["before"] += [3, {"kind": "x"}, {"kind": "ranker", "was": 1}]
    assert parsed(json.dumps(told)) == SAID


def test_a_symbolic_link_is_not_read(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text(written(SAID), "utf-8")
    (folder / ACTIVE).symlink_to(outside)
    assert read_active(folder) == Active()
