"""memory/rights: rights fall at once, rise never by a file, a doubt means less."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.memory.folder import default_identity
from vaultmind.memory.rights import (
    LEVELS,
    SCOPES,
    VERDICTS,
    Decision,
    Identity,
    Rights,
    cautious,
    claim_of,
    judge,
    parse_identity,
    read_identity,
)
from vaultmind.types import PERSON, Caller, MemoryWrite
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

NAMES = st.sampled_from(["main", "jaskier", "dexter"])
OPS = st.sampled_from(["remember", "replace", "forget"])
LEVEL = st.sampled_from(LEVELS)


@given(NAMES, NAMES, OPS, LEVEL, LEVEL, st.sampled_from(SCOPES))
def test_a_lower_level_never_permits_more(
    caller: str, target: str, op: str, one: int, other: int, scope: str
) -> None:
    who = Caller("agent", caller)
    low, high = (
        VERDICTS.index(judge(who, target, op, scope, _rights(level)).verdict)  # type: ignore[arg-type]
        for level in sorted((one, other))
    )
    assert low <= high


@given(OPS, st.sampled_from(["Has asthma", "Earns 9000 a month", "Likes tea"]))
def test_caution_holds_an_agents_sensitive_facts_and_never_allows_more(op: str, text: str) -> None:
    write = MemoryWrite(op, "main", Caller("agent", "main"), text, old="x")  # type: ignore[arg-type]
    sensitive = op != "forget" and text != "Likes tea"
    for verdict in VERDICTS:
        after = cautious(write, Decision(verdict, ""), enabled=True)
        assert VERDICTS.index(after.verdict) <= VERDICTS.index(verdict)
        assert (after.verdict == "suggest") == (
            verdict == "suggest" or (verdict == "allow" and sensitive)
        )
    by_person = replace(write, caller=PERSON)
    assert cautious(by_person, Decision("allow", ""), enabled=True).verdict == "allow"


def _rights(level: int) -> dict[str, Rights]:
    return {name: Rights(level) for name in ("main", "jaskier", "dexter")}


def level_of(identity: Identity, granted: int) -> int:
    """Return the level in force for an identity, where the person allowed a level."""
    return Rights(granted).meet(claim_of(identity, granted).rights).level


@given(st.integers(-3, 9) | st.text(max_size=12), LEVEL)
def test_no_identity_rises_above_what_is_granted(autonomy: object, granted: int) -> None:
    identity = parse_identity("main", f"---\nautonomy: {autonomy}\n---\nHello\n")
    assert level_of(identity, granted) <= granted


def test_an_identity_reads_leniently_and_a_missing_one_is_empty(tmp_path: Path) -> None:
    paths = VaultPaths(tmp_path)
    reader = VaultReader(paths, 0)
    assert level_of(read_identity(reader, paths, "main"), 2) == 2
    path = tmp_path / paths.identity("main")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\xfe")
    assert level_of(read_identity(reader, paths, "main"), 2) == 0
    path.write_text("---\r\nlanguage: Polski\r\n---\r\nHej\r\n")
    identity = read_identity(reader, paths, "main")
    assert (identity.language, identity.text) == ("pl", "Hej\r\n")
    assert parse_identity("main", "No front matter").text == "No front matter"


@pytest.mark.parametrize("language", ["en", "pl", "ru", "fr"])
def test_a_new_agent_s_identity_is_sound_and_names_it(language: str) -> None:
    text = default_identity("jaskier", language)
    identity = parse_identity("jaskier", text)
    assert identity.faults == () and identity.autonomy == 2
    assert "Jaskier" in text
    assert parse_identity("jaskier", default_identity("jaskier", language, 1)).autonomy == 1
