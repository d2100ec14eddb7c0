"""memory/gate: what a person trusts is true of every write."""

from __future__ import annotations

import pytest

from tests.memory.conftest import MAIN, House, read_audit
from vaultmind.errors import BadArgument, PathRefused
from vaultmind.memory.forget.hiding import Tombstones
from vaultmind.types import PERSON, MessageRef

BRAIN = "VaultMind/agents/main/memory/brain.md"
ARCHIVE = "VaultMind/agents/main/memory/brain_archive.md"
M7 = MessageRef("main", "2026-02-20_001", "m7", "D1:3")


def test_forgetting_leaves_brain_and_archive_and_hides_who_said_it(house: House) -> None:
    house.indexer.messages = [
        (M7, "Remember that I prefer short answers, please."),
        (MessageRef("main", "2026-02-20_001", "m8"), "Noted: you prefer short answers."),
        (MessageRef("main", "2026-02-20_001", "m9"), "The answers to the quiz are short."),
    ]
    house.remember("Prefers short answers", evidence=M7)
    house.put(ARCHIVE, "# Old\n- prefers SHORT answers %%2025-01-01 said%% ^zz99\n- Keeps bees\n")
    done = house.forget("that I prefer short answers")
    assert (done.outcome, done.hidden_messages) == ("written", 2)
    assert "short answers" not in house.brain()
    assert house.file(ARCHIVE).read_text() == "# Old\n- Keeps bees\n"
    tombstones = Tombstones(house.paths)
    assert tombstones.hides("main", "2026-02-20_001", "m7")
    assert tombstones.hides("main", "2026-02-20_001", "D1:3")
    assert tombstones.hides("main", "2026-02-20_001", "m8")
    assert not tombstones.hides("main", "2026-02-20_001", "m9")
    assert "short" not in house.file(house.paths.tombstones("main", "test")).read_text()
    assert "Also hid 2 messages that mentioned it." in done.message


def test_what_stands_in_a_persons_own_prose_is_said_and_left_alone(house: House) -> None:
    text = "Anna keeps bees behind the barn.\n\n## User\n- Likes tea\n"
    house.put(BRAIN, text)
    done = house.forget("bees behind the barn")
    assert done.outcome == "not_found"
    assert f"Your own text in {BRAIN} mentions it; edit it there." in done.message
    assert house.brain() == text
    house.put(BRAIN, "She likes tea.\n\n- Likes tea\n")
    assert "Your own text in" in house.forget("likes tea").message


def test_a_persons_own_secret_can_be_forgotten_by_its_words(house: House) -> None:
    house.put(BRAIN, "- Card 4111 1111 1111 1111\n")
    done = house.forget("card 4111 1111 1111 1111")
    assert done.outcome == "written" and "4111" not in done.before + done.message + done.fact
    assert house.brain() == ""


@pytest.mark.parametrize("text", ["", "  \n", "...", "\u202e", "x" * 1001])
def test_what_is_no_fact_is_refused_by_name(house: House, text: str) -> None:
    with pytest.raises(BadArgument, match="'text'"):
        house.remember(text)
    with pytest.raises(BadArgument, match="'old'"):
        house.replace("", "Likes tea")


def test_records_are_saved_and_facts_are_not_records(house: House) -> None:
    session = house.paths.session("main", "2026-02-20_001")
    house.gate.save(session, lambda file: "one\n" if file is None else None, MAIN, "begins")
    house.gate.append(session, "two\n")
    assert house.file(session).read_text() == "one\ntwo\n"
    assert read_audit(house.paths, "main")[-1].path == session
    for path in (BRAIN, ARCHIVE, house.paths.audit("main", "test")):
        with pytest.raises(PathRefused):
            house.gate.save(path, lambda _: "x", PERSON, "")
        with pytest.raises(PathRefused):
            house.gate.append(path, "x")
    house.gate.remove(session, MAIN, "")
    house.put("Note.md", "mine")
    with pytest.raises(PathRefused):
        house.gate.remove("Note.md", PERSON, "")


def test_an_agent_saves_its_own_records_only_and_never_its_identity(house: House) -> None:
    for path in ("VaultMind/agents/dexter/x.md", house.paths.identity("main"), "VaultMind/x.md"):
        with pytest.raises(PathRefused):
            house.gate.save(path, lambda _: "x", MAIN, "")
    house.gate.save(house.paths.identity("main"), lambda _: "x", PERSON, "init")


@pytest.mark.parametrize(
    "text",
    [
        "api key AKIAIOSFODNN7EXAMPLE",
        "card number 4111 1111 1111 1111",
        "My card: ‹card number›",
    ],
)
def test_a_label_and_a_mask_are_no_fact(house: House, text: str) -> None:
    done = house.remember(text)
    assert done.outcome == "denied" and "Nothing was stored" in done.message
    assert "AKIA" not in done.message and "4111" not in done.message
    assert not house.file(house.paths.brain("main")).exists()


def test_a_new_fact_takes_the_place_of_what_it_contradicts_which_the_archive_keeps(
    house: House,
) -> None:
    house.put(BRAIN, "## User\n\n* [x] Lives in Kraków\n- Likes tea ^teaa\n")
    assert house.remember("Lives in Gdańsk").before == "Lives in Kraków"
    assert house.brain().startswith("## User\n\n* [x] Lives in Gdańsk %%2026-02-20 said")
    assert "Lives in Kraków %%until 2026-02-20%%" in house.file(ARCHIVE).read_text()
    assert house.remember("Lives in Kraków").before == "Lives in Gdańsk"


def test_a_line_that_a_person_typed_gives_way_to_no_extraction(house: House) -> None:
    house.put(BRAIN, "- Lives in Kraków\n")
    done = house.remember("Lives in Gdańsk", caller=MAIN, how="extracted")
    assert done.outcome == "suggested" and "typed by the person" in done.reason


def test_an_archived_fact_comes_back_by_its_words_and_a_typed_line_stays_theirs(
    house: House,
) -> None:
    house.put(ARCHIVE, "# Main\n\n- Keeps bees %%2026-01-05 said%% ^bees\n- Plays chess\n")
    assert house.remember("keeps bees").outcome == "written"
    assert "keeps bees %%2026-02-20 said%%" in house.brain()
    assert house.file(ARCHIVE).read_text() == "# Main\n\n- Plays chess\n"
    assert house.remember("Plays chess").outcome == "written"
    assert "- Plays chess\n" in house.file(ARCHIVE).read_text()


def test_a_fact_that_the_person_reworded_in_the_file_is_of_that_day_and_theirs(
    house: House,
) -> None:
    house.remember("Lives in Gdańsk", evidence=M7, said_on="2025-01-02")
    house.remember("Likes tea", said_on="2025-01-02")
    tea = "- Likes tea %%2025-01-02 said%%"
    house.gate.notice()
    assert house.brain().count("2025-01-02 said") == 2
    house.put(BRAIN, house.brain().replace("Gdańsk", "Sopot"))
    for _ in range(2):
        house.gate.notice()
        assert "Lives in Sopot %%2026-02-20 edited%% ^" in house.brain() and tea in house.brain()
    done = house.remember("Lives in Kraków", caller=MAIN, how="extracted", said_on="2026-03-01")
    assert done.outcome == "suggested" and "typed by the person" in done.reason
    done = house.replace("Lives in Sopot", "Lives in Hel")
    house.gate.notice()
    assert done.outcome == "written" and "Lives in Hel %%2026-02-20 said%%" in house.brain()
