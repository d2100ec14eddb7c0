"""The example vault keeps what it shows: formats, links, provenance and answerable questions."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

REPO = Path(__file__).resolve().parents[1]
VAULT = REPO / "vault-example"
AGENTS = ("main", "jaskier")
QUESTIONS = REPO / "benchmarks" / "data" / "example_questions.jsonl"
NOT_NOTES = (".trash", "secrets", "VaultMind", "Archive")
KINDS = ("keyword", "sentence", "paraphrase", "typo", "cross-language", "vague")
BROKEN_YAML = "Admin/Subscriptions.md"

COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")
HEADING = re.compile(r"^#{1,6} (.+?)\s*$", re.MULTILINE)
SETEXT = re.compile(r"^([^\n|>-][^\n]*)\n(?:=+|-{4,})$", re.MULTILINE)
BLOCK_ID = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]+)\s*$", re.MULTILINE)
FACT = re.compile(
    r"^- (?P<text>.+?) %%(?P<date>\d{4}-\d\d-\d\d) said "
    r"\[\[(?P<path>[^#\]]+)#\^(?P<message>m\d+)\|source\]\]%% \^(?P<block>[a-z0-9]+)$",
    re.MULTILINE,
)
MESSAGE = re.compile(
    r"> \[!(?P<role>user|assistant|tool|system)\] (?P<clock>\d\d:\d\d:\d\d) · (?P<who>[^%\n]+) "
    r"%%(?P<meta>\{.*?\})%%\n(?P<content>(?:>(?: .*)?\n)+)\n\^(?P<block>m\d+)\n\n"
)
SEGMENT = re.compile(r"## Segment \d+ %%\{.*?\}%%\n\n")
POLISH = re.compile(r"[ąćęłńśźż]|\b(?:jest|nie|się|oraz|dla|przez)\b", re.IGNORECASE)


@cache
def text_of(path: str) -> str:
    return (VAULT / path).read_text(encoding="utf-8-sig").replace("\r\n", "\n")


@cache
def all_files() -> tuple[str, ...]:
    return tuple(p.relative_to(VAULT).as_posix() for p in VAULT.rglob("*") if p.is_file())


@cache
def markdown_files() -> tuple[str, ...]:
    return tuple(p for p in all_files() if p.endswith(".md"))


@cache
def notes() -> tuple[str, ...]:
    return tuple(p for p in markdown_files() if not p.startswith(NOT_NOTES))


def front_matter(path: str) -> dict[str, object]:
    head = text_of(path).split("---\n", 2)[1]
    loaded = yaml.safe_load(head)
    assert isinstance(loaded, dict)
    return loaded


def language(text: str) -> str:
    letters = sum(map(str.isalpha, text))
    cyrillic = len(re.findall(r"[а-яё]", text, re.IGNORECASE))
    if cyrillic > 0.4 * letters:
        return "ru"
    return "pl" if len(POLISH.findall(text)) > 0.045 * letters else "en"


@cache
def by_name() -> dict[str, list[str]]:
    """Map a name, with and without `.md`, to the files that carry it."""
    found: dict[str, list[str]] = {}
    for path in all_files():
        if path.startswith((".trash", "secrets", ".obsidian")):
            continue
        name = path.rsplit("/", 1)[-1]
        for key in {name, name.removesuffix(".md"), path, path.removesuffix(".md")}:
            found.setdefault(key, []).append(path)
    return found


def links() -> Iterator[tuple[str, str]]:
    for path in markdown_files():
        for target in LINK.findall(CODE.sub("", text_of(path))):
            yield path, target


def anchor_exists(path: str, anchor: str) -> bool:
    text = CODE.sub("", text_of(path))
    if anchor.startswith("^"):
        return anchor[1:] in BLOCK_ID.findall(text)
    return anchor in HEADING.findall(text) + [h.strip() for h in SETEXT.findall(text)]


def sessions(agent: str) -> list[str]:
    folder = f"VaultMind/agents/{agent}/memory/sessions/"
    return sorted(p for p in all_files() if p.startswith(folder))


def every_session() -> list[str]:
    return [path for agent in AGENTS for path in sessions(agent)]


def provenance() -> Iterator[tuple[str, re.Match[str]]]:
    for agent in AGENTS:
        for name in ("brain.md", "brain_archive.md"):
            path = f"VaultMind/agents/{agent}/memory/{name}"
            yield from ((agent, m) for m in FACT.finditer(text_of(path)))


def user_messages(path: str) -> dict[str, str]:
    found = MESSAGE.finditer(text_of(path))
    return {m["block"]: m["content"] for m in found if m["role"] == "user"}


def questions() -> list[dict[str, object]]:
    return [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]


def test_the_vault_is_large_enough_and_speaks_three_languages() -> None:
    assert len(notes()) >= 85
    assert sum(p.startswith("Daily/") for p in notes()) >= 20
    share = {k: n / len(notes()) for k, n in Counter(language(text_of(p)) for p in notes()).items()}
    assert 0.45 < share["en"] < 0.70
    assert 0.18 < share["pl"] < 0.35
    assert 0.10 < share["ru"] < 0.22


def test_every_link_resolves_to_one_file_and_its_heading_or_block() -> None:
    broken = []
    for source, target in links():
        name, _, anchor = target.partition("#")
        hits = by_name().get(name, []) if name else [source]
        if len(hits) != 1 or (anchor and not anchor_exists(hits[0], anchor)):
            broken.append((source, target, hits))
    assert broken == []


def test_markdown_links_to_files_resolve() -> None:
    for source in notes():
        for target in re.findall(r"\]\(([^)\s:]+\.md)\)", text_of(source)):
            assert (VAULT / source).parent.joinpath(unquote(target)).is_file()


def test_every_front_matter_parses_but_the_one_broken_on_purpose() -> None:
    broken = set()
    for path in markdown_files():
        if text_of(path).startswith("---\n"):
            try:
                front_matter(path)
            except yaml.YAMLError:
                broken.add(path)
    assert broken == {BROKEN_YAML}


def test_the_awkward_files_are_there() -> None:
    raw = {p: (VAULT / p).read_bytes() for p in markdown_files()}
    assert [p for p in raw if b"\r\n" in raw[p]] == ["House/Washing machine.md"]
    assert [p for p in raw if raw[p].startswith(b"\xef\xbb\xbf")] == ["Garden/Kompost.md"]
    assert any(p.startswith(".trash/") for p in raw)
    assert "secrets/vault-passwords.md" in raw
    assert re.search(r'api_key = "sk-test-EXAMPLE.{28,}"', text_of("Admin/Router and wifi.md"))
    app = json.loads(text_of(".obsidian/app.json"))
    assert app["userIgnoreFilters"] == ["Archive/old-drafts/"]


def test_the_attachment_is_a_small_png_and_the_canvas_names_real_files() -> None:
    png = (VAULT / "Attachments/dome-sketch.png").read_bytes()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(png) < 5_000
    canvas = json.loads(text_of("Projects/Oven plan.canvas"))
    ids = {node["id"] for node in canvas["nodes"]}
    assert {node["type"] for node in canvas["nodes"]} >= {"text", "file", "link"}
    assert all((VAULT / n["file"]).is_file() for n in canvas["nodes"] if n["type"] == "file")
    assert all({edge["fromNode"], edge["toNode"]} <= ids for edge in canvas["edges"])


def test_seven_and_five_sessions_are_there() -> None:
    assert [len(sessions(agent)) for agent in AGENTS] == [7, 5]


@pytest.mark.parametrize("path", every_session(), ids=lambda p: Path(p).stem)
def test_a_session_is_nothing_but_front_matter_segments_and_messages(path: str) -> None:
    raw = (VAULT / path).read_text(encoding="utf-8")
    body = raw.split("---\n\n", 1)[1]
    matter = front_matter(path)
    messages = list(MESSAGE.finditer(body))
    assert SEGMENT.sub("", MESSAGE.sub("", body)) == ""
    assert 10 <= len(messages) <= 30
    assert matter["id"] == Path(path).stem
    assert matter["segments"] == 1 + len(SEGMENT.findall(body))
    metas = [json.loads(m["meta"]) for m in messages]
    wanted = [f"m{n}" for n in range(1, len(messages) + 1)]
    assert [m["block"] for m in messages] == [meta["id"] for meta in metas] == wanted
    times = [meta["time"] for meta in metas]
    assert times == sorted(set(times))
    assert {meta["how"] for meta in metas} <= {"captured", "reported", "cli"}
    for message, meta in zip(messages, metas, strict=True):
        assert meta["time"] == f"{Path(path).stem[:10]}T{message['clock']}+01:00"


@pytest.mark.parametrize("agent", AGENTS)
def test_a_summary_and_its_sessions_name_each_other(agent: str) -> None:
    summary = f"VaultMind/agents/{agent}/memory/summaries/L1/L1_001"
    named = front_matter(f"{summary}.md")["sessions"]
    assert isinstance(named, list)
    assert named == [p.removesuffix(".md") for p in sessions(agent)][:5]
    linked = [t for t in LINK.findall(text_of(f"{summary}.md")) if "/sessions/" in t]
    assert linked == named
    for path in sessions(agent):
        wanted = summary if path.removesuffix(".md") in named else ""
        assert front_matter(path)["summarised_in"] == wanted


def test_every_fact_with_provenance_points_to_a_message_of_the_user() -> None:
    seen = 0
    for agent, fact in provenance():
        path = f"{fact['path']}.md"
        assert path in sessions(agent)
        assert fact["message"] in user_messages(path)
        assert fact["date"] == Path(path).stem[:10]
        seen += 1
    assert seen >= 15


@pytest.mark.parametrize("agent", AGENTS)
def test_the_audit_has_one_line_for_every_fact_with_provenance(agent: str) -> None:
    rows = text_of(f"VaultMind/agents/{agent}/memory/audit-example.jsonl").splitlines()
    audited = {(r["block"], r["after"], r["evidence"]) for r in map(json.loads, rows)}
    facts = {
        (f["block"], f["text"], f"{f['path']}#^{f['message']}")
        for owner, f in provenance()
        if owner == agent
    }
    assert audited == facts
    assert len(rows) == len(facts)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_brain_fits_and_holds_hand_typed_facts_too(agent: str) -> None:
    brain = COMMENT.sub("", text_of(f"VaultMind/agents/{agent}/memory/brain.md"))
    assert len(brain) < 1_500
    bullets = [line for line in brain.splitlines() if line.startswith("- ")]
    assert any(not BLOCK_ID.search(line) for line in bullets)


def test_the_questions_are_many_and_name_notes_that_exist() -> None:
    rows = questions()
    assert len(rows) >= 160
    assert len({row["id"] for row in rows}) == len({row["query"] for row in rows}) == len(rows)
    kinds = Counter(row["kind"] for row in rows)
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) >= 22
    for row in rows:
        paths = row["paths"]
        assert isinstance(paths, list)
        assert paths
        assert all((VAULT / path).is_file() for path in paths)
        assert not any(path.startswith((".trash", "secrets", "Archive")) for path in paths)
