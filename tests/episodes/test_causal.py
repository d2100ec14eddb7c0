"""episodes/causal: why a file was changed, as far as somebody said so."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.episodes.worked import TODAY, episode, event
from vaultmind.episodes.causal import confidence, issues_in, links_of
from vaultmind.episodes.note import WHY_BLOCK
from vaultmind.episodes.types import EVENT_KINDS, RESULTS, CausalLink

EDIT = event("edit", "src/token.py", at=5)
SHA = "abc1234" + "0" * 33


def only(links: tuple[CausalLink, ...]) -> CausalLink:
    (link,) = links
    return link


def test_a_change_is_linked_to_the_issue_and_the_commit_that_name_it() -> None:
    commit = event("commit", "src/token.py", at=9, commit=SHA, text="Refresh once", change="added")
    link = only(links_of(episode(EDIT, commit, issues=("#12",))))
    assert (link.episode, link.path) == (f"main/{TODAY}", "src/token.py")
    assert (link.issue, link.commit, link.rationale) == ("#12", SHA, "Refresh once")
    assert link.time == commit.time


def test_the_reason_is_the_nearest_that_was_given() -> None:
    commit = event("commit", at=9, commit=SHA, text="Refresh once")
    whole = event("decision", at=3, text="Keep the queue")
    own = event("decision", "src/token.py", at=2, text="The lock was never freed")
    assert only(links_of(episode(EDIT, commit))).rationale == "Refresh once"
    assert only(links_of(episode(EDIT, commit, whole))).rationale == "Keep the queue"
    told = only(links_of(episode(EDIT, commit, whole, rationale="Tests pass")))
    assert (told.rationale, told.block) == ("Tests pass", WHY_BLOCK)
    nearest = only(links_of(episode(EDIT, own, commit, whole, rationale="Tests pass")))
    assert (nearest.rationale, nearest.block) == ("The lock was never freed", "e2")


def test_without_a_word_of_why_there_is_no_reason() -> None:
    link = only(links_of(episode(EDIT)))
    assert (link.issue, link.commit, link.rationale, link.block) == ("", "", "", "")


def test_a_file_is_linked_to_the_commits_that_hold_it_alone() -> None:
    first = event("commit", "src/token.py", at=8, commit="1" * 40, text="One (#1)")
    second = event("commit", "src/auth.py", at=9, commit="2" * 40, text="Two (#2)")
    links = links_of(episode(EDIT, first, second))
    assert [(one.path, one.commit, one.issue) for one in links] == [
        ("src/token.py", "1" * 40, "#1"),
        ("src/auth.py", "2" * 40, "#2"),
    ]


def test_a_commit_named_short_and_whole_is_one() -> None:
    short = event("commit", at=8, commit="abc1234", text="Refresh once")
    whole = event("commit", "src/token.py", at=8, commit=SHA)
    link = only(links_of(episode(EDIT, short, whole)))
    assert (link.commit, link.rationale) == (SHA, "Refresh once")


def test_a_file_that_was_made_and_then_edited_was_added() -> None:
    made = event("edit", "src/new.py", at=1, change="added")
    edited = event("edit", "src/new.py", at=2, change="modified")
    gone = event("delta", "src/new.py", at=3, change="removed")
    assert only(links_of(episode(made, edited))).change == "added"
    assert only(links_of(episode(made, edited, gone))).change == "removed"


def test_each_independent_statement_makes_a_link_surer() -> None:
    commit = event("commit", "src/token.py", at=9, commit=SHA, text="Refresh once")
    own = event("decision", "src/token.py", at=2, text="The lock was never freed")
    compared = event("delta", "src/token.py", at=2)
    sure = [
        only(links_of(one)).confidence
        for one in (
            episode(compared),
            episode(EDIT),
            episode(EDIT, commit),
            episode(EDIT, commit, issues=("#12",)),
            episode(EDIT, commit, own, issues=("#12",)),
        )
    ]
    assert sure == sorted(sure) and len(set(sure)) == 5 and sure[0] > 0.0 and sure[-1] < 1.0


def test_a_commits_message_is_no_second_witness_of_the_commit() -> None:
    told = event("commit", "src/token.py", commit=SHA, text="Refresh once")
    silent = event("commit", "src/token.py", commit=SHA)
    compared = event("delta", "src/token.py", how="git")
    one = only(links_of(episode(told))).confidence
    assert one == only(links_of(episode(silent))).confidence
    assert one == only(links_of(episode(told, compared))).confidence, "git says both"


@pytest.mark.parametrize(
    ("text", "issues"),
    [
        ("Fix #12 and PROJ-77, see GH-9.", ("#12", "PROJ-77", "GH-9")),
        ("(#12)", ("#12",)),
        ("Read UTF-8 and ISO-8859, sha256-3, colour #123456789", ()),
        ("https://x.test/a#12 and a/b#4", ()),
        ("#12 #12", ("#12",)),
    ],
)
def test_issues_are_read_as_they_are_written(text: str, issues: tuple[str, ...]) -> None:
    assert issues_in(text) == issues


EVENTS = st.builds(
    event,
    st.sampled_from(EVENT_KINDS),
    st.sampled_from(["", "a.py", "b.py"]),
    at=st.integers(0, 90),
    commit=st.sampled_from(["", "abc1234", SHA, "f" * 40]),
    text=st.sampled_from(["", "Fix #1", "Because"]),
    change=st.sampled_from(["", "added", "modified", "removed"]),
)


@settings(max_examples=40)
@given(st.lists(EVENTS, max_size=20), st.sampled_from(RESULTS))
def test_whatever_was_done_only_what_changed_is_linked(events: list[object], outcome: str) -> None:
    links = links_of(episode(*events, outcome=outcome))  # type: ignore[arg-type]
    changed = {one.path for one in events if one.kind in ("edit", "delta", "commit")}  # type: ignore[attr-defined]
    assert {one.path for one in links} == changed - {""}
    assert all(0.0 < one.confidence < 1.0 for one in links)
    assert len(set(links)) == len(links)


@settings(max_examples=40)
@given(st.lists(st.floats(0.0, 1.0), max_size=6), st.floats(0.0, 1.0))
def test_one_more_statement_never_makes_less_sure(told: list[float], more: float) -> None:
    assert 0.0 <= confidence(told) <= confidence([*told, more]) <= 1.0
