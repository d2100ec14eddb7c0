"""The example vault is what the program would have written: read whole, and true in itself."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from vaultmind.vault.transcript import Transcript, parse_session

REPO = Path(__file__).resolve().parents[1]
VAULT = REPO / "vault-example"
AGENTS = ("main", "jaskier")
QUESTIONS = REPO / "benchmarks" / "data" / "example_questions.jsonl"
KINDS = ("keyword", "sentence", "paraphrase", "typo", "cross-language", "vague")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
LINK = re.compile(r"\[\[([^\[\]|#]+)[^\[\]]*\]\]")
FACT = re.compile(
    r"^- (?P<text>.+?) %%(?P<date>\d{4}-\d\d-\d\d) said "
    r"\[\[(?P<path>[^#\]]+)#\^(?P<message>m\d+)\|source\]\]%% \^(?P<block>[a-z0-9]+)$",
    re.MULTILINE,
)


def memory(agent: str) -> Path:
    return VAULT / "VaultMind/agents" / agent / "memory"


def sessions(agent: str) -> dict[str, Transcript]:
    """Return an agent's sessions by what links call them."""
    files = sorted((memory(agent) / "sessions").glob("*.md"))
    return {
        path.relative_to(VAULT).with_suffix("").as_posix(): parse_session(path.read_text("utf-8"))
        for path in files
    }


def facts(agent: str) -> list[re.Match[str]]:
    files = (memory(agent) / name for name in ("brain.md", "brain_archive.md"))
    return [found for path in files for found in FACT.finditer(path.read_text("utf-8"))]


def test_every_link_leads_to_a_file() -> None:
    files = [path.relative_to(VAULT).as_posix() for path in VAULT.rglob("*") if path.is_file()]
    names = {name for path in files for name in (path, path.rpartition("/")[2])}
    names |= {name.removesuffix(".md") for name in names}
    for path in VAULT.rglob("*.md"):
        found = LINK.findall(CODE.sub("", path.read_text("utf-8-sig")))
        assert [name for name in found if name not in names] == [], path


def test_the_awkward_files_are_there() -> None:
    assert b"\r\n" in (VAULT / "House/Washing machine.md").read_bytes()
    assert (VAULT / "Garden/Kompost.md").read_bytes().startswith(b"\xef\xbb\xbf")
    assert [*VAULT.glob(".trash/*.md")] and (VAULT / "secrets/vault-passwords.md").is_file()
    assert 'api_key = "sk-test-EXAMPLE' in (VAULT / "Admin/Router and wifi.md").read_text("utf-8")


@pytest.mark.parametrize("agent", AGENTS)
def test_sessions_are_read_whole_and_their_summary_names_them(agent: str) -> None:
    found = sessions(agent)
    assert len(found) >= 5
    for name, one in found.items():
        assert not one.faults and one.meta.id == name.rpartition("/")[2]
        assert len(one.messages) >= 10
        times = [placed.message.time for placed in one.messages]
        assert times == sorted(set(times))
    summary = (memory(agent) / "summaries/L1/L1_001.md").read_text("utf-8")
    named = [name for name in LINK.findall(summary) if "/sessions/" in name]
    assert named == [*found][:5]
    assert [bool(one.meta.summarised_in) for one in found.values()] == [
        name in named for name in found
    ]


@pytest.mark.parametrize("agent", AGENTS)
def test_every_fact_with_provenance_is_said_by_the_user_and_audited(agent: str) -> None:
    audit = (memory(agent) / "audit-example.jsonl").read_text("utf-8").splitlines()
    audited = {(row["block"], row["after"], row["evidence"]) for row in map(json.loads, audit)}
    known, told = sessions(agent), facts(agent)
    assert len(told) >= 5
    for fact in told:
        said = {placed.message.block: placed.message for placed in known[fact["path"]].messages}
        assert said[fact["message"]].role == "user"
        assert said[fact["message"]].time[:10] == fact["date"]
    assert audited == {
        (fact["block"], fact["text"], f"{fact['path']}#^{fact['message']}") for fact in told
    }


def test_the_questions_are_many_and_name_notes_that_exist() -> None:
    rows = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    assert len({row["query"] for row in rows}) == len(rows) >= 160
    kinds = Counter(row["kind"] for row in rows)
    assert set(kinds) == set(KINDS) and min(kinds.values()) >= 22
    for row in rows:
        assert row["paths"] and all((VAULT / path).is_file() for path in row["paths"])
