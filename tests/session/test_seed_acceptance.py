"""What the document on auto-RAG and sub-agents in the context asks for, a test each.

Over the real parts: session files, conversations in memory, summaries, the builder as it is wired.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import HashEmbedder
from tests.session.building import ASKED, FILLER, OVEN, names, reason_of, text_of
from tests.waiting import until
from vaultmind.app import App, open_app
from vaultmind.config import AutoRagConfig, Config, ContextConfig
from vaultmind.session.context.parts import BuildRequest, BuiltContext
from vaultmind.session.subagents.history import history
from vaultmind.types import PERSON, Caller, Message, MessageRef, Role

MAIN = Caller("agent", "main")
HEADER = "From earlier in this conversation:"
START = datetime.fromisoformat("2026-02-20T10:00:00+01:00")
WINDOW = 6


class Room:
    """A vault whose agent has talked."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.said = 0

    def say(self, *texts: str, role: Role | None = None, **more: Any) -> list[MessageRef]:
        """Write messages down; the user and the assistant take turns."""
        messages = []
        for text in texts:
            self.said += 1
            who: Role = role or ("user" if self.said % 2 else "assistant")
            time = (START + timedelta(seconds=20 * self.said)).isoformat()
            messages.append(Message(who, text, time, f"id{self.said}", **more))
        return list(self.app.sessions.log_many("main", messages).refs)

    def chat(self, number: int) -> None:
        """Write so many messages of small moment down."""
        self.say(*(f"{FILLER[n % len(FILLER)]}, day {n}" for n in range(number)))

    def build(self, *pending: str, **request: Any) -> BuiltContext:
        """Build a context as the surfaces do."""
        return self.app.builder.build(BuildRequest("main", pending=pending, **request), MAIN)

    def run(self, name: str, *lines: object, task: str = "daily") -> None:
        """Write a file of a task's runs, as a host does."""
        file = self.app.paths.root / f"VaultMind/conversations/scheduler_{task}/{name}"
        file.parent.mkdir(parents=True, exist_ok=True)
        texts = (one if isinstance(one, str) else json.dumps(one) for one in lines)
        file.write_text("".join(f"{text}\n" for text in texts), "utf-8")


Open = Callable[..., Room]


@pytest.fixture
def open_room(tmp_path: Path) -> Iterator[Open]:
    """Return what opens a vault with a window of six messages."""
    apps: list[App] = []
    (tmp_path / "vault").mkdir()

    def opened(rag: AutoRagConfig | None = None, *, running: bool = False) -> Room:
        config = Config(
            vault=(tmp_path / "vault").resolve(),
            state_dir=tmp_path / "state",
            context=ContextConfig(sliding_window=WINDOW),
            auto_rag=rag or AutoRagConfig(),
        )
        app = open_app(config, clock=lambda: START, embedder=HashEmbedder())
        apps.append(app)
        if running:
            app.start()
        app.init("main", "en", PERSON)
        return Room(app)

    yield opened
    for app in apps:
        app.close()


@pytest.fixture
def room(open_room: Open) -> Room:
    """Return a vault with the defaults."""
    return open_room()


def _line(role: str, content: str, **more: object) -> dict[str, object]:
    return {"role": role, "type": "text", "content": content, **more}


def _run(number: int) -> tuple[dict[str, object], dict[str, object]]:
    return _line("user", f"do {number}"), _line("assistant", f"did {number}")


# --- auto-RAG in the context ---------------------------------------------------------------


def test_auto_rag_skipped_when_the_segment_does_not_exceed_the_sliding_window(room: Room) -> None:
    room.say(OVEN)
    room.chat(WINDOW - 1)
    context = room.build(ASKED)
    assert "earlier" not in names(context)
    assert reason_of(context, "earlier") == "the whole segment fits the window"
    assert OVEN in text_of(context, "window")


def test_auto_rag_skipped_for_a_subagent(room: Room) -> None:
    room.say(OVEN)
    room.chat(60)
    room.run("2026-02-19.jsonl", *_run(1))
    assert "earlier" not in names(room.build(ASKED, task="daily"))


def test_auto_rag_skipped_when_it_is_switched_off(open_room: Open) -> None:
    room = open_room(AutoRagConfig(enabled=False))
    room.say(OVEN)
    room.chat(60)
    context = room.build(ASKED)
    assert "earlier" not in names(context)
    assert reason_of(context, "earlier") == "switched off"


def test_auto_rag_results_stand_between_summary_and_sliding_window(room: Room) -> None:
    room.say("We decided to build the oven from brick", OVEN)
    room.chat(60)
    parts = names(room.build(ASKED))
    assert parts[parts.index("summary") : parts.index("window") + 1] == [
        "summary",
        "earlier",
        "window",
    ]


def test_the_auto_rag_block_is_absent_when_nothing_is_found(room: Room) -> None:
    room.say(OVEN)
    room.chat(60)
    for text in ("ok", "thanks", "dzięki", "ага"):
        context = room.build(text)
        assert "earlier" not in names(context)
        assert HEADER not in "".join(part.text for part in context.parts)


def test_the_window_s_budget_is_reduced_by_what_auto_rag_costs(room: Room) -> None:
    room.say(OVEN)
    room.chat(200)
    budget = 700
    asked = room.build(ASKED, budget=budget)
    silent = room.build("ok", budget=budget)
    cost = asked.part("earlier")
    window, whole = asked.part("window"), silent.part("window")
    assert cost and window and whole, asked.dropped
    assert window.tokens < whole.tokens
    assert whole.tokens - window.tokens == pytest.approx(cost.tokens, abs=40)
    assert max(asked.tokens, silent.tokens) <= budget


def test_what_stands_in_the_window_is_not_recalled_again(room: Room) -> None:
    room.chat(60)
    room.say(OVEN, "Then we wait for it")
    context = room.build(ASKED)
    assert "".join(part.text for part in context.parts).count(OVEN) == 1
    window = context.part("window")
    assert window and "id61" in window.messages


def test_the_auto_rag_block_starts_with_its_header_and_names_role_and_link(room: Room) -> None:
    room.say(OVEN)
    room.chat(60)
    header, *lines = text_of(room.build(ASKED), "earlier").split("\n")
    assert header == HEADER
    assert f"user [[#^m1]]: {OVEN}" in lines


def test_order_identity_then_auto_rag_then_window_then_pending(room: Room) -> None:
    room.say(OVEN)
    room.chat(60)
    context = room.build(ASKED)
    parts = names(context)
    assert parts[0] == "identity"
    assert parts.index("earlier") < parts.index("window") == len(parts) - 1
    assert text_of(context, "window").endswith(f"user: {ASKED}")


def test_auto_rag_stays_within_the_segment_and_a_trigger_leaves_it(room: Room) -> None:
    room.say(OVEN)
    room.chat(20)
    room.app.sessions.new_segment("main", now=START + timedelta(seconds=20 * room.said))
    room.chat(20)
    assert OVEN not in text_of(room.build("Did we paint the fence green?"), "earlier")
    assert OVEN in text_of(room.build("As I said, how much was the oven?"), "earlier")


# --- a sub-agent's context -----------------------------------------------------------------


def test_a_subagent_s_context_holds_its_runs_and_no_conversation(room: Room) -> None:
    room.say(OVEN)
    room.chat(60)
    room.run("2026-02-19.jsonl", *_run(1))
    context = room.build("Do it again", task="daily", tools="Tools: read")
    assert names(context) == ["identity", "history", "window", "tools"]
    assert text_of(context, "window") == "user: Do it again"
    assert context.session == ""


def test_a_subagent_s_context_has_no_auto_rag_block(room: Room) -> None:
    room.say(OVEN)
    room.chat(60)
    room.run("2026-02-19.jsonl", *_run(1))
    assert OVEN not in "".join(part.text for part in room.build(ASKED, task="daily").parts)


def test_a_subagent_s_context_includes_what_its_runs_said(room: Room) -> None:
    room.run("2026-02-19.jsonl", *_run(1), *_run(2))
    text = text_of(room.build("Now", task="daily"), "history")
    assert text.index("user: do 1") < text.index("assistant: did 1") < text.index("user: do 2")


def test_a_subagent_that_never_ran_has_only_who_it_is_and_what_is_asked(room: Room) -> None:
    assert names(room.build("Now", task="daily")) == ["identity", "window"]


def test_the_history_is_of_the_task_that_is_named_and_as_long_as_configured(room: Room) -> None:
    room.run("2026-02-19.jsonl", *(line for n in range(1, 9) for line in _run(n)))
    room.run("2026-02-19.jsonl", *_run(77), task="weekly")
    text = text_of(room.build("Now", task="daily"), "history")
    assert [f"did {n}\n" in f"{text}\n" for n in range(1, 9)] == [False] * 3 + [True] * 5
    assert "77" not in text


def test_a_missing_folder_of_runs_gives_an_empty_history(room: Room) -> None:
    assert history(room.app.paths, "daily", 5).runs == ()
    built = room.build("Now", task="daily")
    assert "history" not in names(built)
    [note] = built.notes
    assert note.startswith("There are no runs"), "said, and no error"


def test_no_completed_run_gives_an_empty_history(room: Room) -> None:
    room.run("2026-02-19.jsonl", _line("user", "do 1"))
    assert "history" not in names(room.build("Now", task="daily"))


def test_a_single_complete_run_is_shown(room: Room) -> None:
    room.run("2026-02-19.jsonl", *_run(1))
    part = room.build("Now", task="daily").part("history")
    assert part and part.why == "1 completed run"
    assert part.sources == ("VaultMind/conversations/scheduler_daily/2026-02-19.jsonl",)


def test_the_last_complete_runs_are_shown_oldest_first_and_no_more(open_room: Open) -> None:
    room = open_room()
    room.run("2026-02-19.jsonl", *(line for n in range(1, 9) for line in _run(n)))
    lines = text_of(room.build("Now", task="daily"), "history").split("\n")
    assert [one for one in lines if one.startswith("user")] == [
        f"user: do {n}" for n in range(4, 9)
    ]


def test_an_incomplete_final_run_is_skipped(room: Room) -> None:
    room.run("2026-02-19.jsonl", *_run(1), _line("user", "do 2"))
    assert "do 2" not in text_of(room.build("Now", task="daily"), "history")


def test_runs_of_several_files_come_in_the_order_of_time(room: Room) -> None:
    room.run("2026-02-20.jsonl", *_run(2))
    room.run("2026-02-19.jsonl", *_run(1))
    text = text_of(room.build("Now", task="daily"), "history")
    assert text.index("did 1") < text.index("did 2")


def test_a_malformed_line_is_a_warning_with_file_and_line_and_the_rest_is_read(
    room: Room,
) -> None:
    room.run("2026-02-19.jsonl", "{not json", *_run(1))
    context = room.build("Now", task="daily")
    assert "did 1" in text_of(context, "history")
    assert "2026-02-19.jsonl, line 1" in context.notes[0]


def test_calls_and_results_of_tools_are_kept_within_a_run(room: Room) -> None:
    call = _line("assistant", "", type="tool_call", tool_calls=[{"name": "read", "id": "c1"}])
    room.run("2026-02-19.jsonl", _line("user", "do"), call, _line("tool", "3 notes"), _run(1)[1])
    text = text_of(room.build("Now", task="daily"), "history")
    assert '"name": "read"' in text
    assert "tool: 3 notes" in text


def test_an_empty_file_of_runs_does_no_harm(room: Room) -> None:
    room.run("2026-02-18.jsonl")
    room.run("2026-02-19.jsonl", *_run(1))
    assert "did 1" in text_of(room.build("Now", task="daily"), "history")


def test_core_memory_is_read_only_for_a_subagent(room: Room) -> None:
    room.run("2026-02-19.jsonl", *_run(1))
    before = {path: path.read_bytes() for path in room.app.paths.root.rglob("*.md")}
    room.build("Remember that I prefer tea", task="daily")
    assert {path: path.read_bytes() for path in room.app.paths.root.rglob("*.md")} == before


# --- messages and their vectors ------------------------------------------------------------


def test_a_message_of_the_user_is_saved_with_a_place_of_its_own(room: Room) -> None:
    (ref,) = room.say(OVEN, role="user")
    assert (ref.block, ref.id) == ("m1", "id1")
    (again,) = room.app.sessions.log_many(
        "main", [Message("user", OVEN, START.isoformat(), "id1")], now=START
    ).refs
    assert again == ref


def test_messages_of_user_and_assistant_are_embedded_after_they_are_saved_and_no_tools(
    open_room: Open,
) -> None:
    room = open_room(running=True)
    long = "and this goes on for long enough to mean something to a reader of it all"
    (user,) = room.say(f"{OVEN}, {long}", role="user")
    room.say(f"calling read, {long}", role="tool", speaker="Read")
    (assistant,) = room.say(f"It will be paid on Friday, {long}", role="assistant")
    room.say("ok", role="user")
    path = room.app.paths.session("main", user.session)
    wanted = {"m1", "m2", "m3", "m4"}

    def vectors() -> set[str]:
        return set(room.app.index.message_vectors.message_vectors(path, wanted))

    until(lambda: vectors() == {user.block, assistant.block})


def test_a_message_without_a_vector_is_found_by_its_words(open_room: Open) -> None:
    room = open_room(AutoRagConfig(min_message_tokens=200))
    room.say(OVEN)
    room.chat(60)
    assert OVEN in text_of(room.build(ASKED), "earlier")


def test_the_task_s_name_reaches_the_context_and_an_interactive_one_has_none(room: Room) -> None:
    room.run("2026-02-19.jsonl", *_run(1))
    room.chat(3)
    assert "history" in names(room.build("Now", task="daily"))
    interactive = room.build("Now")
    assert "history" not in names(interactive)
    assert interactive.session
