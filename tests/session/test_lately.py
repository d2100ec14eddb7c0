"""What an active context tells of the conversations before the last one."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.session.samples import Files
from vaultmind.session.context.start import BESIDE_TOKENS, Beginning, start_context
from vaultmind.session.lifecycle.active import own_text, told_beside
from vaultmind.session.lifecycle.ending import Ends
from vaultmind.session.lifecycle.lifecycle import SessionLog
from vaultmind.session.records.reading import plain_text
from vaultmind.tokens import count
from vaultmind.types import Caller, Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.properties import front_matter

NOON = datetime(2026, 2, 20, 12, 0, 0, tzinfo=UTC)
DESKTOP = Caller("agent", "main", "claude-ai")
CODE = Caller("agent", "main", "claude-code", project="shop")
KITCHEN = (
    "We are redoing the kitchen in March.",
    "We decided on an oak worktop for 4,200 euros at most.",
    "I'll call the joiner on Tuesday.",
)
SHOP = (
    "The checkout test fails on Safari since Friday.",
    "We decided to drop Safari 14.",
    "Next we move the prices to cents.",
)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


class Desk:
    """Conversations of one agent, with whatever client, and the file that they leave."""

    def __init__(self, files: Files, reader: VaultReader, paths: VaultPaths) -> None:
        self.paths = paths
        self.clock = Clock()
        self.hidden: set[str] = set()
        ends = Ends(lambda agent, record, part: part in self.hidden)
        self.log = SessionLog(files, reader, paths, self.clock, 30, ends)
        self.file = paths.root / paths.active_context("main")

    def talk(self, *texts: str, caller: Caller = DESKTOP, conversation: str = "") -> str:
        """Hold a conversation an hour after the last, and end it."""
        self.clock.now += timedelta(hours=1)
        session = self.says(*texts, caller=caller, conversation=conversation)
        self.log.end("main", session=session)
        return session

    def says(self, *texts: str, caller: Caller = DESKTOP, conversation: str = "") -> str:
        said = [Message("user", text, "") for text in texts]
        return self.log.log_many("main", said, caller=caller, conversation=conversation).session

    @property
    def text(self) -> str:
        return self.file.read_text("utf-8")

    @property
    def shown(self) -> str:
        return plain_text(self.text)

    @property
    def told_of(self) -> list[str]:
        """Return the sessions that are told of, the last one first."""
        return re.findall(r'%%\{"session":"([^"]+)"', self.text)


@pytest.fixture
def desk(files: Files, reader: VaultReader, paths: VaultPaths) -> Desk:
    return Desk(files, reader, paths)


def test_after_a_coding_session_the_next_chat_still_knows_of_the_kitchen(desk: Desk) -> None:
    desk.talk(*KITCHEN)
    desk.talk(*SHOP, caller=CODE, conversation="claude-code:1")
    last, before = desk.shown.split("## Before that")
    assert last.startswith("2026-02-20 14:00, Claude Code, shop\n") and "Safari 14" in last
    assert before.split("\n", 4)[2:] == [
        "### 2026-02-20 13:00, Claude Desktop",
        "- We decided on an oak worktop for 4,200 euros at most.",
        "- I'll call the joiner on Tuesday.",
    ]


def test_the_graph_and_the_size_say_what_stands_there(desk: Desk) -> None:
    first, second = desk.talk(*KITCHEN), desk.talk(*SHOP)
    found = front_matter(desk.text)
    assert found is not None
    folder = "VaultMind/agents/main/memory/sessions"
    assert found.properties["session"] == f"[[{folder}/{second}]]"
    assert found.properties["earlier"] == [f"[[{folder}/{first}]]"]
    assert found.properties["tokens"] == count(desk.shown)


def test_it_stays_within_its_tokens_and_the_last_conversation_has_most_of_them(desk: Desk) -> None:
    for number in range(6):
        desk.talk(*(
            f"We decided that in room {number} wall {n} is painted colour {n * 37} on a Friday."
            for n in range(20)
        ))  # fmt: skip
    assert 250 < count(desk.shown) <= 300
    assert count(plain_text(own_text(desk.text))) > 150
    assert len(desk.told_of) > 2


def test_a_day_of_work_on_one_project_pushes_out_nothing_else(desk: Desk) -> None:
    kitchen, boat = desk.talk(*KITCHEN), desk.talk("We decided to sell the boat.")
    work = [
        desk.talk(f"We decided to use column number {n}.", caller=CODE, conversation=f"code:{n}")
        for n in range(7)
    ]
    assert desk.told_of[0] == work[-1]
    assert {kitchen, boat} < set(desk.told_of) and len(desk.told_of) == 5


def test_what_is_older_than_a_week_beside_the_last_is_told_no_more(desk: Desk) -> None:
    desk.talk(*KITCHEN)
    desk.clock.now += timedelta(days=8)
    desk.talk(*SHOP)
    assert "oak" not in desk.text and "earlier:" not in desk.text


def test_one_that_was_over_before_the_last_finds_its_place(desk: Desk) -> None:
    older = desk.says(*KITCHEN)
    desk.clock.now += timedelta(minutes=10)
    last = desk.says(*SHOP, caller=CODE, conversation="claude-code:1")
    desk.log.end("main", session=last)
    before = desk.text
    desk.clock.now += timedelta(hours=1)
    desk.log.end_idle()
    assert desk.told_of == [last, older]
    assert own_text(desk.text).strip() == own_text(before).split("---\n")[-1].strip()


def test_a_full_text_makes_room_for_one_that_was_over_before_it(desk: Desk) -> None:
    desk.says(*KITCHEN)
    desk.clock.now += timedelta(minutes=10)
    many = [f"We decided that wall {n} is painted in colour {n * 37} on Friday." for n in range(30)]
    last = desk.says(*many, caller=CODE, conversation="claude-code:1")
    desk.log.end("main", session=last)
    desk.file.write_text(desk.text.replace("wall 3 is", "wall three is"), "utf-8")
    desk.clock.now += timedelta(hours=1)
    desk.log.end_idle()
    assert "oak worktop" in desk.shown and count(desk.shown) <= 300
    assert "wall three is" in desk.shown, "what a person changed gives way to nothing"


@pytest.mark.parametrize("said", ["hi, are you there?", "Which port does staging listen on?"])
def test_a_greeting_or_a_lone_question_pushes_nothing_anywhere(desk: Desk, said: str) -> None:
    desk.talk(*KITCHEN)
    desk.talk(*SHOP)
    before = desk.text
    desk.talk(said)
    assert desk.text == before


def test_a_session_that_is_ended_twice_leaves_the_same_bytes(desk: Desk, paths: VaultPaths) -> None:
    desk.talk(*KITCHEN)
    session = desk.talk(*SHOP)
    before = desk.text
    file = paths.root / paths.session("main", session)
    text = re.sub(r"(?m)^(ended|pending):.*\n", "", file.read_text("utf-8"))
    file.write_text(text.replace("state: ended", "state: open"), "utf-8")
    assert desk.log.end("main", session=session) == session
    assert desk.text == before


def test_what_a_person_changed_or_took_out_stays_so(desk: Desk) -> None:
    desk.talk(*KITCHEN)
    desk.talk(*SHOP)
    text = desk.text.replace("an oak worktop", "a WALNUT worktop")
    desk.file.write_text(re.sub(r"- I'll call the joiner.*\n", "", text), "utf-8")
    desk.talk("We decided to sell the boat.")
    assert "WALNUT" in desk.shown and "joiner" not in desk.shown
    desk.file.write_text(re.sub(r"(?s)### [^\n]*\n- We decided on a WALNUT.*", "", desk.text))
    desk.talk("We decided to paint the shed.")
    assert "WALNUT" not in desk.shown and "boat" in desk.shown


def test_a_line_of_a_persons_own_in_the_last_ones_text_is_carried_first(desk: Desk) -> None:
    desk.talk(*KITCHEN)
    desk.file.write_text(f"{desk.text}- Ask Ewa about the hood.\n", "utf-8")
    desk.talk(*SHOP)
    assert "Claude Desktop\n- Ask Ewa about the hood.\n- We decided on an oak" in desk.shown


def _wrapped(desk: Desk, before: str, after: str) -> None:
    """Put a passage of a person's own around the bullet of the worktop, in an editor's bytes."""
    text = re.sub(r"(?m)^(- We decided on an oak.*)$", rf"{before}\1{after}", desk.text)
    desk.file.write_bytes(text.replace("\n", "\r\n").encode("utf-8-sig"))


@pytest.mark.parametrize("after", ["\n</private>", ""])
def test_what_a_person_marked_as_private_is_not_carried_on(desk: Desk, after: str) -> None:
    desk.talk(*KITCHEN)
    _wrapped(desk, "<private>\n- The oak is for Klara.\n", after)
    desk.talk(*SHOP, caller=CODE, conversation="claude-code:1")
    desk.talk("We decided to sell the boat.")
    assert "oak" not in desk.text and "Klara" not in desk.text
    assert "Safari 14" in desk.shown and "sell the boat" in desk.shown


def test_a_private_passage_among_the_earlier_ones_hides_no_more_than_itself(desk: Desk) -> None:
    desk.talk(*KITCHEN)
    desk.talk(*SHOP, caller=CODE, conversation="claude-code:1")
    _wrapped(desk, "- <private>", "</private>")
    desk.talk("We decided to sell the boat.")
    assert "oak" not in desk.text and "private" not in desk.text
    assert "joiner" in desk.shown and "Safari 14" in desk.shown and "sell the boat" in desk.shown


def test_a_private_passage_reaches_as_far_in_a_conversation_that_goes_on(desk: Desk) -> None:
    desk.talk(*KITCHEN)
    last = desk.talk(*SHOP, caller=CODE, conversation="claude-code:1")
    text = desk.text.replace("- We decided to drop", "<private>\n- We decided to drop")
    desk.file.write_text(text, "utf-8")
    told = plain_text(told_beside(desk.text, last, "## Now\n\n- The roof is mended."))
    assert "oak" not in told and "The roof is mended" in told


@pytest.mark.parametrize("said", ['x %%{"session":', '### x %%{"session":', '- x %%{"c":'])
def test_no_text_is_too_deep_to_end_a_conversation(desk: Desk, said: str) -> None:
    desk.file.parent.mkdir(parents=True)
    desk.file.write_text(f"{said}{'[' * 9000}{']' * 9000}}}%%\n- a\n", "utf-8")
    desk.talk(*KITCHEN)
    assert "oak worktop" in desk.shown


def test_what_was_forgotten_is_not_carried_on_nor_the_words_of_its_labels(desk: Desk) -> None:
    first = desk.talk(*KITCHEN).replace("_", "-")
    block = re.search(rf"oak worktop.*\^({first}-\S+)", desk.text)
    assert block
    desk.hidden.add(block[1])
    desk.talk(*SHOP)
    assert "oak" not in desk.text and "joiner" in desk.text
    desk.hidden.update(re.findall(rf"\^({first}-\S+)", desk.text))
    desk.talk("We decided to sell the boat.")
    assert "Tuesday" not in desk.text and "Safari" in desk.text


def test_a_conversation_whose_file_was_deleted_is_told_of_no_more(
    desk: Desk, paths: VaultPaths
) -> None:
    first = desk.talk(*KITCHEN)
    (paths.root / paths.session("main", first)).unlink()
    desk.talk(*SHOP)
    assert "oak" not in desk.text


def test_lines_that_lost_their_heading_are_nobodys(desk: Desk) -> None:
    desk.talk(*KITCHEN)
    desk.talk(*SHOP)
    desk.file.write_text(re.sub(r"(?m)^### .*\n", "", desk.text), "utf-8")
    desk.talk("We decided to sell the boat.")
    assert "Safari" in desk.text and "oak" not in desk.text


def test_todays_format_stays_until_the_next_end_and_is_told_of_then(desk: Desk) -> None:
    first = desk.talk(*KITCHEN)
    body = own_text(desk.text).split("%%\n", 1)[1]
    session = f"VaultMind/agents/main/memory/sessions/{first}"
    for text in (body, "\nThe kitchen gets an oak worktop. Then it rests.\n"):
        desk.file.write_text(
            f'---\nsession: "[[{session}]]"\ndate: {desk.clock.now.isoformat()}\n---\n{text}',
            "utf-8",
        )
        desk.talk(*SHOP)
        assert desk.told_of[1] == first and "oak worktop" in desk.shown


def test_each_language_says_before_that_in_its_own_words(desk: Desk) -> None:
    desk.talk(*KITCHEN)
    desk.talk("Postanowiliśmy sprzedać łódkę za 900 złotych, zanim przyjdzie zima.")
    assert "## Wcześniej\n" in desk.text
    desk.talk("Мы решили продать лодку и купить велосипед до зимы за 900 рублей.")
    assert "## До этого\n" in desk.text and "## Wcześniej" not in desk.text
    assert len(desk.told_of) == 3


def test_a_clients_odd_name_does_nothing_in_the_file(desk: Desk) -> None:
    odd = Caller("agent", "main", '%%x [[a#^b]] "\n# Odd %% ^m1', project="a%%b")
    desk.talk(*KITCHEN, caller=odd)
    desk.talk(*SHOP)
    assert len(desk.told_of) == 2 and "\n# Odd" not in desk.text
    assert "### 2026-02-20 13:00, x" in desk.shown


def test_a_secret_in_the_name_of_a_folder_or_client_is_written_nowhere(
    desk: Desk, paths: VaultPaths
) -> None:
    key = "sk-ant-api03-" + "Ab3" * 31
    odd = Caller("agent", "main", f"client {key}", project=f"shop {key}")
    session = desk.talk(*KITCHEN, caller=odd)
    desk.talk(*SHOP)
    file = paths.root / paths.session("main", session)
    assert "sk-ant" not in file.read_text("utf-8") + desk.text and "‹api key›" in desk.text


# --- what goes on beside -------------------------------------------------------------------


def _begins(desk: Desk, session: str = "", max_tokens: int = 800) -> str:
    """Return what a conversation is told at its start."""
    beside = desk.log.beside("main", session)
    begins = Beginning("main", DESKTOP, max_tokens, session, beside)
    reader = VaultReader(desk.paths, 0)

    def hides(agent: str, record: str, part: str) -> bool:
        return part in desk.hidden

    parts = start_context(reader, begins, shows=lambda *_: True, hides=hides).parts
    return parts[0].text if parts else ""


def test_who_begins_is_told_what_goes_on_in_another_window(desk: Desk) -> None:
    desk.talk(*KITCHEN)
    desk.talk("We decided to sell the boat.")
    before = desk.text
    desk.says(*SHOP, caller=CODE, conversation="claude-code:1")
    own = desk.says("We decided to paint the shed.", conversation="other:2")
    told = _begins(desk, own)
    assert told.index("boat") < told.index("## Going on now") < told.index("## Before that")
    assert "### 2026-02-20 14:00, Claude Code, shop\n- We decided to drop Safari 14." in told
    assert "shed" not in told and "oak worktop" in told
    assert desk.text == before, "it is told, not written"


def test_nothing_of_the_conversation_itself_nor_of_what_was_forgotten_is_told(desk: Desk) -> None:
    session = desk.says(*SHOP, caller=CODE, conversation="claude-code:1")
    assert _begins(desk, session) == ""
    desk.hidden.add("m2")
    assert "Safari since Friday" in _begins(desk) and "Safari 14" not in _begins(desk)


def test_a_conversation_that_goes_on_is_not_told_what_it_left_itself(desk: Desk) -> None:
    first, last = desk.talk(*KITCHEN), desk.talk(*SHOP)
    assert "oak" in _begins(desk, last) and "Safari" not in _begins(desk, last)
    assert "Safari" in _begins(desk, first) and "oak" not in _begins(desk, first)


def test_what_goes_on_beside_takes_no_more_than_the_start_may_have(desk: Desk) -> None:
    desk.talk(*KITCHEN)
    for number in range(4):
        said = [f"We decided that room {number} has wall {n} in colour {n}." for n in range(30)]
        desk.says(*said, conversation=f"code:{number}")
    assert count(_begins(desk)) <= 300 + BESIDE_TOKENS
    assert count(_begins(desk, max_tokens=60)) <= 60
