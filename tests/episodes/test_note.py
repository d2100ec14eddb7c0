"""An episode as a note: whatever is kept comes back, whatever a person made of it is read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind.episodes.notes.keeping import kept_event, kept_task, kept_text
from vaultmind.episodes.notes.lines import event_of, line_of, placed_events
from vaultmind.episodes.notes.mending import mended, with_event
from vaultmind.episodes.note import parsed, rendered, standing, with_outcome
from vaultmind.episodes.types import EVENT_KINDS, RESULTS, Episode, Event, Result, TaskMark
from vaultmind.errors import BadArgument

NOW = "2026-11-22T10:00:03+01:00"
WORDS = st.text(
    st.sampled_from(list("ab 12:.›`[]|#%^\\*_-<>!\"'{}$\nĄ\u05d0🧑\u202e")), max_size=24
) | st.sampled_from(["[[a note]]", "%%", "^e3", "```", "# head", "- [ ] x", "1. one", "as `abc`"])
PATHS = st.sampled_from(
    ["src/a.py", "notes/Wörter.md", "a b/c`d.py", "x%%y.md", "w [1].md", "e#f.md", "ключ.md", ""]
)


def event(**more: object) -> Event:
    return replace(Event("read", NOW, "src/a.py", block="e1"), **more)  # type: ignore[arg-type]


EVENTS = st.builds(
    Event,
    kind=st.sampled_from(EVENT_KINDS),
    time=st.just(NOW),
    path=PATHS,
    symbol=WORDS,
    text=WORDS,
    change=st.sampled_from(["", "added", "modified", "removed"]),
    commit=st.sampled_from(["", "abc1234"]),
    tokens=st.sampled_from([0, 12]),
    ok=st.sampled_from([None, True, False]),
    how=st.sampled_from(["hook", "reported", "git", "files", "person", "plan"]),
)


@given(st.lists(EVENTS, max_size=5), WORDS, WORDS, st.booleans(), st.sampled_from(RESULTS))
@settings(max_examples=60, deadline=None)
def test_whatever_is_kept_comes_back_from_the_note(
    events: list[Event], task: str, why: str, links: bool, outcome: Result
) -> None:
    kept = tuple(replace(kept_event(one, NOW), block=f"e{n}") for n, one in enumerate(events, 1))
    mark = kept_task(TaskMark(task, "bugfix", "f1", "high", ("#12", "PROJ-7")))
    running = Episode("2026-11-22_001", "main", "repo", mark, NOW, "s", events=kept)
    ended = replace(
        running,
        state="ended",
        ended=NOW,
        outcome=outcome,
        rationale=kept_text(why),
    )
    for one in (running, ended):
        text = rendered(one, links=links)
        if mark.text not in ("A task", "A long task"):
            assert parsed(text, "main", "2026-11-22_001") == one
        assert text.count("\n- ") == len(kept)


@given(EVENTS, st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_line_that_is_read_and_written_again_is_the_same(one: Event, links: bool) -> None:
    line = line_of(replace(kept_event(one, NOW), block="e7"), links=links)
    again = event_of(line)
    assert again is not None and line_of(again, links=links) == line


@given(st.text(max_size=200), st.sampled_from(["", "---\n", "---\nepisode: 1\n"]))
@settings(max_examples=50, deadline=None)
def test_no_text_breaks_the_reading(text: str, start: str) -> None:
    assert parsed(start + text, "main", "x").id == "x"
    assert isinstance(mended(start + text), str)


def test_a_person_reads_what_was_done() -> None:
    lines = [
        line_of(one).split(" %%")[0]
        for one in (
            event(symbol="refresh"),
            event(kind="edit", change="modified", commit="abc123"),
            event(kind="run", path="", text="pytest", ok=False),
            event(kind="decision", path="", text="We use cookies"),
            event(kind="delta", change="removed"),
        )
    ]
    assert lines == [
        "- 10:00:03 read `src/a.py` › `refresh`",
        "- 10:00:03 changed `src/a.py` as `abc123`",
        "- 10:00:03 ran and failed: pytest",
        "- 10:00:03 decided: We use cookies",
        "- 10:00:03 saw removed `src/a.py`",
    ]
    assert "[[notes/a.md#Head]]" in line_of(event(path="notes/a.md", symbol="Head"), links=True)


def test_what_a_person_corrects_in_a_line_counts_and_a_lost_comment_loses_little() -> None:
    note = rendered(Episode("i", "main", "r", TaskMark("t"), NOW, events=(event(tokens=9),)))
    corrected = note.replace("read `src/a.py`", "changed `src/b.py`: by hand")
    one = parsed(corrected, "main", "i").events[0]
    assert (one.kind, one.change, one.path, one.text) == ("edit", "modified", "src/b.py", "by hand")
    bare = "".join(line.split(" %%")[0] + "\n" for line in note.splitlines())
    one = parsed(bare, "main", "i").events[0]
    assert (one.kind, one.path, one.time, one.how) == (
        "read", "src/a.py", "2026-11-22T10:00:03", "person",
    )  # fmt: skip


def test_an_outcome_that_was_changed_by_hand_is_the_persons() -> None:
    done = Episode("i", "main", "r", TaskMark("t"), NOW, state="ended", ended=NOW,
                   outcome="success", rationale="It went well")  # fmt: skip
    note = rendered(done)
    assert standing(note).by == "agent"
    by_hand = note.replace("outcome: success", "outcome: Failed", 1)
    assert (standing(by_hand).outcome, standing(by_hand).by) == ("failed", "person")
    assert parsed(by_hand, "main", "i").outcome == "failed"


def test_an_outcome_is_written_without_touching_any_other_line() -> None:
    running = Episode("i", "main", "r", TaskMark("t"), NOW, events=(event(),))
    note = rendered(running) + "\nMy own words, no end of line"
    note = note.replace("---\n\n#", "mine: kept\n---\n\n#", 1)
    done = replace(running, state="ended", ended=NOW, outcome="partial", rationale="Half of it")
    once = with_outcome(note, done, "agent")
    twice = with_outcome(once, replace(done, outcome="failed", rationale="None of it"), "person")
    for text, outcome, why in ((once, "partial", "Half of it"), (twice, "failed", "None of it")):
        assert "mine: kept\n" in text and "\nMy own words, no end of line\n" in text
        assert (parsed(text, "main", "i").outcome, parsed(text, "main", "i").rationale) == (
            outcome, why,
        )  # fmt: skip
    assert twice.count("## Outcome") == 1 and "Half of it" not in twice
    crlf = with_outcome(note.replace("\n", "\r\n"), done, "agent")
    assert "\n" not in crlf.replace("\r\n", "") and parsed(crlf, "main", "i").state == "ended"


def test_broken_front_matter_does_not_keep_an_episode_from_ending() -> None:
    note = rendered(Episode("i", "main", "r", TaskMark("t"), NOW, events=(event(),)))
    broken = note.replace("episode: 1", "episode: [1", 1)
    done = replace(parsed(broken, "main", "i"), state="ended", ended=NOW, outcome="success")
    ended = parsed(with_outcome(broken, done, "agent"), "main", "i")
    assert (ended.state, ended.outcome, len(ended.events)) == ("ended", "success", 1)


def test_wherever_a_crash_cuts_the_last_line_what_stood_before_stays() -> None:
    first, second = event(), event(kind="decision", path="", text="Why so", block="e12")
    head = rendered(Episode("i", "main", "r", TaskMark("t"), NOW, events=(first,)))
    line = line_of(second)
    for at in range(len(line) + 1):
        events = parsed(mended(head + line[:at]), "main", "i").events
        assert events[0] == first and len({one.block for one in events}) == len(events)
        assert [(one.kind, one.text) for one in events[1:]] in ([], [("decision", "Why so")])
    assert mended(head + "- my own line") == head + "- my own line"


def test_a_line_comes_behind_the_last_of_ours_and_a_persons_own_stays() -> None:
    one, two = event(), event(path="src/b.py", block="e2")
    note = rendered(Episode("i", "main", "r", TaskMark("t"), NOW, events=(one,)))
    note = with_event(note + "Mine.\n", line_of(two))
    assert [placed.event.block for placed in placed_events(note)] == ["e1", "e2"]
    assert note.endswith("Mine.\n")


def test_of_a_long_text_whole_sentences_are_kept_and_no_half() -> None:
    long = " ".join(f"Sentence {n} says something of its own." for n in range(200))
    kept = kept_text(long)
    assert len(kept) <= 1000 and kept.endswith("own. (too long to be kept)")
    assert kept_text("x" * 5000) == "(too long to be kept)"
    task = kept_task(TaskMark(long, "feature"))
    note = rendered(Episode("i", "main", "r", task, NOW))
    assert "# A long task\n" in note and parsed(note, "main", "i").task == task


def test_nothing_secret_or_private_is_kept() -> None:
    said = "Use AKIAIOSFODNN7EXAMPLE <private>my\ndiary</private> here"
    one = kept_event(Event("decision", NOW, text=said), NOW)
    task = kept_task(TaskMark(said))
    for text in (one.text, task.text, kept_text(said)):
        assert "AKIA" not in text and "diary" not in text and text.endswith("here")


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "~/x", "C:/x", "x" * 501])
def test_a_path_out_of_the_source_is_refused(path: str) -> None:
    with pytest.raises(BadArgument, match="path"):
        kept_event(Event("read", NOW, path), NOW)
