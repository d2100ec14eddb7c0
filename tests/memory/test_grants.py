"""memory/rights: rights fall by a file and rise by the person; less never permits more."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import strategies as st

from vaultmind.memory.rights.granted import Grants
from vaultmind.memory.rights.grants import (
    EVERYBODY,
    SCOPES,
    Claim,
    Rights,
    claim_of,
    from_json,
)
from vaultmind.memory.rights.identity import parse_identity
from vaultmind.memory.rights.policy import LEVELS
from vaultmind.types import PERSON

NAMES = ["main", "jaskier", "dexter"]
NAME = st.sampled_from(NAMES)
SCOPE = st.sampled_from(SCOPES)
RIGHTS = st.builds(
    Rights,
    st.sampled_from(LEVELS),
    st.frozensets(st.tuples(NAME, SCOPE), max_size=6),
    st.frozensets(st.sampled_from([*NAMES, EVERYBODY]), max_size=2),
)
JUNK = st.none() | st.booleans() | st.integers(-2, 9) | st.text(max_size=8) | st.lists(st.text())
WORD = st.sampled_from([*SCOPES, "all", "wszystko", "nonsense", *NAMES]) | JUNK


@pytest.mark.parametrize("value", [None, [], {}, {"level": True}, {"level": 2, "write": []}])
def test_what_is_no_right_is_none(value: object) -> None:
    assert from_json(value) is None


def front(text: str) -> Claim:
    return claim_of(parse_identity("dexter", f"---\n{text}\n---\nDexter\n"))


def test_faults_of_permissions_are_named() -> None:
    claim = front("permissions: {write: {jaskier: [nonsense], 'no name': all}, read: x}")
    assert claim.rights.write == frozenset() and len(claim.faults) == 3
    assert front("permissions: {write: jaskier}").faults


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
