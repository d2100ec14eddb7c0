"""memory/rights: rights fall by a file and rise by the person; less never permits more."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.errors import BadArgument, WriteFailed
from vaultmind.memory.rights import (
    EVERYBODY,
    LEVELS,
    SCOPES,
    Claim,
    Grants,
    Identity,
    Rights,
    claim_of,
    from_json,
    grants_file,
    judge,
    learned,
    parse_identity,
    waiting_for_person,
)
from vaultmind.types import PERSON, Caller

NAMES = ["main", "jaskier", "dexter"]
NAME = st.sampled_from(NAMES)
SCOPE = st.sampled_from(SCOPES)
OP = st.sampled_from(["remember", "replace", "forget"])
RIGHTS = st.builds(
    Rights,
    st.sampled_from(LEVELS),
    st.frozensets(st.tuples(NAME, SCOPE), max_size=6),
    st.frozensets(st.sampled_from([*NAMES, EVERYBODY]), max_size=2),
)
JUNK = st.none() | st.booleans() | st.integers(-2, 9) | st.text(max_size=8) | st.lists(st.text())
WORD = st.sampled_from([*SCOPES, "all", "wszystko", "nonsense", *NAMES]) | JUNK
PERMISSIONS = st.fixed_dictionaries(
    {},
    optional={
        "write": JUNK | st.dictionaries(NAME | st.text(max_size=4), WORD | st.lists(WORD)),
        "hidden_from": WORD | st.lists(WORD, max_size=3),
        "read": JUNK,
    },
)
IDENTITIES = st.builds(
    Identity,
    st.just("main"),
    st.none() | st.sampled_from(LEVELS),
    permissions=PERMISSIONS,
    text=st.sampled_from(["", "I am main."]),
    faults=st.sampled_from([(), ("broken",)]),
)


@given(RIGHTS, st.lists(IDENTITIES, max_size=6))
def test_no_agent_gains_a_right_by_editing_its_identity_alone(
    allowed: Rights, edits: list[Identity]
) -> None:
    known = allowed
    for identity in edits:
        claim = claim_of(identity, allowed.level)
        assert known.permits(known.meet(claim.rights)), "in force is never more than was known"
        before, known = known, learned(known, claim)
        assert before.permits(known), "and what is known only falls"


@given(NAME, NAME, OP, SCOPE, RIGHTS)
def test_a_stranger_never_writes_without_leave_and_a_person_is_not_bound(
    caller: str, target: str, op: str, scope: str, rights: Rights
) -> None:
    both = {caller: Rights(3), target: rights}
    verdict = judge(Caller("agent", caller), target, op, scope, both).verdict  # type: ignore[arg-type]
    if caller != target and (caller, scope) not in rights.write:
        assert verdict != "allow"
    assert judge(PERSON, target, op, scope, {}).verdict == "allow"  # type: ignore[arg-type]
    assert judge(Caller("agent", caller), target, op, scope, {}).verdict == "deny"  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [None, [], {}, {"level": True}, {"level": 2, "write": []}])
def test_what_is_no_right_is_none(value: object) -> None:
    assert from_json(value) is None


def front(text: str) -> Claim:
    return claim_of(parse_identity("dexter", f"---\n{text}\n---\nDexter\n"))


def test_faults_of_permissions_are_named() -> None:
    claim = front("permissions: {write: {jaskier: [nonsense], 'no name': all}, read: x}")
    assert claim.rights.write == frozenset() and len(claim.faults) == 3
    assert front("permissions: {write: jaskier}").faults


def test_raising_takes_effect_after_the_person_allowed_it(tmp_path: Path) -> None:
    state = tmp_path / "state" / "0123456789abcdef"
    path = grants_file(state)
    grants = Grants(path, tmp_path)
    raised = front("autonomy: 3\npermissions: {write: {jaskier: current}}")
    assert grants.in_force("dexter", raised) == Rights(2) and not path.exists()
    assert waiting_for_person(grants.known("dexter"), raised) == (
        "autonomy 3 (in force: 2)", "jaskier writing to current",
    )  # fmt: skip
    with pytest.raises(BadArgument):
        grants.allow("dexter", raised, Caller("agent", "dexter"))
    assert grants.allow("dexter", raised, PERSON) == raised.rights
    assert Grants(path, tmp_path).in_force("dexter", raised) == raised.rights
    assert path.stat().st_mode & 0o777 == 0o600
    assert not state.exists(), "it outlives the state folder"
    low = front("autonomy: 0\npermissions: {hidden_from: main}")
    assert grants.in_force("dexter", low) == low.rights
    assert Grants(path, tmp_path).in_force("dexter", raised) == low.rights, "lowered stays lowered"
    assert "main reading it again" in waiting_for_person(grants.known("dexter"), raised)
    with pytest.raises(BadArgument):
        grants.allow("dexter", front("autonomy: nine"), PERSON)
    grants.forget("dexter")
    assert grants.known("dexter") == Rights(2) == Grants(path, tmp_path).known("dexter")


def test_a_missing_or_broken_identity_lowers_for_as_long_as_it_is(tmp_path: Path) -> None:
    grants = Grants(tmp_path / "grants.json", tmp_path)
    raised = front("autonomy: 3")
    grants.allow("dexter", raised, PERSON)
    assert grants.in_force("dexter", front("broken: [")).level == 0
    assert grants.in_force("dexter", claim_of(Identity("dexter"))).level == 2
    assert grants.in_force("dexter", raised).level == 3


@pytest.mark.parametrize("raw", [b"", b"[]", b"\xff", b'{"agents": 1}', b'{"agents": {}}'])
def test_a_broken_file_raises_nobody_and_says_so(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "grants.json"
    grants = Grants(path, tmp_path)
    grants.allow("dexter", front("autonomy: 3"), PERSON)
    assert grants.known("dexter").level == 3
    path.write_bytes(raw)
    assert grants.known("dexter") == Rights(1) and str(path) in grants.fault
    grants.allow("dexter", front("autonomy: 3"), PERSON)
    assert grants.known("dexter") == Rights(3) and Grants(path, tmp_path).fault == ""


def test_what_cannot_be_kept_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    grants = Grants(tmp_path / "file" / "grants.json", tmp_path)
    with pytest.raises(WriteFailed, match=r"grants\.json"):
        grants.allow("dexter", front("autonomy: 3"), PERSON)
