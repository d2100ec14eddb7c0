"""Rights on real files: less never permits more, a doubt means less, only the person gives more."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.memory.conftest import NOW, House
from vaultmind.errors import BadArgument, WriteFailed
from vaultmind.memory.gate import Gate, GateSettings
from vaultmind.memory.rights import (
    LEVELS,
    SCOPES,
    VERDICTS,
    Rights,
    mark_of,
)
from vaultmind.types import PERSON, Caller

AGENTS = ("main", "jaskier", "dexter")
FILES = settings(
    max_examples=35, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def ask(house: House, name: str, text: str) -> None:
    house.put(house.paths.identity(name), text)


def allow(house: House, name: str) -> None:
    house.authority.allow(name, mark_of(house.authority.identity(name).rights), PERSON)


EDITS = (
    "", "no front matter", "---\nautonomy: 3\n---\n", "---\nautonomy: [\n---\n",
    "---\nautonomy: full\npermissions: {write: {main: all, jaskier: all}}\n---\n",
    "---\nautonomy: boss\n---\n", "---\nlanguage: pl\n---\n", "---\nautonomy: 1\n---\n",
    "---\npermissions: {write: {jaskier: [brain, user]}, hidden_from: [main]}\n---\n",
)  # fmt: skip


@FILES
@given(st.sampled_from(EDITS), st.lists(st.sampled_from(EDITS), min_size=1, max_size=5))
def test_no_edit_of_an_identity_raises_what_is_in_force(allowed: str, edits: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder) / "vault")
        ask(house, "dexter", allowed)
        if not house.authority.identity("dexter").faults:
            allow(house, "dexter")
        known = house.authority.known("dexter")
        for text in edits:
            ask(house, "dexter", text)
            house.authority.notice()
            now = house.authority.rights("dexter")
            assert known.meet(now) == now, "an edit only takes away"
        again = House(house.paths.root).authority
        assert again.rights("dexter") == house.authority.rights("dexter"), "after a restart too"


def test_a_grant_for_one_section_changes_no_other(house: House) -> None:
    house.put(
        house.paths.brain("dexter"), "## User\n- Is called Anna\n## Current\n- Builds a boat\n"
    )
    ask(house, "dexter", "---\npermissions: {write: {main: current}}\n---\nDexter\n")
    allow(house, "dexter")
    main = Caller("agent", "main")
    assert house.forget("Is called Anna", "dexter", caller=main).outcome == "suggested"
    done = house.replace("Builds a boat", "Builds an oven", "dexter", caller=main)
    assert done.outcome == "written"
    assert house.remember("Likes tea", "dexter", caller=main, section="user").outcome == "suggested"
    ask(house, "dexter", "---\npermissions: {hidden_from: main}\n---\nDexter\n")
    assert house.forget("Builds an oven", "dexter", caller=main).outcome == "denied"


def test_caution_holds_an_agents_sensitive_facts_and_nobody_elses(house: House) -> None:
    settings = replace(GateSettings("test"), caution=True)
    house.gate = Gate(house.paths, settings, (), house.indexer, house.authority, lambda: NOW)
    main = Caller("agent", "main")
    assert house.remember("Has asthma", caller=main).outcome == "suggested"
    assert house.remember("Likes tea", caller=main).outcome == "written"
    assert house.remember("Has asthma").outcome == "written"
    assert house.forget("Has asthma", caller=main).outcome == "written"


# --- what an identity says, and what is kept of it ------------------------------------------


@pytest.mark.parametrize("op", ["remember", "replace", "forget"])
def test_a_lower_level_never_permits_more(house: House, op: Any) -> None:
    for caller, target in product(AGENTS, AGENTS):
        places = []
        for level in LEVELS:
            for name in {caller, target}:
                ask(house, name, f"---\nautonomy: {level}\n---\nAn agent.\n")
                allow(house, name)
            for scope in SCOPES:
                verdict = house.authority.decide(Caller("agent", caller), target, op, scope).verdict
                places.append(VERDICTS.index(verdict))
                assert caller == target or verdict != "allow"
                assert house.authority.decide(PERSON, target, op, scope).verdict == "allow"
        assert places == sorted(places)


def test_raising_takes_effect_after_the_person_allowed_it(house: House) -> None:
    grants = house.paths.root.with_name(f"grants-{house.paths.root.name}.json")
    raised = "---\nautonomy: 3\npermissions: {write: {jaskier: current}}\n---\nDexter\n"
    ask(house, "dexter", raised)
    assert house.authority.rights("dexter") == Rights(2) and not grants.exists()
    waits = ("autonomy 3 (in force: 2)", "jaskier writing to current")
    assert house.authority.waiting("dexter") == waits
    allow(house, "dexter")
    assert House(house.paths.root).authority.rights("dexter").level == 3
    assert grants.stat().st_mode & 0o777 == 0o600
    ask(house, "dexter", "---\nautonomy: 0\npermissions: {hidden_from: main}\n---\n")
    assert house.authority.rights("dexter").level == 0
    ask(house, "dexter", raised)
    assert House(house.paths.root).authority.rights("dexter").level == 0, "lowered stays lowered"
    assert "main reading it again" in house.authority.waiting("dexter")
    ask(house, "dexter", "---\nautonomy: nine\n---\n")
    with pytest.raises(BadArgument, match="valid front matter"):
        allow(house, "dexter")


@pytest.mark.parametrize("raw", [b"", b"[]", b"\xff", b'{"agents": 1}', b'{"agents": {"a": {}}}'])
def test_a_broken_file_raises_nobody_and_says_so(house: House, raw: bytes) -> None:
    grants = house.paths.root.with_name(f"grants-{house.paths.root.name}.json")
    ask(house, "dexter", "---\nautonomy: 3\n---\n")
    allow(house, "dexter")
    grants.write_bytes(raw)
    assert house.authority.rights("dexter").level == 1 and str(grants) in house.authority.fault
    grants.unlink()
    grants.mkdir()
    with pytest.raises(WriteFailed, match="grants-"):
        allow(house, "dexter")
    grants.rmdir()
    allow(house, "dexter")
    assert (House(house.paths.root).authority.rights("dexter").level, house.authority.fault) == (
        3,
        "",
    )
