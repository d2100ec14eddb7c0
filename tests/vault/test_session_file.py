"""A session file: whatever is said comes back from it, whatever a person made of it is read."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind.types import Message
from vaultmind.vault.oneline import safe
from vaultmind.vault.transcript import SessionMeta, parse_session, render_header, render_message

META = SessionMeta("2026-02-20_001", "main", "2026-02-20T10:00:00+01:00")
LINES = st.sampled_from([
    '> [!user] 10:00 %%{"id":"x"}%%', "## Segment 3", "^m1", "%%", "a b", "", "> q", "```",
    "[!user]", "---", "\r", "# head", "x ^m2", "%\\%",
])  # fmt: skip
TEXTS = st.lists(LINES, min_size=1, max_size=6).map("\n".join)
HEAD = render_header(META)


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXTS, max_size=4), st.sampled_from(["", "Anna", "10:00", "x · y"]),
       st.sampled_from(["\n", "\r\n"]))  # fmt: skip
def test_whatever_is_said_comes_back(texts: list[str], speaker: str, newline: str) -> None:
    said = [
        Message("user", text, META.started, id=f"i{at}", block=f"m{at}", speaker=speaker)
        for at, text in enumerate(texts, 1)
    ]
    file = (HEAD + "".join(map(render_message, said))).replace("\n", newline)
    read = parse_session(file)
    assert read.meta.id == META.id and read.faults == ()
    got = [(one.message.text, one.message.id, one.message.block) for one in read.messages]
    assert got == [(safe(one.text), one.id, one.block) for one in said]
    assert all(one.message.speaker == speaker for one in read.messages)


def test_what_a_person_or_a_crash_made_of_it_is_read() -> None:
    one, two = (render_message(Message("user", text, META.started, id=text, block=block))
                for text, block in (("one", "m1"), ("two", "m1")))  # fmt: skip
    torn = one.replace("\n\n^m1\n\n", "\n") + two  # the blank lines between two are gone
    read = parse_session(f"{HEAD}{torn}> a quotation\n> [!user] of a call\n\n## Bread\n")
    assert [it.message.text for it in read.messages] == ["one", "two"]
    assert read.topics == ("Bread",)
    twice = parse_session(HEAD + one + two)
    assert [it.message.block for it in twice.messages] == ["m1", ""]
    assert "the block id ^m1 stands twice" in twice.faults[0]
    typed = parse_session(f"{HEAD}> [!assistant] 10:05 · Claude\n> Hi\n\n> [!note] mine\n")
    ((hi,), ()) = typed.messages, typed.faults
    assert (hi.message.role, hi.message.speaker, hi.message.text) == ("assistant", "Claude", "Hi")
    cut = parse_session(f'{HEAD}> [!user] 10:05 · Anna\n\n> [!poem] x %%{{"id":1}}%%\n> y\n')
    assert not cut.messages and len(cut.faults) == 2
