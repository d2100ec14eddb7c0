"""What extraction may write through the gate, what it may only suggest, and what is told of it."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from tests.memory.conftest import MAIN, House
from vaultmind.errors import BrokenMemory, NotFound, WriteFailed
from vaultmind.memory.audit.chain import verify
from vaultmind.memory.audit.drops import drops, settled_words
from vaultmind.memory.audit.lines import read_audit
from vaultmind.memory.audit.reading import Wanted, history
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.gate.dropping import TOLD
from vaultmind.memory.gate.ledger import Ledger
from vaultmind.memory.gate.overflow import Sizes
from vaultmind.memory.last import last_written
from vaultmind.memory.limits import brain_tokens
from vaultmind.memory.suggestions.queue import AT_ONCE, PER_SESSION
from vaultmind.redact import mask
from vaultmind.types import PERSON, Caller, MemoryWrite, Message, MessageRef, Outcome
from vaultmind.vault.files import VaultReader
from vaultmind.vault.transcript import render_message

BRAIN = "VaultMind/agents/main/memory/brain.md"
OLD, NEW = "2026-01-10_001", "2026-02-10_001"


def ref(block: str = "m1", session: str = NEW, agent: str = "main") -> MessageRef:
    return MessageRef(agent, session, block)


def keep(house: House, text: str, evidence: MessageRef | None = None, **more: object) -> Outcome:
    """Write a fact as consolidation does."""
    more = {"caller": MAIN, "how": "extracted", "evidence": evidence or ref(), **more}
    return house.remember(text, **more)


def facts(house: House, agent: str = "main") -> list[str]:
    path = house.file(house.paths.brain(agent))
    return [one.text for one in parse_brain(path.read_text()).all()] if path.exists() else []


def waiting(house: House) -> list[str]:
    return [one.suggestion.text for one in house.gate.queue.listed()]


def dropped(house: House, session: str = "") -> list[tuple[str, str]]:
    found = drops(house.paths, Wanted(house.paths.agent_names()))[0]
    return [(one.text, one.reason) for one in found if session in ("", one.session)]


def talk(house: House, session: str, *said: str, agent: str = "main") -> None:
    """Write a session of the user's messages, a minute apart."""
    day = session[:10]
    blocks = [
        render_message(
            Message("user", text, f"{day}T10:{at:02}:00+01:00", id=f"D{at}", block=f"m{at}")
        )
        for at, text in enumerate(said, 1)
    ]
    house.put(
        house.paths.session(agent, session), f"---\nagent: {agent}\n---\n\n" + "\n".join(blocks)
    )


# --- rights -------------------------------------------------------------------------------


def test_a_held_write_waits_for_the_person_with_its_reason_and_its_source(house: House) -> None:
    done = keep(house, "Works in Gdynia", hold="a later message seems to touch it")
    assert (done.outcome, facts(house)) == ("suggested", [])
    text = house.file(house.paths.suggestions).read_text()
    assert "why: a later message seems to touch it" in text
    assert f"[[{house.paths.session('main', NEW).removesuffix('.md')}#^m1|" in text
    again = keep(house, "Works in Gdynia", hold="a later message seems to touch it")
    assert (again.outcome, waiting(house)) == ("suggested", ["Works in Gdynia"])


def test_extraction_forgets_and_hides_nothing_that_no_fact_says(house: House) -> None:
    house.indexer.messages = [(ref(), "The silver Ducato is sold.")]
    done = house.forget("silver Ducato", caller=MAIN, how="extracted")
    assert (done.outcome, done.hidden_messages) == ("not_found", 0)


def test_a_hold_never_makes_a_refused_write_a_suggestion(house: House) -> None:
    house.put(house.paths.identity("main"), "---\nautonomy: 0\n---\n")
    assert keep(house, "Works in Gdynia", hold="doubtful").outcome == "denied"
    assert not house.file(house.paths.suggestions).exists()


def test_a_held_suggestion_that_the_person_accepts_is_written(house: House) -> None:
    done = keep(house, "Works in Gdynia", hold="doubtful")
    assert house.gate.answer_suggestion(done.block, True, PERSON).outcome == "written"
    assert facts(house) == ["Works in Gdynia"]


def test_the_person_who_starts_it_gives_extraction_no_more_rights_than_the_agent_has(
    house: House,
) -> None:
    house.put(house.paths.identity("main"), "---\nautonomy: 1\n---\n")
    assert keep(house, "Works in Gdynia", caller=PERSON).outcome == "suggested"
    assert house.gate.would(write_of(caller=PERSON)).outcome == "suggested"
    house.put(house.paths.identity("main"), "---\nautonomy: 0\n---\n")
    assert keep(house, "Likes tea", caller=PERSON).outcome == "denied"


# --- what a person typed ------------------------------------------------------------------


@pytest.mark.parametrize("words", ["Lives in Warsaw", "^home"])
def test_a_line_that_a_person_typed_is_neither_replaced_nor_forgotten(
    house: House, words: str
) -> None:
    text = "# Main\n\n## User\n- Lives in Warsaw ^home\n"
    house.put(BRAIN, text)
    more = {"caller": MAIN, "how": "extracted", "evidence": ref()}
    moved = house.replace(words, "Lives in Gdynia", **more)
    gone = house.forget(words, **more)
    contradicted = keep(house, "Lives in Lublin")
    assert [one.outcome for one in (moved, gone, contradicted)] == ["suggested"] * 3
    assert "typed by the person" in moved.reason
    assert "was typed by the person" in house.file(house.paths.suggestions).read_text()
    assert house.brain() == text
    accepted = house.gate.answer_suggestion(moved.block, True, PERSON)
    assert (accepted.outcome, facts(house)) == ("written", ["Lives in Gdynia"])


def test_a_fact_of_ours_that_extraction_corrects_is_replaced(house: House) -> None:
    keep(house, "Lives in Warsaw", ref("m1", OLD))
    done = house.replace(
        "Lives in Warsaw", "Lives in Gdynia", caller=MAIN, how="extracted", evidence=ref()
    )
    assert (done.outcome, facts(house)) == ("written", ["Lives in Gdynia"])
    assert house.forget(
        "Lives in Gdynia", caller=MAIN, how="extracted", evidence=ref("m2")
    ).outcome == "suggested"  # fmt: skip
    assert facts(house) == ["Lives in Gdynia"]


def test_a_line_of_ours_with_lines_of_the_person_below_it_is_theirs_to_remove(house: House) -> None:
    keep(house, "Works on Hermes", ref("m1", OLD))
    typed = house.brain().rstrip("\n") + "\n    - with Anna, since May\n"
    house.put(BRAIN, typed)
    done = house.forget("Works on Hermes", caller=MAIN, how="extracted", evidence=ref())
    assert (done.outcome, house.brain()) == ("suggested", typed)


def test_a_line_of_ours_that_the_person_rewrote_is_theirs(house: House) -> None:
    keep(house, "Likes tea", ref("m1", OLD))
    house.put(BRAIN, house.brain().replace("Likes tea", "Likes green tea from Kyoto"))
    more = {"caller": MAIN, "how": "extracted", "evidence": ref()}
    done = house.replace("Likes green tea from Kyoto", "Likes coffee from Kyoto, not tea", **more)
    assert done.outcome == "suggested" and "by hand" in done.reason
    assert facts(house) == ["Likes green tea from Kyoto"]


# --- what comes late ----------------------------------------------------------------------


def test_what_was_said_before_does_not_replace_what_was_said_later(house: House) -> None:
    talk(house, OLD, "I live in Warsaw.")
    talk(house, NEW, "I moved: I live in Gdynia now.")
    keep(house, "Lives in Gdynia", ref("m1", NEW))
    late = keep(house, "Lives in Warsaw", ref("m1", OLD))
    assert late.outcome == "denied" and "said later" in late.reason
    assert facts(house) == ["Lives in Gdynia"]
    assert dropped(house, OLD) == [("Lives in Warsaw", "taken back")]
    assert waiting(house) == []


def test_within_one_conversation_the_later_message_counts_whatever_comes_first(
    house: House,
) -> None:
    talk(house, NEW, "The deadline of Hermes is 10 March.", "The deadline of Hermes is 14 March.")
    keep(house, "The deadline of Hermes is 14 March", ref("m2"))
    keep(house, "The deadline of Hermes is 10 March", ref("m1"))
    assert facts(house) == ["The deadline of Hermes is 14 March"]


SAID_AGAIN = [
    "Has a cat named Filemon",
    "The cat's name is Filemon",
    "Has a cat named Filemon who broke a vase",
    "Filemon, the cat",
]


@pytest.mark.parametrize("text", SAID_AGAIN)
def test_an_old_conversation_does_not_bring_back_what_was_forgotten_since(
    house: House, text: str
) -> None:
    talk(house, OLD, "My cat Filemon broke a vase.")
    house.remember("Has a cat named Filemon")
    house.forget("Has a cat named Filemon")
    done = keep(house, text, ref("m1", OLD))
    assert (done.outcome, facts(house), waiting(house)) == ("denied", [], [])
    assert dropped(house, OLD) == [("", "forgotten")]
    assert (
        "Filemon" not in house.file(house.paths.audit("main", "test")).read_text().splitlines()[-1]
    )


def test_what_no_fact_said_and_was_forgotten_is_not_brought_back_either(house: House) -> None:
    talk(house, OLD, "I am allergic to hazelnuts.")
    talk(house, "2026-01-12_001", "As I said, hazelnuts: allergic, sadly.")
    house.indexer.messages = [(ref("m1", OLD), "I am allergic to hazelnuts.")]
    assert house.forget("allergic to hazelnuts").outcome == "written"
    done = keep(house, "Is allergic to hazelnuts", ref("m1", "2026-01-12_001"))
    assert (done.outcome, facts(house)) == ("denied", [])


def test_what_is_said_again_after_it_was_forgotten_is_remembered(house: House) -> None:
    talk(house, "2026-02-21_001", "We have a new cat, again a Filemon.")
    house.remember("Has a cat named Filemon")
    house.forget("Has a cat named Filemon")
    done = keep(house, "Has a cat named Filemon", ref("m1", "2026-02-21_001"))
    assert (done.outcome, facts(house)) == ("written", ["Has a cat named Filemon"])


def test_a_forget_that_was_undone_bars_nothing(house: House) -> None:
    talk(house, OLD, "My cat Filemon broke a vase.")
    house.remember("Has a cat named Filemon")
    house.forget("Has a cat named Filemon")
    house.gate.undo("main", "", PERSON)
    house.gate.undo("main", "", PERSON)  # the first remembering, too
    assert facts(house) == []
    assert keep(house, "Has a cat named Filemon", ref("m1", OLD)).outcome == "written"


def test_what_merely_shares_a_word_with_what_was_forgotten_is_kept(house: House) -> None:
    talk(house, OLD, "I feed the cat at seven, and Filemon the dog at eight.")
    house.remember("Has a cat named Filemon")
    house.forget("Has a cat named Filemon")
    assert keep(house, "Feeds the cat at seven o'clock", ref("m1", OLD)).outcome == "written"


# --- would --------------------------------------------------------------------------------


def write_of(text: str = "Works in Gdynia", **more: object) -> MemoryWrite:
    values = {"how": "extracted", "evidence": ref(), "caller": MAIN, **more}
    op = values.pop("op", "remember")
    return MemoryWrite(op, "main", values.pop("caller"), text, **values)  # type: ignore[arg-type]


def test_would_says_what_a_write_comes_to_and_touches_nothing(house: House) -> None:
    house.put(BRAIN, "- Likes tea ^tea1\n")
    house.remember("Lives in Warsaw", caller=MAIN, how="extracted", evidence=ref("m1", OLD))
    before = {path: path.read_bytes() for path in house.paths.root.rglob("*") if path.is_file()}
    would = house.gate.would
    assert would(write_of()).outcome == "written"
    assert would(write_of("likes  tea")).outcome == "unchanged"
    assert would(write_of(hold="doubtful")).outcome == "suggested"
    typed = would(write_of("Likes rum", op="replace", old="Likes tea"))
    assert (typed.outcome, typed.before) == ("suggested", "")
    moved = would(write_of("Lives in Gdynia", op="replace", old="Lives in Warsaw"))
    assert (moved.outcome, moved.before) == ("written", "Lives in Warsaw")
    assert would(write_of("unicorns", op="forget")).outcome == "not_found"
    assert would(write_of(f"password: {'hunter2' * 3}")).redacted
    assert would(write_of()).message.endswith(f"would be written to {BRAIN}.")
    after = {path: path.read_bytes() for path in house.paths.root.rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_would_says_what_the_write_then_comes_to(tmp_path: Path, level: int) -> None:
    house = House(tmp_path, level)
    house.put(BRAIN, "- Lives in Warsaw ^home\n- Likes tea ^tea1\n")
    writes = [
        write_of(),
        write_of(hold="doubtful"),
        write_of("Likes coffee, not tea"),
        write_of("Lives in Gdynia", op="replace", old="^home"),
        write_of("Likes tea", op="forget"),
        write_of("dragons and unicorns", op="forget"),
        write_of("Likes tea", caller=PERSON, how="said", op="forget"),
    ]
    for write in writes:
        told = house.gate.would(write)
        done = house.gate.write(write)
        assert told.outcome == done.outcome, write
        assert told.outcome in ("written", "unchanged", "not_found") or told.reason == done.reason


def test_would_says_that_a_damaged_brain_waits_to_be_mended(house: House) -> None:
    broken = house.put(BRAIN, b"- caf\xe9\n- Likes tea\n")
    with pytest.raises(BrokenMemory):
        house.gate.would(write_of())
    assert [path.name for path in broken.parent.iterdir()] == ["brain.md"]


# --- what was dropped ---------------------------------------------------------------------


def test_what_was_dropped_is_told_once_with_its_reason_and_is_no_change(house: House) -> None:
    keep(house, "Likes tea")
    told = [("Is a dragon", "joke", ("m2",)), ("Likes rum", "hypothetical", ("m3", "m4"))]
    assert house.gate.dropped("main", NEW, told, MAIN) == 2
    assert house.gate.dropped("main", NEW, told, MAIN) == 0
    found, more = drops(house.paths, Wanted(("main",)))
    assert not more and [(one.text, one.reason, one.block) for one in found] == [
        ("Is a dragon", "joke", "m2"),
        ("Likes rum", "hypothetical", "m4"),
    ]
    assert {(one.agent, one.session, one.device) for one in found} == {("main", NEW, "test")}
    changes = history(house.paths, Wanted(("main",)))[0]
    assert [one.line.op for one in changes] == ["remember"]
    path = house.file(house.paths.audit("main", "test"))
    assert verify(path.read_text().splitlines()).faults == ()
    assert house.gate.undo("main", "", PERSON).outcome == "written"
    assert facts(house) == []


def test_a_drop_cannot_be_undone(house: House) -> None:
    house.gate.dropped("main", NEW, [("Is a dragon", "joke", ())], MAIN)
    keep(house, "Likes tea")
    house.gate.dropped("main", NEW, [("Is a dwarf", "joke", ())], MAIN)
    line = read_audit(house.paths, "main")[-1]
    with pytest.raises(NotFound, match="no change"):
        house.gate.undo("main", line.id, PERSON)
    assert facts(house) == ["Likes tea"]


def test_the_words_of_what_must_not_be_kept_stand_nowhere(house: House) -> None:
    keep(house, "Likes tea")
    key = "sk-" + "a1B2c3D4" * 4
    told = [
        ("The door code is 4711", "secret", ("m1",)),
        ("Had an operation", "asked not to keep", ("m2",)),
        ("Earns little", "private", ("m3",)),
        (f"Uses the key {key} for it", "passing", ("m4",)),
        ("Says <private>he is ill</private> often", "passing", ("m5",)),
        ("x" * 999, "passing", ()),
    ]
    house.gate.dropped("main", NEW, told, MAIN)
    raw = house.file(house.paths.audit("main", "test")).read_text()
    assert not any(word in raw for word in ("door code", "operation", "Earns", key, "he is ill"))
    texts = [text for text, _ in dropped(house)]
    assert texts[:3] == ["", "", ""] and texts[3] == mask(f"Uses the key {key} for it").text
    assert len(texts[5]) == 200


def test_a_session_that_drops_a_hundred_gets_twenty_lines_and_one_that_counts(house: House) -> None:
    keep(house, "Likes tea")
    told = [(f"Thing {n}", "passing" if n % 4 else "joke", (f"m{n}",)) for n in range(100)]
    for _ in range(2):
        house.gate.dropped("main", NEW, told, MAIN)
        found = drops(house.paths, Wanted(("main",)))[0]
        assert len(found) == TOLD + 1
        assert found[-1].counts == (("passing", 60), ("joke", 20)) and not found[-1].text
    house.gate.dropped("main", NEW, [("Another", "joke", ())], MAIN)
    assert drops(house.paths, Wanted(("main",)))[0][-1].counts == (("joke", 1),)


def test_a_telling_that_was_cut_short_is_completed(house: House) -> None:
    keep(house, "Likes tea")
    told = [(f"Thing {n}", "passing", ()) for n in range(8)]
    house.gate.dropped("main", NEW, told[:5], MAIN)
    assert house.gate.dropped("main", NEW, told, MAIN) == 3
    assert [text for text, _ in dropped(house)] == [text for text, _, _ in told]


def test_nothing_is_told_for_an_agent_at_autonomy_0_or_for_none(house: House) -> None:
    told = [("Is a dragon", "joke", ())]
    assert house.gate.dropped("nobody", NEW, told, MAIN) == 0
    assert not house.file(house.paths.memory("nobody")).exists()
    house.put(house.paths.identity("main"), "---\nautonomy: 0\n---\n")
    assert house.gate.dropped("main", NEW, told, MAIN) == 0
    assert not house.file(house.paths.memory("main")).exists()


# --- what was settled before --------------------------------------------------------------


def test_what_a_session_left_once_is_known_whatever_became_of_it(house: House) -> None:
    keep(house, "Likes green tea", ref("m1", NEW))
    keep(house, "Lives in Warsaw", ref("m2", OLD))
    house.remember("Owns a boat", evidence=ref("m3", NEW))
    keep(house, "Hates rum", ref("m4", NEW), hold="doubtful")
    house.put(BRAIN, "")  # a person empties it by hand
    left = house.gate.settled_before("main", NEW)
    assert left == {settled_words("likes GREEN tea.")}
    assert house.gate.settled_before("main", "2026-02-10_00") == frozenset()
    assert house.gate.settled_before("nobody", NEW) == frozenset()


def test_a_suggestion_of_extraction_settles_a_fact_both_ways(house: House) -> None:
    yes = keep(house, "Likes green tea", hold="doubtful")
    no = keep(house, "Hates rum", hold="doubtful")
    house.gate.answer_suggestion(yes.block, True, PERSON)
    house.gate.answer_suggestion(no.block, False, PERSON)
    house.file(house.paths.suggestions).unlink()
    both = {settled_words("Likes green tea"), settled_words("Hates rum")}
    assert house.gate.settled_before("main", NEW) == both


# --- suggestions --------------------------------------------------------------------------


def test_a_rejected_suggestion_is_not_made_again_by_the_next_consolidation(house: House) -> None:
    first = keep(house, "Hates rum", hold="doubtful")
    text = house.file(house.paths.suggestions).read_text()
    house.put(house.paths.suggestions, text.replace("- [ ]", "- [-]"))
    house.gate.settle_suggestions()
    again = keep(house, "Hates rum", ref("m9"), hold="for another reason")
    other = house.gate.would(write_of("Hates rum", hold="doubtful"))
    assert (first.outcome, again.outcome, other.outcome) == ("suggested", "denied", "denied")
    assert waiting(house) == []


def test_a_session_suggests_a_handful_and_tells_of_the_rest(house: House) -> None:
    done = [keep(house, f"Likes drink {n}{n}{n}", hold="doubtful") for n in range(PER_SESSION + 2)]
    assert [one.outcome for one in done[PER_SESSION:]] == ["denied"] * 2
    assert len(waiting(house)) == PER_SESSION
    assert dropped(house, NEW) == [("Likes drink 555", "too many"), ("Likes drink 666", "too many")]
    assert keep(house, "Likes tea", ref("m1", OLD), hold="doubtful").outcome == "suggested"
    assert keep(house, "Likes drink 000", hold="doubtful").outcome == "suggested"  # it waits
    told = house.gate.would(write_of("Likes drink 888", hold="doubtful"))
    assert told.outcome == "denied" and "wait already" in told.reason
    asked = house.remember("Likes drink 999", caller=MAIN, hold="doubtful", evidence=ref())
    assert asked.outcome == "suggested", "what an agent asks for itself has no such limit"


def test_suggestions_of_extraction_never_flood_the_file(house: House) -> None:
    house.put(house.paths.identity("main"), "---\nautonomy: 1\n---\n")
    for n in range(AT_ONCE + 5):
        keep(house, f"Likes drink {n}{n}{n}", ref("m1", f"2026-02-10_{n:03}"))
    assert len(waiting(house)) == AT_ONCE
    assert len(dropped(house)) == 5


PLACES = (
    *("Oslo", "Lund", "Turku", "Bergen", "Odense", "Malta", "Kreta", "Porto", "Vilnius", "Riga"),
    *(
        "Narva",
        "Lviv",
        "Brno",
        "Graz",
        "Trento",
        "Basel",
        "Metz",
        "Ghent",
        "Cork",
        "Derry",
        "Perth",
    ),
)
TREES = ("oak", "elm", "ash", "fir", "fig", "bay", "lime", "yew")


# --- limits and company -------------------------------------------------------------------


def test_the_limit_of_a_brain_holds_when_eight_facts_arrive_at_once(house: House) -> None:
    for word in PLACES:
        text = f"Spent a long summer in {word} with the choir and still writes to people there"
        keep(house, text, ref("m1", OLD))
    assert not house.file(house.paths.archive("main")).exists()
    for at, word in enumerate(TREES):
        text = f"Planted {word} trees behind the house that the family bought from a forester"
        assert keep(house, text, ref(f"m{at}")).outcome == "written"
        assert brain_tokens(house.brain()) <= Sizes().max_tokens
    kept = facts(house)
    assert any("yew" in one for one in kept), "the newest stays"
    archived = parse_brain(house.file(house.paths.archive("main")).read_text()).all()
    assert len(kept) + len(archived) == len(PLACES) + len(TREES)


def test_two_agents_are_consolidated_at_once_and_lose_nothing(house: House) -> None:
    def run(agent: str) -> None:
        for n in range(8):
            more = {"caller": Caller("agent", agent), "how": "extracted"}
            evidence = ref(f"m{n}", NEW, agent)
            hold = "doubtful" if n % 4 == 3 else ""
            house.remember(f"Likes drink {n}{n}{n}", agent, evidence=evidence, hold=hold, **more)
        house.gate.dropped(agent, NEW, [("Is a dragon", "joke", ())], Caller("agent", agent))

    runs = [threading.Thread(target=run, args=(agent,)) for agent in ("main", "jaskier", "ciri")]
    for one in runs:
        one.start()
    for one in runs:
        one.join()
    for agent in ("main", "jaskier", "ciri"):
        assert len(facts(house, agent)) == 6
        path = house.file(house.paths.audit(agent, "test"))
        assert verify(path.read_text().splitlines()).faults == ()
    assert len(waiting(house)) == 6


def test_the_log_says_how_a_fact_came_and_an_undo_gives_it_back_so(house: House) -> None:
    keep(house, "Lives in Warsaw", ref("m1", OLD))
    house.forget("Lives in Warsaw")
    house.gate.undo("main", "", PERSON)
    fact = parse_brain(house.brain()).all()[0]
    assert (fact.how, fact.evidence) == ("extracted", ref("m1", OLD))
    raw = house.file(house.paths.audit("main", "test")).read_text().splitlines()
    assert json.loads(raw[0])["how"] == "extracted"
    assert read_audit(house.paths, "main")[0].how == "extracted"


def test_what_a_person_means_by_that_is_never_what_extraction_wrote_meanwhile(
    house: House,
) -> None:
    house.remember("Owns a boat", evidence=ref("m3"))
    keep(house, "Likes green tea")
    house.forget("Likes green tea", caller=MAIN, how="extracted", evidence=ref("m2"))
    meant = last_written(VaultReader(house.paths, 0), "main")
    assert meant is not None and meant.text == "Owns a boat"


def test_a_change_of_extraction_that_a_crash_cut_short_is_completed_as_its_own(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(house, "Lives in Warsaw", ref("m1", OLD))
    more = {"caller": MAIN, "how": "extracted", "evidence": ref()}
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "wrote", _killed)
        with pytest.raises(KeyboardInterrupt):
            house.replace("Lives in Warsaw", "Lives in Gdynia", **more)
    house.gate.repair()
    assert facts(house) == ["Lives in Gdynia"]
    assert settled_words("Lives in Gdynia") in house.gate.settled_before("main", NEW)
    again = house.replace("Lives in Warsaw", "Lives in Gdynia", **more)
    assert (again.outcome, facts(house)) == ("unchanged", ["Lives in Gdynia"])


def _killed(*_: object, **__: object) -> Outcome:
    raise KeyboardInterrupt


def test_a_fact_whose_audit_line_a_kill_took_is_settled_and_does_not_come_back(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(house, NEW, "My daughter Zofia plays the violin.")
    text = "My daughter Zofia plays the violin"
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "wrote", _killed)
        with pytest.raises(KeyboardInterrupt):
            keep(house, text, ref("m1"))
    assert facts(house) == [text]
    assert house.gate.settled_before("main", NEW) == {settled_words(text)}
    lines = read_audit(house.paths, "main")
    assert [(one.op, one.outcome, one.after, one.how) for one in lines] == [
        ("remember", "written", text, "extracted")
    ]
    assert lines[0].evidence.endswith(f"{NEW}#^m1")
    path = house.file(house.paths.audit("main", "test"))
    assert verify(path.read_text().splitlines()).faults == ()
    house.gate.settled_before("main", NEW)
    assert len(read_audit(house.paths, "main")) == 1, "once is enough"


def test_nothing_that_extraction_finds_is_written_where_the_audit_cannot_be(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise WriteFailed("No space left on device.")

    keep(house, "Owns a boat", ref("m2"))
    with monkeypatch.context() as patched:
        patched.setattr(house.gate._ledger.journal, "append", full)
        with pytest.raises(WriteFailed):
            keep(house, "Plays chess", ref("m1"))
        assert facts(house) == ["Owns a boat"]
        outcome = house.remember("Likes tea")
    assert outcome.outcome == "written"
    assert "The audit could not be written: No space left" in outcome.message
    assert outcome.reason.startswith("the audit could not be written")
