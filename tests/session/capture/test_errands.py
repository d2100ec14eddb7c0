"""What a hook could not tell waits in the state folder, without a word of what was said."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from vaultmind.session.capture import errands

ERRAND = {"agent": "main", "session_id": "a-1", "transcript_path": "/t.jsonl", "end": False}


def test_conversations_have_errands_of_their_own(tmp_path: Path) -> None:
    for agent, session in (("main", "a-1"), ("main", "a-2"), ("jaskier", "a-1")):
        errands.leave(str(tmp_path), {**ERRAND, "agent": agent, "session_id": session})
    assert len(errands.waiting(str(tmp_path))) == 3


def test_a_name_that_leads_elsewhere_is_nobody_s(tmp_path: Path) -> None:
    errands.leave(str(tmp_path / "state"), {**ERRAND, "session_id": "../../x"})
    assert list(tmp_path.iterdir()) == []


def test_broken_and_torn_files_are_no_errands(tmp_path: Path) -> None:
    folder = tmp_path / errands.FOLDER
    folder.mkdir()
    (folder / "a.json").write_text("{", "utf-8")
    (folder / "b.json.123").write_text("{}", "utf-8")
    ((path, found),) = errands.waiting(str(tmp_path))
    assert path.endswith("a.json") and found == {}


def test_an_event_that_a_full_disk_did_not_take_leaves_nothing_behind(tmp_path: Path) -> None:
    errands.leave(str(tmp_path), {**ERRAND, "source": "startup"})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(OSError):
            errands.leave(str(tmp_path), {**ERRAND, "end": True})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    ((path, found),) = errands.waiting(str(tmp_path))
    assert found["source"] == "startup" and list(Path(path).parent.iterdir()) == [Path(path)]
