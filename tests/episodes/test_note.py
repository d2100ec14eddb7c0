"""An episode as a note: whatever is kept comes back, whatever a person made of it is read."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.episodes.worked import NOW, episode, event
from vaultmind.episodes.note import (
    event_of,
    judged,
    kept_event,
    kept_task,
    line_of,
    parsed,
    rendered,
    shrunk,
)
from vaultmind.episodes.types import RESULTS, Change, Episode, Event, EventKind, How, TaskMark

AT = NOW.isoformat()
WORDS = st.text(
    st.sampled_from(list("ab 12:.›`[]|#%^\\*_-<>!\"'{}$\nĄ\u05d0🧑\u202e")), max_size=24
) | st.sampled_from(["[[a note]]", "%%", "^e3", "```", "# head", "- [ ] x", "1. one", " %%{}%%"])
PATHS = [
    "src/a.py",
    "notes/Wörter.md",
    "a b/c`d.py",
    "x%%y.md",
    "a %%{}%% b.md",
    "w [1].md",
    "e#f.md",
    "ключ.md",
    "",
]
EVENTS = st.builds(
    Event,
    kind=st.sampled_from(get_args(EventKind)),
    time=st.just(AT),
    path=st.sampled_from(PATHS),
    symbol=WORDS,
    text=WORDS,
    change=st.sampled_from(["", *get_args(Change)]),
    commit=st.sampled_from(["", "abc1234"]),
    tokens=st.sampled_from([0, 12]),
    ok=st.sampled_from([None, True, False]),
    how=st.sampled_from(get_args(How)),
    outcome=st.sampled_from(["", *RESULTS]),
)


@given(st.lists(EVENTS, max_size=5), WORDS, st.booleans())
@settings(max_examples=60, deadline=None)
def test_whatever_is_kept_comes_back_from_the_note(
    events: list[Event], task: str, links: bool
) -> None:
    kept = tuple(replace(kept_event(one, AT), block=f"e{n}") for n, one in enumerate(events, 1))
    mark = kept_task(TaskMark(task, "bugfix", "f1", "high", ("#12", "PROJ-7")))
    one = Episode("2026-11-22_001", "main", "repo", mark, AT, "s", events=kept)
    text = rendered(one, links=links)
    read = parsed(text, "main", "2026-11-22_001")
    assert replace(read, outcome="unknown", rationale="", why_block="") == one
    assert text.count("\n- ") == len(kept)
    over = parsed(judged(text, None, AT, lambda block: False, ends=True), "main", "2026-11-22_001")
    assert (over.state, over.events, over.outcome) == ("ended", kept, read.outcome)


@given(st.text(max_size=200), st.sampled_from(["", "---\n", "---\nepisode: 1\n", "- x %%{"]))
@settings(max_examples=50, deadline=None)
def test_no_text_breaks_the_reading(text: str, start: str) -> None:
    assert parsed(start + text, "main", "x").id == "x"
    event_of(start + text + "}%% ^e1")


def test_the_words_are_for_the_person_and_the_comment_counts() -> None:
    run = event("run", text="pytest", ok=False)
    change = event("edit", "src/a.py", change="modified", commit="abc123")
    assert line_of(change).split(" %%")[0] == "- 12:00:00 edited `src/a.py` (modified) as `abc123`"
    note = event("read", "notes/a.md", symbol="Head")
    assert "[[notes/a.md#Head]]" in line_of(note, links=True)
    assert event_of(line_of(run).replace("ran: pytest (failed)", "all is well")) == run
    assert event_of("- 10:00 decided: a line of a person's") is None


def test_a_note_shrinks_to_what_changed_what_was_decided_and_what_came_of_it() -> None:
    one = episode(
        event("plan", text="jwt"),
        event("read", "a.py"),
        event("hit", "b.md", text="jwt"),
        event("edit", "new.py", change="added"),
        event("edit", "new.py", change="modified"),
        event("edit", "a.py", change="modified"),
        event("edit", "a.py", change="modified"),
        event("run", text="pytest", ok=True),
        event("decision", "a.py", text="The lock was never freed"),
        event("commit", commit="abc1234", text="Refresh once"),
        rationale="It works",
    )
    text = rendered(one).replace(line_of(one.events[1]), line_of(one.events[1]) + "\n    my note")
    after = shrunk(text + "- 09:00 tea\n")
    left = parsed(after, "main", one.id)
    assert [it.block for it in left.events] == ["e2", "e4", "e5", "e7", "e9", "e10", "e11"]
    assert (left.state, left.rationale) == ("shrunk", "It works")
    assert "    my note\n" in after and "- 09:00 tea\n" in after
    assert shrunk(after) == after
