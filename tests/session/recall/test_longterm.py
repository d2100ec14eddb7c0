"""session/context/longterm: what lasting memory brings before an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.fakes import HashEmbedder
from tests.index.vault import Mind, Vault
from vaultmind import tokens
from vaultmind.app import open_app
from vaultmind.config import AssociationConfig, Config, IndexConfig, RecallConfig
from vaultmind.index.relations.related import Relations
from vaultmind.session.context.longterm.association import Frame, association_part
from vaultmind.session.context.longterm.excerpt import sought
from vaultmind.session.context.longterm.lasting import words_in
from vaultmind.session.context.longterm.longterm import (
    WORK,
    Ask,
    Brought,
    LongTerm,
    LongTermSettings,
)
from vaultmind.session.recall.triggers import LANGUAGES
from vaultmind.types import PERSON, Caller, Chunk, Message, Neighbour
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

MAIN = Caller("agent", "main")
TIME = "2026-02-20T10:00:00+01:00"
SESSION = "2026-02-20_001"
MEMORY = "VaultMind/agents/main/memory"
SMALL_TALK = Path(__file__).parents[3] / "benchmarks/data/small_talk.jsonl"


@dataclass
class Room:
    """A vault and the lasting memory over it."""

    vault: Vault
    recall: RecallConfig
    association: AssociationConfig

    def ask(self, query: str, caller: Caller = PERSON, **changed: object) -> Brought:
        relations = Relations(self.vault.database, Mind(self.vault), self.vault.outlet, self.vault)
        settings = LongTermSettings(self.recall, self.association, 0.7)
        memory = LongTerm(self.vault.search, relations, self.vault.paths, settings)
        usual = Ask(query, "main", caller, "", "en", 300, 100)
        return memory.recall(replace(usual, **changed))  # type: ignore[arg-type]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    vault = Vault(tmp_path)
    vault.put("Oven.md", "The oven door is 25 cm high, built by [[Władek]].\n")
    vault.put("Władek.md", "Stove fitter in Mogilany. His daughter takes the calls.\n")
    vault.put("Tax.md", "Invoices and stamps for the tax office.\n")
    yield Room(vault, RecallConfig(), AssociationConfig())
    vault.close()


def session(*said: str, name: str = SESSION) -> str:
    text = render_header(SessionMeta(name, "main", TIME))
    for number, one in enumerate(said, 1):
        text += render_message(
            Message("user", one, TIME, f"D1:{number}", "Anna", block=f"m{number}")
        )
    return text


def put_session(room: Room, *said: str, name: str = SESSION) -> None:
    room.vault.put(f"{MEMORY}/sessions/{name}.md", session(*said, name=name))


def memory_text(brought: Brought) -> str:
    return brought.memory.text if brought.memory else ""


def reasons(brought: Brought) -> str:
    return " | ".join(f"{one.what}: {one.reason}" for one in brought.dropped)


# --- what is brought -----------------------------------------------------------------------


def test_a_question_brings_the_piece_that_answers_it_with_its_link(room: Room) -> None:
    brought = room.ask("How high is the oven door?")
    assert brought.memory is not None
    first, line = brought.memory.text.split("\n")
    assert first == "From memory:"
    assert line == "- [[Oven]]: The oven door is 25 cm high, built by Władek."
    assert brought.memory.sources == ("Oven.md",)
    assert brought.memory.tokens == tokens.count(brought.memory.text)


BRAIN = """## User

- Basia keeps bees in Berlin %%2026-01-01 said%% ^bb11
- Basia lives in Berlin %%2026-02-20 said%% ^ba11
- Basia mieszka teraz w Hamburgu %%2026-03-02 said%% ^hh12
"""


def test_a_fact_is_recalled_with_its_day_unless_a_newer_one_excludes_it(room: Room) -> None:
    room.vault.put(f"{MEMORY}/brain.md", BRAIN)
    brought = room.ask("Where does Basia live, in Berlin?")
    assert "2026-01-01: Basia keeps bees in Berlin" in memory_text(brought)
    assert "2026-02-20: Basia lives in Berlin" in memory_text(brought)
    shown = ("- Basia mieszka teraz w Hamburgu (said 2026-03-02)",)
    brought = room.ask("Where does Basia live, in Berlin?", shown=shown)
    assert "lives in Berlin" not in memory_text(brought)
    assert f"{MEMORY}/brain.md#^ba11: a newer fact says otherwise" in reasons(brought)


def test_what_was_done_for_another_task_is_for_plans_and_searches(room: Room) -> None:
    """A conversation about an oven is not helped by a commit about one."""
    event = "- 10:00:03 decided: the oven door is asked for its height first"
    held = "episode: 1\nstate: ended\noutcome: success"
    episode = f"---\n{held}\n---\n# The oven door page\n{event}\n"
    room.vault.put("VaultMind/agents/main/episodes/2026-02-01_001.md", episode)
    brought = room.ask("How high is the oven door?")
    assert "episodes/" not in memory_text(brought) and "[[Oven]]" in memory_text(brought)
    assert WORK in reasons(brought)


def test_what_no_word_found_comes_to_mind_with_how(room: Room) -> None:
    brought = room.ask("How high is the oven door?")
    assert brought.associations is not None
    assert brought.associations.text.split("\n")[1].startswith(
        "- [[Władek]] (linked from Oven): Stove fitter"
    )
    assert brought.associations.sources == ("Władek.md",)


def test_it_speaks_the_conversations_language(room: Room) -> None:
    for language in LANGUAGES:
        brought = room.ask("How high is the oven door?", language=language)
        assert memory_text(brought).split("\n")[0] == words_in(language).memory
    assert words_in("fi") == words_in("en")
    assert len({words_in(language).associations for language in LANGUAGES}) == len(LANGUAGES)


def test_a_message_says_when_it_was_said_and_by_whom(room: Room) -> None:
    put_session(room, "The chimney sweep comes on the ninth of April.")
    text = memory_text(room.ask("when does the chimney sweep come"))
    assert f"- [[{MEMORY}/sessions/{SESSION}#^m1]] 2026-02-20, Anna: The chimney sweep" in text


def test_pieces_are_short_and_few(room: Room) -> None:
    filler = "Nothing of the kind, parrots and taxes. " * 8
    for number in range(9):
        room.vault.put(f"Wood {number}.md", f"{filler} Beech wood costs {number} zł. {filler}")
    brought = room.ask("what does beech wood cost", association_tokens=0)
    lines = memory_text(brought).split("\n")[1:]
    assert len(lines) == 3
    assert all(len(line.partition(": ")[2]) <= 200 and "Beech wood" in line for line in lines)
    assert "only the best 3 are shown" in reasons(brought)


@pytest.mark.parametrize("tokens_", [1, 12, 30, 45, 80, 150])
def test_no_part_is_larger_than_its_room(room: Room, tokens_: int) -> None:
    filler = "Nothing of the kind, parrots and taxes. " * 8
    for number in range(5):
        room.vault.put(f"Wood {number}.md", f"Beech wood costs {number} zł. [[Tax]] {filler}")
    brought = room.ask("beech wood cost", room_tokens=tokens_, association_tokens=tokens_)
    for part in (brought.memory, brought.associations):
        assert part is None or part.tokens <= min(tokens_, 300)


def test_without_room_nothing_is_brought(room: Room) -> None:
    brought = room.ask("How high is the oven door?", room_tokens=0, association_tokens=0)
    assert (brought.memory, brought.associations) == (None, None)


# --- old questions -------------------------------------------------------------------------

DEADLINE = "what is the deadline of Project Heron?"


def put_talk(room: Room, name: str, *said: tuple[str, str]) -> None:
    text = render_header(SessionMeta(name, "main", TIME))
    for number, (role, one) in enumerate(said, 1):
        text += render_message(
            Message(role, one, TIME, f"{name}:{number}", block=f"m{number}")  # type: ignore[arg-type]
        )
    room.vault.put(f"{MEMORY}/sessions/{name}.md", text)


def test_old_questions_are_not_brought_in_place_of_the_note_that_answers(room: Room) -> None:
    room.vault.put("Heron.md", "Heron is due on the fourteenth: the project has no slack.\n")
    for day, asked in enumerate(
        (DEADLINE, "Tell me, what is the deadline of Project Heron?", "When is Project Heron due?"),
        1,
    ):
        put_talk(room, f"2026-02-0{day}_001", ("user", asked), ("user", f"{asked} Again."))
    for day in range(10, 28):
        put_talk(room, f"2026-01-{day}_001", ("user", f"So, {DEADLINE}"))
    brought = room.ask(DEADLINE)
    assert "fourteenth" in memory_text(brought)
    assert "deadline of Project Heron?" not in memory_text(brought)
    assert "only asks the same" in reasons(brought)
    found = brought.associations.text if brought.associations else ""
    assert "deadline" not in found


def test_the_answer_to_an_old_question_is_brought_and_not_the_question(room: Room) -> None:
    put_talk(room, SESSION, ("user", DEADLINE), ("assistant", "It was moved to the spring."))
    text = memory_text(room.ask("Remind me, when is the deadline of Project Heron?"))
    assert f"{SESSION}#^m2" in text
    assert "moved to the spring" in text
    assert f"{SESSION}#^m1" not in text


def test_an_answer_that_knows_nothing_or_is_forgotten_is_not_brought(room: Room) -> None:
    put_talk(room, SESSION, ("user", DEADLINE), ("assistant", "I don't know, sorry."))
    assert room.ask(DEADLINE).memory is None
    put_talk(room, SESSION, ("user", DEADLINE), ("assistant", "It was moved to the spring."))
    room.vault.hidden.names.add(("main", SESSION, f"{SESSION}:2"))
    assert "spring" not in memory_text(room.ask(DEADLINE))


def test_who_asks_for_what_was_asked_gets_the_questions(room: Room) -> None:
    put_session(room, DEADLINE)
    assert "deadline" in memory_text(room.ask("did I ask for the deadline of Project Heron"))


# --- when nothing is -----------------------------------------------------------------------


def test_small_talk_brings_nothing(room: Room) -> None:
    lines = SMALL_TALK.read_text("utf-8").splitlines()
    said = [json.loads(line)["text"] for line in lines]
    put_session(room, *said)
    brought = {text: memory_text(room.ask(text)) for text in said}
    assert not [text for text, found in brought.items() if found]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"query": "   "}, "memory: nothing was asked"),
        ({"query": "thanks, great"}, "memory: nothing in it to look for"),
        ({"query": "zebra crossings in Peru"}, "memory: nothing was found"),
        (
            {"query": "oven door and zebra crossings in Peru"},
            "less than 0.50 (recall.relevance is 0.50)",
        ),
    ],
)
def test_it_says_why_nothing_is_brought(room: Room, changed: dict[str, str], reason: str) -> None:
    brought = room.ask(**changed)
    assert brought.memory is None
    assert reason in reasons(brought)


def test_switched_off_it_does_not_even_look(room: Room) -> None:
    room.recall = RecallConfig(enabled=False)
    brought = room.ask("How high is the oven door?")
    assert (brought.memory, brought.associations) == (None, None)
    assert reasons(brought) == "memory: switched off"


def test_a_good_match_in_the_conversation_keeps_memory_out_unless_the_topic_is_new(
    room: Room,
) -> None:
    query = "How high is the oven door?"
    inside = room.ask(query, best=0.7, topic_is_new=False)
    assert inside.memory is None
    assert "the conversation itself has a match of 0.70" in reasons(inside)
    assert inside.associations is None, "what is not asked brings nothing to mind"
    assert room.ask(query, best=0.69, topic_is_new=False).memory is not None
    assert room.ask(query, best=0.9, topic_is_new=True).memory is not None


def test_associations_can_be_switched_off(room: Room) -> None:
    room.association = AssociationConfig(max_tokens=0)
    brought = room.ask("How high is the oven door?")
    assert brought.memory is not None
    assert brought.associations is None


def test_the_gate_keeps_weak_associations_out(room: Room) -> None:
    room.association = AssociationConfig(gate=0.99)
    brought = room.ask("How high is the oven door?")
    assert brought.associations is None
    assert "nothing is tied to what was found as strongly as 0.99" in reasons(brought)


def test_it_names_what_must_be_raised_for_more(room: Room) -> None:
    room.recall = RecallConfig(max_tokens=45, top_k=2)
    for number in range(5):
        room.vault.put(f"Wood {number}.md", f"Beech wood costs {number} zł. " + "Parrots. " * 40)
    said = reasons(room.ask("beech wood cost"))
    assert "more than 45 tokens (raise recall.max_tokens)" in said
    assert "more than 30 tokens, which this budget leaves" in reasons(
        room.ask("beech wood cost", room_tokens=30)
    )
    room.recall = RecallConfig(top_k=1)
    said = reasons(room.ask("beech wood cost"))
    assert "only the best 1 are shown (raise recall.top_k)" in said


# --- what stands in the context already -----------------------------------------------------


def test_what_the_context_shows_already_is_not_said_again(room: Room) -> None:
    room.vault.put(f"{MEMORY}/brain.md", "## User\n\n- The oven door was painted **green** ^k1\n")
    query = "what colour was the oven door painted"
    assert "green" in memory_text(room.ask(query))
    brought = room.ask(query, shown=("## User\n\n- The oven door was painted green",))
    assert "green" not in memory_text(brought)
    assert "brain.md#^k1: stands in the context already" in reasons(brought)


def test_what_the_last_conversation_left_is_no_lasting_memory(room: Room) -> None:
    room.vault.put(f"{MEMORY}/active_context.md", "## Decisions\n\n- The oven door is green ^k1\n")
    brought = room.ask("what colour is the oven door")
    assert "green" not in memory_text(brought)
    assert "active_context.md#^k1: stands in the context already" in reasons(brought)


def test_a_piece_of_which_all_is_shown_is_not_said_again(room: Room) -> None:
    long = f"{'Nothing happened on that day. ' * 20}The chimney sweep comes on the ninth of April."
    room.vault.put("Diary.md", f"- {long} {'It rained and rained. ' * 20}\n")
    query = "when does the chimney sweep come"
    piece = memory_text(room.ask(query)).partition("]]: ")[2]
    assert "ninth of April" in piece and not piece.startswith("- ")
    assert "April" not in memory_text(room.ask(query, shown=(f"He says that {piece} So it is.",)))


def test_the_same_words_are_not_brought_twice(room: Room) -> None:
    room.vault.put("Copy.md", "The oven door is 25 cm high, built by [[Władek]].\n")
    assert memory_text(room.ask("How high is the oven door?")).count("25 cm") == 1


def test_the_running_session_and_its_summary_are_no_lasting_memory(room: Room) -> None:
    put_session(room, "The chimney sweep comes on the ninth of April.")
    summary = f"{MEMORY}/summaries/rolling/{SESSION}-2.md"
    room.vault.put(summary, "The chimney sweep comes on the ninth of April, said Anna ^s1\n")
    query = "when does the chimney sweep come"
    assert room.ask(query).memory is not None
    brought = room.ask(query, session=SESSION)
    assert (brought.memory, brought.associations) == (None, None)


def test_an_earlier_segment_of_the_running_session_is(room: Room) -> None:
    put_session(room, "The chimney sweep comes in April.", "The chimney sweep is called Jan.")
    query = "what about the chimney sweep"
    text = memory_text(room.ask(query, session=SESSION, since="m2"))
    assert "in April" in text
    assert "Jan" not in text


def test_a_running_session_of_thousands_does_not_crowd_out_memory(room: Room) -> None:
    room.vault.put("Sweep.md", "Chimney sweep: Jan Nowak, Mogilany.\n")
    put_session(room, *(f"About the chimney sweep, number {n}." for n in range(400)))
    text = memory_text(room.ask("who is the chimney sweep", session=SESSION))
    assert "Jan Nowak" in text


def test_a_paste_of_megabytes_is_asked_by_its_ends(room: Room) -> None:
    paste = "parrots and taxes " * 300_000
    assert "25 cm" in memory_text(room.ask(f"How high is the oven door?\n{paste}"[:2000]))
    assert room.ask(f"{paste}\nHow high is the oven door?") is not None


# --- who may see what ----------------------------------------------------------------------


def test_a_secret_does_not_come_along(room: Room) -> None:
    key = "sk-ant-api03-" + "a1B2" * 12
    room.vault.put("Oven.md", f"The oven door key is {key}, see [[Władek]].\n")
    room.vault.put("Władek.md", f"Stove fitter, key {key}\n")
    brought = room.ask("what is the oven door key")
    for part in (brought.memory, brought.associations):
        assert part is not None
        assert key not in part.text


def test_a_forgotten_message_is_not_brought(room: Room) -> None:
    put_session(room, "The chimney sweep comes in April.")
    room.vault.hidden.names.add(("main", SESSION, "D1:1"))
    assert room.ask("when does the chimney sweep come").memory is None


def test_an_agent_that_keeps_its_memory_is_not_there(room: Room) -> None:
    theirs = "VaultMind/agents/jaskier/memory/brain.md"
    room.vault.put(theirs, "## User\n\n- The chimney sweep comes in April ^k1\n")
    room.vault.put(f"{MEMORY}/brain.md", "## User\n\n- Likes tea ^k1\n")
    query = "when does the chimney sweep come"
    assert "April" in memory_text(room.ask(query, MAIN, agent="jaskier"))
    room.vault.rights.hidden.add(("main", "jaskier"))
    brought = room.ask(query, MAIN, agent="jaskier")
    assert (brought.memory, brought.associations) == (None, None)


def test_what_changed_on_disk_a_moment_ago_is_brought_as_it_stands(room: Room) -> None:
    room.vault.write("Oven.md", "The oven door is 27 cm high.\n")
    assert "27 cm" in memory_text(room.ask("How high is the oven door?"))


# --- how associations are shown -------------------------------------------------------------


def neighbour(name: str, text: str, strength: float) -> Neighbour:
    chunk = Chunk(name, f"{name}.md", "note", "", "", name, text, 0, len(text))
    return Neighbour(chunk, "tag", "none", "oven", strength)


def test_associations_fit_their_room_the_strongest_first() -> None:
    near = [neighbour(f"N{n}", "Beech, split and dry. " * 9, 0.9 - n / 10) for n in range(6)]
    frame = Frame(words_in("en"), sought("wood", LANGUAGES), 100)
    part, dropped = association_part(near, {}, frame)
    assert part is not None
    assert part.tokens <= 100
    assert part.sources[0] == "N0.md"
    assert part.why.startswith("0.90")
    (left,) = dropped
    assert left.what == f"{6 - len(part.sources)} associations"
    assert "shares #oven with" in part.text


# --- the whole of it ------------------------------------------------------------------------


def test_the_app_recalls_from_a_real_index_with_vectors(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    (root / "Oven.md").write_text("The oven door is 25 cm high, says [[Władek]].\n", "utf-8")
    (root / "Władek.md").write_text("Stove fitter in Mogilany.\n", "utf-8")
    config = Config(root, tmp_path / "state", index=replace(IndexConfig(), watch=False))
    app = open_app(config, embedder=HashEmbedder())
    app.start()
    try:
        assert app.index.wait_ready(60, vectors=True)
        brought = app.long_term.recall(
            Ask("How high is the oven door?", "main", PERSON, "", "en", 300, 100)
        )
        assert "25 cm" in memory_text(brought)
        assert brought.associations is not None
        assert "Stove fitter" in brought.associations.text
    finally:
        app.close()
