"""Rights on real files: less never permits more, a doubt means less, only the person gives more."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.memory.conftest import House
from tests.waiting import until
from vaultmind.errors import BadArgument, WriteFailed
from vaultmind.memory.folder import default_identity
from vaultmind.memory.polling import Polling
from vaultmind.memory.rights import (
    EVERYBODY,
    LEVELS,
    SCOPES,
    VERDICTS,
    Claim,
    Decision,
    Grants,
    Identity,
    Rights,
    cautious,
    claim_of,
    grants_file,
    judge,
    mark_of,
    parse_identity,
    waiting_for_person,
)
from vaultmind.types import PERSON, SECTIONS, Caller, MemoryWrite

AGENTS = ("main", "jaskier", "dexter")
NAME = st.sampled_from(AGENTS)
RIGHTS = st.builds(
    Rights,
    st.sampled_from(LEVELS),
    st.frozensets(st.tuples(NAME, st.sampled_from(SCOPES)), max_size=8),
    st.frozensets(st.sampled_from([*AGENTS, EVERYBODY]), max_size=1),
)
FACTS = {
    "user": "Is called Anna",
    "preferences": "Prefers short answers",
    "decisions": "Rents the flat in Gdynia",
    "current": "Builds a bread oven",
    "": "Feeds a heron",
}
"""What every brain holds, by section; the last stands under a heading of the person's own."""
NEW = "Sails a boat called Iskra"
ASKS = st.one_of(
    st.tuples(st.just("remember"), st.just(NEW), st.sampled_from([None, *SECTIONS])),
    st.tuples(st.just("replace"), st.just(NEW), st.sampled_from([*FACTS.values()])),
    st.tuples(st.just("forget"), st.sampled_from([*FACTS.values(), "nothing of it"]), st.none()),
)
FILES = settings(
    max_examples=35, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
NOTHING, SUGGESTED, WRITTEN = 0, 1, 2


def front(rights: Rights) -> str:
    """Return an identity.md that asks for rights."""
    write: dict[str, list[str]] = {}
    for who, scope in sorted(rights.write):
        write.setdefault(who, []).append(scope)
    hidden = ["all" if who == EVERYBODY else who for who in sorted(rights.hidden_from)]
    permissions = json.dumps({"write": write, "hidden_from": hidden})
    return f"---\nautonomy: {rights.level}\npermissions: {permissions}\n---\nAn agent.\n"


def brain() -> str:
    lines = []
    for number, (section, fact) in enumerate(FACTS.items()):
        lines.append(f"## {section.capitalize() or 'Birds'}\n\n- {fact} ^b{number}\n")
    return "\n".join(lines)


@contextmanager
def world(rights: dict[str, Rights] | None = None) -> Iterator[House]:
    """Give a vault of three agents whose rights were asked for and allowed by the person."""
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder) / "vault")
        for name, wanted in (rights or {}).items():
            house.put(house.paths.brain(name), brain())
            ask(house, name, front(wanted))
            allow(house, name)
        yield house


def ask(house: House, name: str, text: str) -> None:
    house.put(house.paths.identity(name), text)


def allow(house: House, name: str) -> None:
    house.authority.allow(name, mark_of(house.authority.claim(name)), PERSON)


def effect(house: House, target: str, caller: Caller, asked: tuple[str, str, Any]) -> int:
    """Ask the gate, and return how much of the vault that changed."""
    op, text, more = asked
    path, queue = house.file(house.paths.brain(target)), house.file(house.paths.suggestions)
    before = path.read_bytes()
    outcome = {
        "remember": lambda: house.remember(text, target, caller=caller, section=more),
        "replace": lambda: house.replace(more, text, target, caller=caller),
        "forget": lambda: house.forget(text, target, caller=caller),
    }[op]()
    changed = path.read_bytes() != before
    assert changed == (outcome.outcome == "written"), outcome
    assert queue.exists() == (outcome.outcome == "suggested"), outcome
    return WRITTEN if changed else SUGGESTED if queue.exists() else NOTHING


EDITS = st.one_of(
    RIGHTS.map(front),
    st.sampled_from(
        [
            "",
            "---\nautonomy: 3\n---\n",
            "---\nautonomy: full\npermissions: {write: {main: all, jaskier: all}}\n---\n",
            "---\nautonomy: [\n---\n",
            "no front matter",
            "---\nautonomy: boss\n---\n",
            "---\nlanguage: pl\n---\n",
        ]
    ),
)


@FILES
@given(RIGHTS, st.lists(EDITS, min_size=1, max_size=5), NAME, ASKS)
def test_no_edit_of_an_identity_raises_what_is_in_force(
    allowed: Rights, edits: list[str], caller: str, asked: Any
) -> None:
    others = {name: Rights(3) for name in AGENTS}
    rights = {**others, "dexter": allowed}
    who = Caller("agent", caller)
    with world(rights) as edited, world(rights) as plain:
        known = edited.authority.rights("dexter")
        for text in edits:
            ask(edited, "dexter", text)
            now = edited.authority.rights("dexter")
            assert known.permits(now), "an edit only ever takes away"
        assert effect(edited, "dexter", who, asked) <= effect(plain, "dexter", who, asked)


@FILES
@given(RIGHTS, RIGHTS)
def test_what_the_person_allows_is_in_force_and_stays_so(low: Rights, high: Rights) -> None:
    with world({"dexter": low}) as house:
        before = house.authority.rights("dexter")
        ask(house, "dexter", front(high))
        assert before.permits(house.authority.rights("dexter"))
        waits = house.authority.waiting("dexter")
        allow(house, "dexter")
        asked = house.authority.claim("dexter").rights
        assert house.authority.rights("dexter") == asked
        assert house.authority.waiting("dexter") == ()
        assert waits or before.permits(asked), "what was raised was shown"
        again = House(house.paths.root)
        assert again.authority.rights("dexter") == asked, "after a restart too"


@pytest.mark.parametrize("call", ["allow", "begin"])
def test_no_agent_allows_anything_not_even_with_the_right_mark(house: House, call: str) -> None:
    ask(house, "dexter", front(Rights(3)))
    mark = mark_of(house.authority.claim("dexter"))
    agent = Caller("agent", "dexter")
    with pytest.raises(BadArgument, match="the person"):
        house.authority.allow("dexter", mark, agent) if call == "allow" else (
            house.authority.begin("dexter", agent)
        )
    assert house.authority.level("dexter") == 2


def test_what_a_person_lowers_is_noticed_though_nobody_asks(house: House) -> None:
    ask(house, "dexter", "---\nautonomy: 2\n---\n")
    noticing = Polling("identities", house.authority.notice, 0.01)
    noticing.start()
    ask(house, "dexter", "---\nautonomy: 1\n---\n")
    grants = house.paths.root.with_name(f"grants-{house.paths.root.name}.json")
    until(lambda: grants.exists() and json.loads(grants.read_text("utf-8"))["agents"])
    ask(house, "dexter", "---\nautonomy: 2\n---\n")
    noticing.close()
    assert House(house.paths.root).authority.level("dexter") == 1


# --- what an identity says, and what is kept of it ------------------------------------------


@given(NAME, NAME, st.sampled_from(["remember", "replace", "forget"]), st.sampled_from(SCOPES))
def test_a_lower_level_never_permits_more_and_a_stranger_nothing(
    caller: str, target: str, op: Any, scope: str
) -> None:
    who = Caller("agent", caller)
    verdicts = [
        judge(who, target, op, scope, {name: Rights(level) for name in AGENTS}).verdict
        for level in LEVELS
    ]
    places = [VERDICTS.index(verdict) for verdict in verdicts]
    assert places == sorted(places)
    assert caller == target or "allow" not in verdicts
    assert judge(PERSON, target, op, scope, {}).verdict == "allow"
    assert judge(who, target, op, scope, {}).verdict == "deny"


def test_caution_holds_an_agents_sensitive_facts_and_never_allows_more() -> None:
    for op, text, caller in (
        ("remember", "Has asthma", "suggest"), ("forget", "Has asthma", "allow"),
        ("remember", "Likes tea", "allow"),
    ):  # fmt: skip
        write = MemoryWrite(op, "main", Caller("agent", "main"), text)  # type: ignore[arg-type]
        assert cautious(write, Decision("allow", ""), enabled=True).verdict == caller
        assert cautious(write, Decision("deny", ""), enabled=True).verdict == "deny"
        assert cautious(write, Decision("allow", ""), enabled=False).verdict == "allow"
    mine = MemoryWrite("remember", "main", PERSON, "Has asthma")
    assert cautious(mine, Decision("allow", ""), enabled=True).verdict == "allow"


def front_claim(text: str) -> Claim:
    return claim_of(parse_identity("dexter", f"---\n{text}\n---\nDexter\n"))


def test_raising_takes_effect_after_the_person_allowed_it(tmp_path: Path) -> None:
    state = tmp_path / "state" / "0123456789abcdef"
    path = grants_file(state)
    grants = Grants(path, tmp_path)
    raised = front_claim("autonomy: 3\npermissions: {write: {jaskier: current}}")
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
    low = front_claim("autonomy: 0\npermissions: {hidden_from: main}")
    assert grants.in_force("dexter", low) == low.rights
    assert Grants(path, tmp_path).in_force("dexter", raised) == low.rights, "lowered stays lowered"
    assert "main reading it again" in waiting_for_person(grants.known("dexter"), raised)
    with pytest.raises(BadArgument):
        grants.allow("dexter", front_claim("autonomy: nine"), PERSON)


def test_a_missing_or_broken_identity_lowers_for_as_long_as_it_is(tmp_path: Path) -> None:
    grants = Grants(tmp_path / "grants.json", tmp_path)
    raised = front_claim("autonomy: 3")
    grants.allow("dexter", raised, PERSON)
    assert grants.in_force("dexter", front_claim("broken: [")).level == 0
    assert grants.in_force("dexter", claim_of(Identity("dexter"))).level == 2
    assert grants.in_force("dexter", raised).level == 3


@pytest.mark.parametrize("raw", [b"", b"[]", b"\xff", b'{"agents": 1}', b'{"agents": {}}'])
def test_a_broken_file_raises_nobody_and_says_so(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "grants.json"
    grants = Grants(path, tmp_path)
    grants.allow("dexter", front_claim("autonomy: 3"), PERSON)
    path.write_bytes(raw)
    assert grants.known("dexter") == Rights(1) and str(path) in grants.fault
    grants.allow("dexter", front_claim("autonomy: 3"), PERSON)
    assert grants.known("dexter") == Rights(3) and Grants(path, tmp_path).fault == ""
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteFailed, match=r"grants\.json"):
        Grants(tmp_path / "file" / "grants.json", tmp_path).allow(
            "dexter", front_claim("autonomy: 3"), PERSON
        )


def test_an_identity_reads_leniently_and_a_missing_one_is_empty(house: House) -> None:
    path = house.put(house.paths.identity("main"), b"\xff\xfe")
    assert house.authority.level("main") == 0
    path.write_text("---\r\nlanguage: Polski\r\n---\r\nHej\r\n")
    identity = house.authority.identity("main")
    assert (identity.language, identity.text) == ("pl", "Hej\r\n")
    assert parse_identity("main", "No front matter").text == "No front matter"
    for language in ("en", "pl", "ru", "fr"):
        made = parse_identity("jaskier", default_identity("jaskier", language, 1))
        assert (made.faults, made.autonomy) == ((), 1) and "Jaskier" in made.text
