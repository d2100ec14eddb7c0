"""A file's odd name costs an episode that file and nothing else."""

from __future__ import annotations

import pytest

from vaultmind.episodes.notes.keeping import can_keep, kept_event
from vaultmind.episodes.notes.lines import event_of, line_of
from vaultmind.episodes.types import Event

NOW = "2026-11-22T10:00:03+01:00"


@pytest.mark.parametrize("path", ["log 10:30.py", "aa:b/c.py", "notes/C:/x.md", "12:00"])
@pytest.mark.parametrize("links", [False, True])
def test_a_colon_in_a_name_is_legal(path: str, links: bool) -> None:
    event = kept_event(Event("edit", NOW, path, change="modified"), NOW)
    again = event_of(line_of(event, links=links))
    assert again is not None and again.path == path


@pytest.mark.parametrize(
    "path", ["C:/x", "c:x", "C:\\x", "https://example.org/x", "file:///x", "a\u202ec.py", "a\nb"]
)
def test_what_no_line_can_hold_or_is_elsewhere_cannot_be_kept(path: str) -> None:
    assert not can_keep(Event("read", NOW, path))
    assert can_keep(Event("read", NOW, "src/a.py"))
