"""What hooks tell becomes episodes: where they begin, what belongs to them, and where they end."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.episodes.talking import (
    Talk,
    episodes,
    git,
    linked_project,
    make_project,
    one_of,
    told,
    watching_app,
    without_vectors,
)
from tests.serve.vaults import write_vault
from tests.session.transcripts import Script
from vaultmind.app import App, open_app
from vaultmind.episodes.types import TaskMark
from vaultmind.serve.call import Call
from vaultmind.serve.op import run_operation

TASK = "Fix the refresh of the JWT token in the auth module"
OTHER = "Write a release announcement about the new payment provider for the newsletter"


SESSIONS = itertools.count(1)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Return an app that all tests here share: each has its own project and conversations."""
    with watching_app(tmp_path_factory.mktemp("watched")) as opened:
        yield opened


@pytest.fixture
def project(app: App, tmp_path: Path) -> Iterator[Path]:
    with linked_project(app, tmp_path / "shop") as folder:
        yield folder


@pytest.fixture
def talk(app: App, project: Path, tmp_path: Path) -> Talk:
    return a_talk(app, project, tmp_path)


def a_talk(app: App, cwd: Path, tmp_path: Path, **more: Any) -> Talk:
    session = f"talk-{next(SESSIONS)}"
    return Talk(app, cwd, Script(tmp_path / f"projects/p/{session}.jsonl", session), **more)


def test_a_conversation_is_an_episode_from_its_task_to_its_end(talk: Talk) -> None:
    talk.asks(TASK)
    talk.uses("Grep", {"pattern": "refresh"}, {"mode": "files_with_matches",
              "filenames": ["src/auth.py"], "numFiles": 1})  # fmt: skip
    talk.reads("src/auth.py")
    talk.uses("Edit", {"file_path": str(talk.cwd / "src/auth.py")}, {"filePath": "x"})
    talk.edits("src/token.py")
    talk.runs("python -m pytest -q", "1 passed in 0.01s")
    sha = talk.commits("Refresh tokens on 401, #12")
    talk.stops()
    running = talk.episode()
    assert (running.state, running.source, running.task.text) == ("running", "shop", TASK)
    assert running.task.kind == "bugfix" and running.client == "claude-code"
    talk.ends()
    ended = talk.episode()
    assert (ended.state, ended.outcome) == ("ended", "unknown")
    assert told(ended)[:4] == [
        ("hit", "src/auth.py"), ("read", "src/auth.py"), ("edit", "src/auth.py"),
        ("edit", "src/token.py"),
    ]  # fmt: skip
    assert one_of(ended, "edit", "src/token.py").change == "added"
    assert (one_of(ended, "run").text, one_of(ended, "run").ok) == ("pytest", True)
    commit = one_of(ended, "commit", "src/token.py")
    assert (commit.commit, commit.change, commit.how) == (sha, "added", "git")
    assert commit.text == "Refresh tokens on 401, #12"
    assert one_of(ended, "read").tokens and one_of(ended, "hit").text == "refresh"
    assert not [one for one in ended.events if one.kind == "delta"]


def test_what_is_not_shown_is_not_told_either(talk: Talk, tmp_path: Path) -> None:
    talk.asks(TASK)
    talk.reads("src/auth.py")
    for name in (".env", "secrets/key.py", "build/out.py", "id_rsa.pem"):
        talk.edits(name, "TOKEN = 'sk-live-0123456789abcdefABCDEF'\n")
        talk.reads(name)
    talk.uses("Grep", {"pattern": "ghp_0123456789abcdefABCDEF0123456789abcd"}, {"filenames": []})
    talk.runs("curl -H 'Authorization: Bearer ghp_0123456789abcdefABCDEF0123456789abcd' x.example")
    talk.runs("DB_PASSWORD=hunter2hunter2 pytest -q --token=s3cr3ts3cr3t", "2 failed")
    talk.stops()
    kept = talk.episode()
    assert told(kept, "read", "edit", "delta") == [("read", "src/auth.py")]
    assert (one_of(kept, "run").text, one_of(kept, "run").ok) == ("pytest", True)
    text = text_of(talk)
    for secret in ("ghp_0123", "hunter2", "s3cr3t", "sk-live", ".env", "id_rsa"):
        assert secret not in text, secret


def test_a_prompt_that_names_another_task_begins_another_episode(talk: Talk) -> None:
    talk.asks(TASK)
    talk.reads("src/auth.py")
    talk.edits("src/auth.py")
    talk.stops()
    for more in (
        "go on", "yes", "/compact", "Now run the tests", "auth.py has a typo",
        "No, revert that and use the middleware instead", "Add a changelog entry",
        "The response still fails with KeyError on an empty header",
        "Does the refresh of the token work on a 401 as well?",
    ):  # fmt: skip
        talk.asks(more)
        talk.reads("tests/test_auth.py")
    assert len(talk.episodes()) == 1
    talk.asks(OTHER)
    talk.reads("README.md")
    talk.edits("docs/news.md", "# News\n")
    talk.stops()
    first, second = talk.episodes()
    assert (first.state, first.outcome) == ("ended", "unknown")
    assert second.task.text == OTHER
    assert {path for _, path in told(second)} == {"README.md", "docs/news.md"}


def test_two_conversations_at_once_do_not_mix(app: App, project: Path, tmp_path: Path) -> None:
    one = a_talk(app, project, tmp_path)
    other = a_talk(app, project, tmp_path)
    one.asks(TASK)
    other.asks("Make the total of the cart round to two digits")
    one.reads("src/auth.py")
    other.reads("src/cart.py")
    other.edits("src/cart.py", "rounded = True\n")
    one.edits("src/auth.py", "fresh = True\n")
    one.stops()
    sha = other.commits("Totals are rounded")  # which commits all there is
    one.runs("ls")
    one.stops()
    other.stops()
    assert {path for kind, path in told(one.episode(), "read", "edit", "delta")} == {"src/auth.py"}
    assert {path for _, path in told(other.episode(), "read", "edit", "delta")} == {"src/cart.py"}
    assert {one.commit for one in other.episode().events if one.kind == "commit"} == {sha}
    assert told(other.episode(), "commit") == [("commit", "src/cart.py")]
    assert told(one.episode(), "commit") == [("commit", "src/auth.py")], "each has its files"


def test_what_hooks_missed_in_a_turn_is_found_when_it_ends(talk: Talk) -> None:
    talk.asks(TASK)
    talk.reads("src/auth.py")
    (talk.cwd / "src/auth.py").write_text("by sed\n", "utf-8")
    (talk.cwd / "src/cart.py").rename(talk.cwd / "src/basket.py")
    (talk.cwd / "src/new.py").write_text("by a generator\n", "utf-8")
    os.utime(talk.cwd / "src/basket.py")
    talk.runs("sed -i s/a/b/ src/auth.py && mv src/cart.py src/basket.py")
    talk.stops()
    kept = talk.episode()
    changes = {(one.path, one.change, one.how) for one in kept.events if one.kind == "delta"}
    assert changes == {
        ("src/auth.py", "modified", "files"), ("src/cart.py", "removed", "files"),
        ("src/basket.py", "added", "files"), ("src/new.py", "added", "files"),
    }  # fmt: skip
    talk.stops()
    assert len(talk.episode().events) == len(kept.events), "once is enough"
    (talk.cwd / "README.md").write_text("by Anna\n", "utf-8")
    talk.app.sources.find("shop").index.refresh(["README.md"])
    talk.asks("go on")
    talk.reads("src/new.py")
    talk.stops()
    assert "README.md" not in {path for _, path in told(talk.episode())}, "it was between two turns"


def test_commits_of_others_are_not_the_agents(talk: Talk, tmp_path: Path) -> None:
    far = tmp_path / "far"
    git(tmp_path, "clone", "-q", str(talk.cwd), str(far))
    (far / "src/cart.py").write_text("by Piotr\n", "utf-8")
    git(far, "commit", "-q", "-am", "Piotr's")
    talk.asks(TASK)
    talk.edits("src/auth.py")
    git(talk.cwd, "commit", "-q", "-m", "Anna's own, in her terminal", "--allow-empty")
    (talk.cwd / "README.md").write_text("# Anna's\n", "utf-8")
    git(talk.cwd, "commit", "-q", "-m", "Anna's readme", "README.md")
    sha = talk.commits("Tokens are refreshed")
    git(talk.cwd, "pull", "-q", "--no-rebase", "--no-edit", str(far), "main")
    talk.runs("git pull --no-rebase")
    talk.stops()
    kept = talk.episode()
    assert {(one.commit, one.path) for one in kept.events if one.kind == "commit"} == {
        (sha, "src/auth.py"),
    }  # fmt: skip
    assert "src/cart.py" not in {path for _, path in told(kept)}, "the merge brought it"


def test_what_hooks_missed_is_told_before_the_agent_ends_it(talk: Talk) -> None:
    talk.asks(TASK)
    talk.reads("src/auth.py")
    (talk.cwd / "src/cart.py").write_text("by a script\n", "utf-8")
    talk.runs("./script.sh")
    name = talk.episode().name
    call = Call(talk.caller)
    ended = {"action": "end", "session_id": talk.session, "outcome": "success"}
    run_operation(talk.app, call, "episode", ended)
    kept = talk.episode()
    assert (kept.name, kept.outcome) == (name, "success")
    assert told(kept)[:2] == [("read", "src/auth.py"), ("delta", "src/cart.py")]


def test_one_that_the_agent_began_itself_is_gone_on_with(talk: Talk) -> None:
    mark = TaskMark("Refresh tokens", fingerprint="f1")
    begun = talk.app.episodes.start(mark, "shop", talk.caller)
    talk.asks(TASK)
    talk.reads("src/auth.py")
    (kept,) = [one for one in episodes(talk.app) if one.name == begun.name]
    assert not talk.episodes() and told(kept) == [("read", "src/auth.py")]


def test_after_a_restart_the_episode_goes_on_with_its_task(tmp_path: Path) -> None:
    write_vault(tmp_path / "vault")
    app = open_app(without_vectors(tmp_path))
    app.sources.link(str(make_project(tmp_path / "shop")))
    talk = a_talk(app, tmp_path / "shop", tmp_path)
    talk.asks(TASK)
    talk.reads("src/auth.py")
    app.close()
    app = talk.app = open_app(without_vectors(tmp_path))
    try:
        talk.edits("src/auth.py")
        new = a_talk(app, talk.cwd, tmp_path)
        new.script.user("Round the total of the cart to two digits")
        new.edits("src/cart.py")  # nobody told of its prompt
        assert told(talk.episode()) == [("read", "src/auth.py"), ("edit", "src/auth.py")]
        assert new.episode().task.text == "Round the total of the cart to two digits"
    finally:
        app.close()


def text_of(talk: Talk) -> str:
    files = talk.app.episodes.files
    return "\n".join(files.file(one.name).text for one in talk.episodes())


def test_git_starts_no_program_that_the_repository_names(talk: Talk, tmp_path: Path) -> None:
    git(talk.cwd, "config", "filter.x.clean", f"sh -c 'touch {tmp_path}/ran; cat'")
    git(talk.cwd, "config", "filter.x.required", "true")
    (talk.cwd / ".gitattributes").write_text("* filter=x\n", "utf-8")
    talk.asks(TASK)
    talk.reads("src/auth.py")
    (talk.cwd / "src/auth.py").write_text("by sed\n", "utf-8")
    talk.runs("sed -i s/a/b/ src/auth.py")
    talk.stops()
    assert ("delta", "src/auth.py") in told(talk.episode())
    assert not (tmp_path / "ran").exists()
