"""The hook's log says what was refused, and nothing of what the host told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.session.transcripts import Script
from vaultmind.client import hook
from vaultmind.errors import BadArgument
from vaultmind.locate import Where
from vaultmind.serve.call import problem
from vaultmind.serve.operations import find
from vaultmind.session.capture import host_key
from vaultmind.session.transcripts import check_transcript

SECRET = "my lawyer is called Zanzibarquux"


class Refusing:
    """Stands for a daemon that refuses what it is told: with its own words."""

    def __init__(self, error: Exception) -> None:
        self._answers = [{"id": 1, "error": problem(error, "hook")}]

    def send(self, message: dict[str, object]) -> None:
        """Take what is told."""

    def receive(self) -> dict[str, object] | None:
        return self._answers.pop() if self._answers else None


def refusal(path: str, session: str, source: str) -> Exception:
    """Return what the daemon raises for a bad value."""
    given = {"event": "Stop", "session_id": session, "transcript_path": path, "source": source}
    try:
        find("hook").check(given)
        host_key("main", session)
        check_transcript(path)
    except BadArgument as error:
        return error
    raise AssertionError("it was not refused")


@pytest.mark.parametrize("bad", ["session_id", "transcript_path", "source"])
def test_a_bad_value_is_not_repeated(tmp_path: Path, bad: str) -> None:
    script = Script(tmp_path / "p/s1.jsonl", "s1")
    values = {"session_id": "s1", "transcript_path": str(script.path), "source": ""}
    values[bad] = SECRET if bad != "source" else SECRET * 20
    error = refusal(values["transcript_path"], values["session_id"], values["source"])
    assert SECRET[:20] in str(error)
    where = Where(str(tmp_path), str(tmp_path), "main")
    with pytest.raises(ValueError, match=bad) as refused:
        hook._asked(Refusing(error), "hook", {})  # type: ignore[arg-type]
    hook._note(where, "Stop", refused.value)
    hook._note(where, "Stop", error)
    first, second = (tmp_path / hook.LOG).read_text("utf-8").splitlines()
    assert bad in first and bad in second
    assert "lawyer" not in first + second
