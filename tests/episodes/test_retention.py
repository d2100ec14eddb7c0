"""episodes/retention: what is old shrinks to outcome and links; what a person wrote stays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.episodes.worked import NOW, Folder, event, iso, opened, worked
from tests.memory.conftest import House
from vaultmind.episodes import retention
from vaultmind.episodes.notes.lines import line_of
from vaultmind.episodes.note import parsed, rendered
from vaultmind.episodes.notes.shrinking import shrunk
from vaultmind.episodes.retention import Retention, RetentionSettings
from vaultmind.episodes.types import Episode, Offer
from vaultmind.errors import BadArgument, PathRefused
from vaultmind.memory.audit.reading import Wanted, history
from vaultmind.types import PERSON, Caller, Progress
from vaultmind.vault.properties import FrontMatter
from vaultmind.vault.writer import VaultWriter

OLD, NAME = "2026-08-01_001", "main/2026-08-01_001"
EVENTS = (
    event("plan", text="jwt refresh"),
    event("read", "src/auth.py"),
    event("hit", "docs/jwt.md", text="refresh"),
    event("edit", "src/new.py", change="added"),
    event("edit", "src/new.py", change="modified"),
    event("edit", "src/auth.py", change="modified"),
    event("edit", "src/auth.py", change="modified"),
    event("run", text="pytest", ok=True),
    event("decision", "src/auth.py", text="The lock was never freed"),
    event("commit", commit="abc1234def", text="Refresh once (#12)"),
)
LEFT = ["edit src/new.py", "edit src/new.py", "edit src/auth.py", "decision src/auth.py", "commit "]


def old(*events: object, days: float = 113, **more: object) -> Episode:
    fields = {"id": OLD, "rationale": "It works", "issues": ("#12",)} | more
    return worked(*(events or EVENTS), days=days, **fields)  # type: ignore[arg-type]


class Kept:
    """A vault with a gate, and the retention of its episodes."""

    def __init__(self, root: Path, tables: object, device: str = "laptop") -> None:
        self.folder = Folder(root)
        self.house = House(root)
        self.tables = tables
        settings = RetentionSettings(90, device)
        self.retention = Retention(
            self.house.gate,
            self.folder.files,
            lambda: tables,  # type: ignore[arg-type, return-value]
            lambda: NOW,
            settings,
        )

    def text(self, name: str = NAME) -> str:
        return self.folder.note(name).read_text("utf-8")


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    with opened(tmp_path / "state" / "episodes.db") as tables:
        yield Kept(tmp_path / "vault", tables)


def told(episode: Episode) -> list[str]:
    return [f"{one.kind} {one.path}" for one in episode.events]


# --- the note ------------------------------------------------------------------------------


@pytest.mark.parametrize("links", [False, True])
def test_a_note_shrinks_to_its_outcome_changes_commits_and_decisions(links: bool) -> None:
    one = old()
    left = parsed(shrunk(rendered(one, links=links)), "main", OLD)
    assert told(left) == LEFT
    assert left == replace(one, state="shrunk", events=left.events)
    assert left.events[0].change == "added", "that a file was new is told by nothing later"


def test_shrinking_twice_is_shrinking_once() -> None:
    once = shrunk(rendered(old()))
    assert shrunk(once) == once


def test_what_a_person_wrote_between_the_lines_stays() -> None:
    one = old()
    read, hit = line_of(one.events[1]), line_of(one.events[2])
    text = rendered(one).replace(read, f"{read}\n    this is where I lost a day\n\nMy own remark.")
    text = text.replace(hit, f"{hit} which is outdated")
    text = text.replace("## Outcome", "## What I think\n\n- 09:00 tea\n\n## Outcome")
    after = shrunk(text)
    assert read in after, "a person's lines hang on it"
    for own in (
        "    this is where I lost a day",
        "My own remark.",
        "which is outdated",
        "- 09:00 tea",
    ):
        assert own in after
    assert "pytest" not in after


def test_line_ends_and_the_order_of_a_note_survive() -> None:
    text = rendered(old()).replace("\n", "\r\n").replace("risk: low", "mine: yes\r\nrisk: low")
    after = shrunk(text)
    assert "\n" not in after.replace("\r\n", "") and "mine: yes\r\nrisk: low" in after
    assert told(parsed(after, "main", OLD)) == LEFT


# --- what is due ---------------------------------------------------------------------------


def test_a_preview_says_what_would_go_and_writes_nothing(kept: Kept) -> None:
    kept.folder.put(old(), Offer("f-jwt", iso(113), "w", {"a.py": {"words": 0.5}}))
    before = kept.text()
    due = kept.retention.due(NOW)
    (one,) = due.episodes
    assert (one.name, one.path) == (NAME, kept.folder.files.path(NAME))
    assert (one.events, due.events) == (5, 5) and due.bytes > 200 and due.days == 90
    assert kept.text() == before and kept.folder.files.offers(NAME)


def test_only_what_ended_before_is_due(kept: Kept) -> None:
    kept.folder.put(old())
    kept.folder.put(old(days=89, id="2026-08-25_001"))
    kept.folder.put(old(id="2026-08-01_002", state="running", ended="", outcome="unknown"))
    assert [one.name for one in kept.retention.due(NOW).episodes] == [NAME]
    assert len(kept.retention.due(NOW, days=10).episodes) == 2
    with pytest.raises(BadArgument, match="days"):
        kept.retention.due(NOW, days=-1)


def test_another_devices_episodes_are_left_to_it_for_a_week(kept: Kept) -> None:
    kept.folder.put(old(days=92, id="2026-08-22_001", device="phone"))
    kept.folder.put(old(days=92, id="2026-08-22_002", device="laptop"))
    kept.folder.put(old(days=113, device="phone"))
    assert [one.name for one in kept.retention.due(NOW).episodes] == [NAME, "main/2026-08-22_002"]


# --- a purge -------------------------------------------------------------------------------


def test_a_purge_shrinks_notes_and_tables_and_removes_offers(kept: Kept) -> None:
    kept.folder.put(old(), Offer("f-jwt", iso(113), "w", {"secretive.py": {"words": 0.5}}))
    kept.folder.put(worked(*EVENTS))
    due = kept.retention.due(NOW)
    done = kept.retention.run(PERSON)
    assert (done.episodes, done.events, done.offers, done.bytes) == (1, 5, 1, due.bytes)
    assert done.left == ()
    assert parsed(kept.text(), "main", OLD).state == "shrunk"
    assert not (kept.folder.paths.root / kept.folder.files.offers_path(NAME)).exists()
    tables = kept.tables
    assert {row.kind for row in tables.events([NAME])[NAME]} == {"edit", "decision", "commit"}
    assert tables.offers([NAME]) == {} and tables.stats().shrunk == 1
    assert b"docs/jwt.md\x00" not in tables.path.read_bytes()
    assert kept.retention.run(PERSON).episodes == 0


def test_what_is_left_still_speaks_for_its_files(kept: Kept) -> None:
    kept.folder.put(old())
    kept.retention.run()
    (link, *_) = [one for one in kept.tables.causal("shop", [NAME]) if one.path == "src/auth.py"]
    assert (link.issue, link.commit) == ("#12", "abc1234def")
    assert link.rationale == "The lock was never freed"
    assert [row.episode for row in kept.tables.tasks("shop")] == [NAME]


def test_by_itself_it_acts_in_the_name_of_each_agent_and_says_so(kept: Kept) -> None:
    kept.folder.put(old())
    kept.folder.put(old(agent="geralt"))
    assert kept.retention.run().episodes == 2
    with pytest.raises(PathRefused):
        kept.house.gate.save(
            kept.folder.files.path(NAME),
            lambda file: None,
            Caller("agent", "geralt"),
            "not its own",
        )
    audit = next((kept.folder.paths.root / kept.folder.paths.memory("geralt")).glob("audit-*"))
    assert "past its retention" in audit.read_text("utf-8")


def test_a_note_that_cannot_be_shrunk_is_told_and_the_others_are_shrunk(kept: Kept) -> None:
    kept.folder.put(old())
    broken = kept.folder.put(old(id="2026-08-01_002"))
    broken.write_text(broken.read_text("utf-8").replace("risk: low", "risk: [low"), "utf-8")
    before = broken.read_text("utf-8")
    done = kept.retention.run()
    assert done.episodes == 1
    assert [name for name, _ in done.left] == ["main/2026-08-01_002"]
    assert broken.read_text("utf-8") == before


BROKEN = {
    "without its dashes": lambda text: text.replace("---\n", ""),
    "garbage": lambda text: "garbage",
    "emptied": lambda text: "",
    "no YAML": lambda text: text.replace("risk: low", "risk: [low"),
    "no end": lambda text: re.sub("(?m)^ended: .*\n", "", text),
    "an end that is no time": lambda text: re.sub("(?m)^ended: .*", "ended: soon", text),
    "no state": lambda text: text.replace("state: ended\n", ""),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_note_that_does_not_say_when_it_ended_is_never_due_and_is_told(
    kept: Kept, how: str
) -> None:
    note = kept.folder.put(old(), Offer("f-jwt", iso(113), "w", {"a.py": {"words": 0.5}}))
    note.write_text(before := BROKEN[how](note.read_text("utf-8")), "utf-8")
    due = kept.retention.due(NOW, days=0)
    assert due.episodes == () and [name for name, _ in due.left] == [NAME]
    assert "front matter" in due.left[0][1]
    done = kept.retention.run(PERSON, days=0)
    assert done.episodes == 0 and done.left == due.left
    assert kept.text() == before and kept.folder.files.offers(NAME)
    assert NAME in kept.tables.stats().unreadable


def behind(kept: Kept, act: Callable[[], object]) -> None:
    """Have a person act right before each write of a purge."""
    save = kept.house.gate.save

    class Slow:
        remove = staticmethod(kept.house.gate.remove)

        @staticmethod
        def save(*given: object, **more: object) -> object:
            act()
            return save(*given, **more)  # type: ignore[arg-type]

    kept.retention = Retention(
        Slow(),  # type: ignore[arg-type]
        kept.folder.files,
        lambda: kept.tables,  # type: ignore[arg-type, return-value]
        lambda: NOW,
        RetentionSettings(),
    )


def test_a_purge_opens_each_note_once_and_has_one_line_of_it_in_the_audit(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"2026-08-01_{number:03d}" for number in range(1, 4)]
    for name in names:
        kept.folder.put(old(id=name), Offer("f-jwt", iso(113), "w", {"a.py": {"words": 0.5}}))
    kept.tables.follow(kept.folder.files)  # type: ignore[attr-defined]
    parsed_front, told = list[str](), list[Progress]()
    real = retention.without_routine

    def counted(text: str, found: FrontMatter | None) -> tuple[str, int]:
        parsed_front.append(text)
        return real(text, found)

    monkeypatch.setattr(retention, "without_routine", counted)
    done = kept.retention.run(PERSON, report=told.append)
    assert (done.episodes, done.offers, len(parsed_front)) == (3, 3, 3)
    assert told == [Progress(number, 3, "episodes shrunk") for number in (1, 2, 3)]
    lines, _ = history(kept.folder.paths, Wanted(("main",), ops=("save",)))
    of = [(one.line.caller, one.line.path, one.line.reason) for one in lines]
    paths = [kept.folder.files.path(f"main/{name}") for name in names]
    assert of == [("person", path, "an episode is past its retention") for path in paths]


def test_a_note_that_breaks_while_others_are_shrunk_is_left(kept: Kept) -> None:
    note = kept.folder.put(old())
    behind(kept, lambda: note.write_text("garbage", "utf-8"))
    done = kept.retention.run(PERSON)
    assert done.episodes == 0 and kept.text() == "garbage"
    assert [name for name, _ in done.left] == [NAME]


def test_a_note_that_is_deleted_or_gone_on_with_meanwhile_is_left(kept: Kept) -> None:
    gone, again = kept.folder.put(old()), kept.folder.put(old(id="2026-08-01_002"))

    def quicker() -> None:
        gone.unlink(missing_ok=True)
        again.write_text(again.read_text("utf-8").replace("state: ended", "state: shrunk"))

    behind(kept, quicker)
    assert kept.retention.run().episodes == 0 and not gone.exists()


def test_offers_that_a_killed_purge_left_go_with_the_next(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer = Offer("f-jwt", iso(113), "w", {"a.py": {"words": 0.5}})
    kept.folder.put(old(), offer)
    kept.folder.put(old(days=2, id="2026-11-20_001"), offer)

    def killed(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(VaultWriter, "remove", killed)
        with pytest.raises(KeyboardInterrupt):
            kept.retention.run(PERSON)
    assert "state: shrunk" in kept.text() and kept.folder.files.offers(NAME)
    done = kept.retention.run(PERSON)
    assert (done.episodes, done.offers) == (0, 1)
    assert not kept.folder.files.offers(NAME)
    assert not kept.tables.offers([NAME]).get(NAME)  # type: ignore[attr-defined]
    assert kept.folder.files.offers("main/2026-11-20_001"), "it is not past its time"
