"""memory/rights: rights fall by a file and rise by the person; less never permits more."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.errors import BadArgument, WriteFailed
from vaultmind.memory.rights.granted import Grants, grants_file
from vaultmind.memory.rights.grants import (
    EVERYBODY,
    SCOPES,
    Claim,
    Rights,
    claim_of,
    from_json,
    in_force,
    judge,
    learned,
    to_json,
    waiting_for_person,
)
from vaultmind.memory.rights.identity import Identity, parse_identity
from vaultmind.memory.rights.policy import LEVELS, VERDICTS
from vaultmind.types import PERSON, SECTIONS, Caller

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


@given(RIGHTS, RIGHTS, RIGHTS, st.lists(NAME, min_size=2, max_size=2), OP, SCOPE)
def test_less_never_permits_more(
    one: Rights, other: Rights, third: Rights, names: list[str], op: str, scope: str
) -> None:
    caller, target = Caller("agent", names[0]), names[1]
    less = one.meet(other)
    for role in names:
        full = {names[0]: third, names[1]: third, role: one}
        low = judge(caller, target, op, scope, {**full, role: less}).verdict  # type: ignore[arg-type]
        high = judge(caller, target, op, scope, full).verdict  # type: ignore[arg-type]
        assert VERDICTS.index(low) <= VERDICTS.index(high)
    assert less.lets_read(names[0], target) <= one.lets_read(names[0], target)
    assert one.permits(less) and other.permits(less)


@given(RIGHTS, st.lists(IDENTITIES, max_size=6))
def test_no_agent_gains_a_right_by_editing_its_identity_alone(
    allowed: Rights, edits: list[Identity]
) -> None:
    known = allowed
    for identity in edits:
        claim = claim_of(identity, allowed.level)
        assert known.permits(in_force(known, claim)), "in force is never more than was known"
        before, known = known, learned(known, claim)
        assert before.permits(known), "and what is known only falls"


@given(RIGHTS, IDENTITIES, IDENTITIES)
def test_what_was_lowered_once_stays_lowered(
    allowed: Rights, low: Identity, high: Identity
) -> None:
    first = claim_of(low)
    known = learned(allowed, first)
    later = in_force(known, claim_of(high))
    assert not first.teaches or in_force(allowed, first).permits(later)


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


@given(RIGHTS)
def test_rights_are_kept_as_they_are(rights: Rights) -> None:
    assert from_json(json.loads(json.dumps(to_json(rights)))) == rights


@pytest.mark.parametrize("value", [None, [], {}, {"level": True}, {"level": 2, "write": []}])
def test_what_is_no_right_is_none(value: object) -> None:
    assert from_json(value) is None


def front(text: str) -> Claim:
    return claim_of(parse_identity("dexter", f"---\n{text}\n---\nDexter\n"))


def test_an_identity_names_who_may_write_what_and_who_may_not_read() -> None:
    claim = front(
        "autonomy: 1\npermissions:\n  write:\n    jaskier: [brain, active_context]\n"
        "    iris: current\n    Main: all\n    dexter: all\n  hidden_from: [stranger]"
    )
    assert claim.faults == () and claim.rights.level == 1
    assert {scope for who, scope in claim.rights.write if who == "jaskier"} == {*SCOPES}
    assert {scope for who, scope in claim.rights.write if who == "main"} == {*SCOPES}
    assert {pair for pair in claim.rights.write if pair[0] in ("iris", "dexter")} == {
        ("iris", "current")
    }
    assert claim.rights.hidden_from == {"stranger"}
    assert front("permissions: {hidden_from: all}").rights.hidden_from == {EVERYBODY}


@pytest.mark.parametrize(
    "text",
    [
        "permissions: {hidden_from: 7}", "permissions: {hidden_from: {a: b}}",
        "permissions: {hidden_from: [Not A Name]}",
    ],
)  # fmt: skip
def test_what_cannot_be_understood_counts_as_the_least_right(text: str) -> None:
    claim = front(text)
    assert claim.rights.hidden_from == {EVERYBODY} and claim.faults


@pytest.mark.parametrize("level", ["9" * 5000, "'" + "9" * 5000 + "'", "4", "\u0662", "-1", "2.0"])
def test_a_level_that_is_none_is_the_least_and_named_in_few_words(level: str) -> None:
    claim = front(f"autonomy: {level}")
    assert claim.rights.level == 0 and claim.faults and len(claim.faults[0]) < 200


def test_faults_of_permissions_are_named() -> None:
    claim = front("permissions: {write: {jaskier: [nonsense], 'no name': all}, read: x}")
    assert claim.rights.write == frozenset() and len(claim.faults) == 3
    assert front("permissions: {write: jaskier}").faults


def test_reasons_say_who_may_what() -> None:
    dexter = Rights(2, frozenset({("jaskier", "current")}), frozenset({"iris"}))
    rights = {"dexter": dexter, "jaskier": Rights(2), "iris": Rights(3), "low": Rights(1)}

    def ask(who: str, scope: str = "current", **more: Rights) -> tuple[str, str]:
        found = judge(Caller("agent", who), "dexter", "remember", scope, {**rights, **more})
        return found.verdict, found.reason

    assert ask("jaskier") == ("allow", "autonomy 2, dexter lets jaskier write there")
    assert ask("jaskier", "user")[0] == "suggest"
    assert ask("jaskier", "brain")[0] == "suggest", "a section is not the whole brain"
    assert ask("jaskier", jaskier=Rights(1))[0] == "suggest"
    assert ask("jaskier", jaskier=Rights(0))[0] == "deny"
    assert ask("iris") == ("deny", "dexter keeps its memory from iris")
    assert ask("dexter") == ("allow", "autonomy 2")


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


def test_a_broken_file_is_set_aside_and_what_it_held_does_not_rise(tmp_path: Path) -> None:
    path = tmp_path / "grants.json"
    first = Grants(path, tmp_path)
    first.in_force("other", front("autonomy: 0\npermissions: {hidden_from: all}"))
    torn = path.read_bytes()[:-9]
    path.write_bytes(torn)
    grants = Grants(path, tmp_path)
    assert grants.in_force("main", front("autonomy: 0")).level == 0
    (aside,) = tmp_path.glob("grants.json.damaged-*")
    assert aside.read_bytes() == torn and aside.name in grants.fault
    assert grants.in_force("other", front("autonomy: 2")).level == 1, "until the next start"
    path.write_bytes(torn)
    assert grants.in_force("third", front("autonomy: 0")).level == 0
    assert len([*tmp_path.glob("grants.json.damaged-*")]) == 2, "none is written over"


def test_an_agent_that_the_file_does_not_explain_is_a_fault_and_the_others_hold(
    tmp_path: Path,
) -> None:
    path = tmp_path / "grants.json"
    Grants(path, tmp_path).allow("dexter", front("autonomy: 3"), PERSON)
    kept = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**kept, "agents": {**kept["agents"], "other": 7}}), "utf-8")
    grants = Grants(path, tmp_path)
    assert [grants.known(name).level for name in ("dexter", "other")] == [3, 1]
    assert "other" in grants.fault


def test_who_has_the_configured_level_follows_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "grants.json"
    claim = front("autonomy: 2\npermissions: {write: {jaskier: current}}")
    Grants(path, tmp_path).allow("dexter", claim, PERSON)
    lower = Grants(path, tmp_path, 1).in_force("dexter", claim)
    assert (lower.level, lower.write) == (1, {("jaskier", "current")})


def test_another_vaults_rights_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    path = tmp_path / "grants.json"
    Grants(path, tmp_path / "other").allow("dexter", front("autonomy: 3"), PERSON)
    assert Grants(path, tmp_path).known("dexter") == Rights(1)


def test_what_cannot_be_kept_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    grants = Grants(tmp_path / "file" / "grants.json", tmp_path)
    with pytest.raises(WriteFailed, match=r"grants\.json"):
        grants.allow("dexter", front("autonomy: 3"), PERSON)


def test_many_threads_keep_every_right(tmp_path: Path) -> None:
    grants = Grants(tmp_path / "grants.json", tmp_path)
    names = [f"agent{i}" for i in range(16)]
    threads = [
        threading.Thread(target=grants.allow, args=(name, front("autonomy: 3"), PERSON))
        for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = Grants(tmp_path / "grants.json", tmp_path)
    assert all(again.known(name).level == 3 for name in names)
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".")]
    assert set(SECTIONS) < set(SCOPES)
