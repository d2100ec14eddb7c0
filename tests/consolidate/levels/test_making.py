"""L1 and L2: made when due, once, of the right sources; whole after a kill at any step."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.consolidate.levels.building import DEVICE, MAIN, Falling, Killed, Vault
from vaultmind.consolidate.levels.file import paragraphs_of
from vaultmind.consolidate.levels.writer import Paragraph, Told
from vaultmind.consolidate.types import SummaryDone
from vaultmind.errors import BadArgument, NotFound
from vaultmind.tokens import count
from vaultmind.types import PERSON, Caller, Progress

L1 = [f"L1_{n:03d}" for n in range(1, 6)]


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = tmp_path / "vault"
    root.mkdir()
    return Vault(root.resolve())


def test_an_l1_is_made_of_every_five_sessions_and_its_sessions_say_so(vault: Vault) -> None:
    ids = vault.talks(1, 4)
    assert vault.make() == ()
    ids.append(vault.talk(5))
    (done,) = vault.make()
    assert (done.id, done.level, done.sources) == ("L1_001", "L1", tuple(ids))
    assert done.outcome == "written" and done.by == "extractive" and done.tokens <= 400
    assert vault.marks() == ["L1_001"] * 5
    links = [f"[[{vault.paths.session('main', id)[:-3]}]]" for id in ids]
    assert vault.property(done.path, "sessions") == links
    assert vault.property(done.path, "token_count") == done.tokens
    assert vault.property(done.path, "language") == "en"
    assert not vault.dead_links(done.path)
    assert vault.make() == ()


def test_twenty_five_sessions_become_five_l1_and_one_l2(vault: Vault) -> None:
    vault.talks(1, 25)
    done = vault.make()
    assert [one.id for one in done] == [*L1, "L2_001"]
    assert done[-1].sources == tuple(L1)
    assert done[-1].tokens <= 400
    assert vault.marks() == [id for id in L1 for _ in range(5)]
    of = [vault.property(one.path, "summarised_in") for one in done]
    over = vault.summary("L2_001").removesuffix(".md")
    assert of == [f"[[{over}]]"] * 5 + [None]
    assert not [link for one in done for link in vault.dead_links(one.path)]
    for one in done:
        paragraphs = one.text.split("\n\n")
        assert 3 <= len(paragraphs) <= 5 if one.level == "L1" else 2 <= len(paragraphs) <= 3


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 7))
def test_a_kill_at_any_step_of_an_l1_leaves_what_the_next_run_makes_whole(
    vault: Vault, at: int, after: bool
) -> None:
    vault.talks(1, 5)
    with pytest.raises(Killed):
        vault.levels(Falling(vault, at, after=after)).make("main", MAIN)
    vault.make()
    assert vault.names("L1") == ["L1_001.md"]
    assert vault.marks() == ["L1_001"] * 5
    assert vault.make() == ()


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 4))  # the file and two marks
def test_a_kill_at_any_step_of_an_l2_leaves_what_the_next_run_makes_whole(
    vault: Vault, at: int, after: bool
) -> None:
    vault.talks(1, 4)
    settings = {"l1_sessions": 2, "l2_summaries": 2}
    first = 2 * 3  # two L1, each a file and two marks
    with pytest.raises(Killed):
        vault.levels(Falling(vault, first + at, after=after), **settings).make("main", MAIN)
    vault.make(**settings)
    assert vault.names("L2") == ["L2_001.md"]
    assert all(vault.property(vault.summary(id), "summarised_in") for id in L1[:2])
    assert vault.make(**settings) == ()


def test_a_run_that_only_adds_marks_says_so(vault: Vault) -> None:
    vault.talks(1, 5)
    with pytest.raises(Killed):
        vault.levels(Falling(vault, 3, after=False)).make("main", MAIN)
    (done,) = vault.make()
    assert (done.id, done.outcome, len(done.sources)) == ("L1_001", "completed", 5)


def test_two_runs_at_once_make_one_summary_of_a_group(vault: Vault) -> None:
    vault.talks(1, 10)
    start = threading.Barrier(3)
    done: list[SummaryDone] = []

    def run() -> None:
        levels = vault.levels()
        start.wait()
        done.extend(levels.make("main", MAIN))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert vault.names("L1") == ["L1_001.md", "L1_002.md"]
    assert vault.marks() == ["L1_001"] * 5 + ["L1_002"] * 5
    assert sorted(one.id for one in done if one.outcome == "written") == L1[:2]


def test_a_deleted_l1_does_not_come_back_by_itself_and_its_number_is_never_used_again(
    vault: Vault,
) -> None:
    vault.talks(1, 5)
    vault.make()
    vault.file(vault.summary("L1_001")).unlink()
    assert vault.make() == ()
    vault.talks(6, 10)
    assert [one.id for one in vault.make()] == ["L1_002"]
    vault.file(vault.summary("L1_002")).unlink()
    for number in range(6, 11):  # even the sessions are gone: the audit knows
        vault.file(vault.paths.session("main", f"2026-02-{number:02d}_001")).unlink()
    vault.talks(11, 15)
    assert [one.id for one in vault.make()] == ["L1_003"]


def test_words_that_mention_a_number_use_none_up(vault: Vault) -> None:
    far = "summaries/L1/L1_999999"
    vault.remember(f'The plan is in {far}.md, "op": "save", "path": "x/{far}.md"')
    vault.put(vault.paths.active_context("main"), f"See [[{far}]].")
    vault.talk(1, f"The plan is described in {far} of the bakery.")
    vault.talks(2, 5)
    assert [one.id for one in vault.make()] == ["L1_001"]


@pytest.mark.parametrize("absurd", ["L1_999999", "L1_999999999", "L1_" + "9" * 90])
def test_a_hand_made_file_with_an_absurd_number_stops_no_summary(vault: Vault, absurd: str) -> None:
    vault.put(f"{vault.paths.summaries('main')}/L1/{absurd}.md", "# Mine\n")
    vault.talks(1, 5)
    first = vault.make()
    vault.talks(6, 10)
    (done,) = (*first, *vault.make())[1:]
    assert done.outcome == "written"
    assert first[0].id != done.id
    assert len(vault.names("L1")) == 3
    again = vault.levels().again("main", done.id, PERSON)
    assert again.path == done.path


def test_a_deleted_l1_is_made_again_when_it_is_asked_for(vault: Vault) -> None:
    ids = vault.talks(1, 5)
    before = vault.make()[0]
    vault.file(before.path).unlink()
    done = vault.levels().again("main", "L1_001", PERSON)
    assert (done.text, done.sources, done.path) == (before.text, tuple(ids), before.path)
    assert vault.names("L1") == ["L1_001.md"]


def test_what_never_was_cannot_be_made_again(vault: Vault) -> None:
    with pytest.raises(NotFound, match="L1_007"):
        vault.levels().again("main", "L1_007", PERSON)
    with pytest.raises(BadArgument, match="again"):
        vault.levels().again("main", "L3_001", PERSON)


def test_an_l2_is_made_again_too(vault: Vault) -> None:
    vault.talks(1, 4)
    settings = {"l1_sessions": 2, "l2_summaries": 2}
    before = vault.make(**settings)[-1]
    vault.file(before.path).unlink()
    done = vault.levels(**settings).again("main", "L2_001", PERSON)
    assert (done.text, done.sources) == (before.text, ("L1_001", "L1_002"))


def test_what_a_person_typed_into_a_summary_stays_when_it_is_made_again(vault: Vault) -> None:
    vault.talks(1, 5)
    path = vault.make()[0].path
    text = vault.text(path)
    changed = text.replace("olga moved", "Olga happily moved", 1).replace(
        "Olga moved", "Olga happily moved", 1
    )
    assert changed != text
    vault.put(path, changed.rstrip() + "\n\nMy own words about that week.\n")
    vault.levels().again("main", "L1_001", PERSON)
    again = vault.text(path)
    assert "Olga happily moved" in again and "My own words about that week." in again
    assert again.count("We decided to paint the kitchen") == 1
    assert again.count("^p") == len(set(again.split(" ^p")[1:])) == 5  # one of them the changed


def test_a_summary_with_crlf_and_a_bom_is_made_again_as_it_is(vault: Vault) -> None:
    vault.talks(1, 5)
    path = vault.make()[0].path
    raw = vault.file(path).read_bytes()
    vault.put(path, b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n"))
    vault.levels().again("main", "L1_001", PERSON)
    again = vault.file(path).read_bytes()
    assert again.startswith(b"\xef\xbb\xbf---\r\n")
    assert again.count(b"\n") == again.count(b"\r\n")
    assert again.count(b" ^p") == raw.count(b" ^p")


def test_a_renamed_l1_still_counts(vault: Vault) -> None:
    vault.talks(1, 4)
    settings = {"l1_sessions": 2, "l2_summaries": 2}
    with pytest.raises(Killed):  # both L1, no L2 yet
        vault.levels(Falling(vault, 7, after=False), **settings).make("main", MAIN)
    old = vault.file(vault.summary("L1_001"))
    old.rename(old.with_name("The kitchen week.md"))
    (done,) = vault.make(**settings)
    assert done.id == "L2_001" and set(done.sources) == {"The kitchen week", "L1_002"}
    assert not vault.dead_links(done.path)
    assert vault.make(**settings) == ()


def test_an_l1_that_a_person_made_by_hand_sums_up_its_sessions(vault: Vault) -> None:
    vault.talks(1, 7)
    own = f"{vault.paths.summaries('main')}/L1/My week.md"
    listed = '"[[2026-02-01_001]]", "[[2026-02-02_001]]", 2026-02-03_001'
    vault.put(own, f"---\nsessions: [{listed}]\n---\nWe painted and travelled.\n")
    vault.make()
    assert vault.names("L1") == ["My week.md"]  # four are left: too few for one of ours
    assert vault.marks() == ["My week"] * 3 + [""] * 4
    vault.talk(8)
    assert [one.id for one in vault.make()] == ["L1_001"]


def test_a_syncs_copy_and_a_broken_summary_are_not_summed_up_twice(vault: Vault) -> None:
    vault.talks(1, 4)
    settings = {"l1_sessions": 2, "l2_summaries": 3}
    vault.make(**settings)
    first = vault.file(vault.summary("L1_001"))
    copy = first.with_name("L1_001.sync-conflict-20260220-100003-ABC.md")
    copy.write_bytes(first.read_bytes())
    assert vault.make(**settings) == ()  # two L1 and a copy are not three
    second = vault.file(vault.summary("L1_002"))
    second.write_text(second.read_text("utf-8").replace("by: extractive", 'by: "extr'), "utf-8")
    assert vault.make(**settings) == ()
    assert vault.names("L1") == ["L1_001.md", copy.name, "L1_002.md"]


def test_sessions_that_are_not_ours_to_sum_up_are_left(vault: Vault) -> None:
    vault.talks(1, 4)
    vault.talk(5, device="laptop")
    vault.talk(6, consolidated="")
    vault.talk(7, pending="extraction")
    vault.talk(8, source="chatgpt:1")
    vault.talk(9, summarised_in="[[L1_009]]")
    assert vault.make() == ()
    assert vault.levels().left("main") == (1, 5)
    (done,) = vault.levels().make("main", MAIN, imported_too=True)
    assert done.sources[-1] == "2026-02-08_001"
    assert done.id == "L1_010"  # a session names a ninth


def test_a_dry_run_says_what_would_be_and_writes_nothing(vault: Vault) -> None:
    for number in range(1, 5):
        vault.talk(number, consolidated="")
    settings = {"l1_sessions": 2, "l2_summaries": 2}
    done = vault.levels(**settings).make("main", MAIN, dry_run=True)
    assert [one.id for one in done] == ["L1_001", "L1_002", "L2_001"]
    assert {one.outcome for one in done} == {"would be written"}
    assert vault.names("L1") == [] and vault.marks() == [""] * 4
    vault.talks(1, 4)
    assert [one.text for one in vault.make(**settings)][:2] == [one.text for one in done][:2]


def test_nothing_is_written_for_an_agent_at_level_0(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    vault = Vault(root.resolve(), level=0)
    vault.talks(1, 5)
    assert vault.make() == ()
    with pytest.raises(BadArgument, match="agent"):
        vault.levels().again("main", "L1_001", Caller("agent", "main"))


def test_an_unreadable_session_does_not_keep_the_others_waiting(vault: Vault) -> None:
    ids = vault.talks(1, 6)
    path = vault.file(vault.paths.session("main", ids[0]))
    path.write_bytes(path.read_bytes() + b"\xff\xfe broken")
    (done,) = vault.make()
    assert done.sources == tuple(ids[1:])
    assert "2026-02-01_001" in done.notes[0]


def test_talks_in_which_nothing_was_said_are_summed_up_as_that(vault: Vault) -> None:
    for number in range(1, 6):
        vault.talk(number, "Hi!", "Thanks, bye.")
    (done,) = vault.make()
    assert done.text == "Nothing was said that needs keeping."
    assert not vault.dead_links(done.path)
    assert vault.make() == ()


def test_a_session_that_changes_while_it_is_summed_up_is_read_anew(vault: Vault) -> None:
    ids = vault.talks(1, 5)

    class Slow:
        """Implements `SummaryWriter`: while it writes, a person edits."""

        def __init__(self) -> None:
            self.times = 0

        def session(self, messages: object, language: str) -> Told:
            return Told(())

        def level(self, level: object, sources: object, language: str, max_tokens: int) -> Told:
            self.times += 1
            if self.times == 1:
                vault.talk(5, "We moved the piano to the attic yesterday.")
            texts = [piece.text for one in sources for piece in one.pieces]  # type: ignore[attr-defined]
            return Told((Paragraph(texts[-1], (ids[-1],)),))

    (done,) = vault.levels(writer=Slow()).make("main", MAIN)
    assert done.text == "We moved the piano to the attic yesterday."
    assert vault.names("L1") == ["L1_001.md"]


def test_what_a_model_makes_up_is_dropped_and_without_the_rest_the_built_in_writer_writes(
    vault: Vault,
) -> None:
    ids = vault.talks(1, 5)

    class Liar:
        """Implements `SummaryWriter`."""

        def __init__(self, *texts: str) -> None:
            self.texts = texts

        def session(self, messages: object, language: str) -> Told:
            return Told(())

        def level(self, level: object, sources: object, language: str, max_tokens: int) -> Told:
            return Told(tuple(Paragraph(one, tuple(ids)) for one in self.texts), "liar-1")

    half = "The kitchen walls get green paint. Marcus paid 9000 dollars for it."
    done = vault.levels(writer=Liar(half)).make("main", MAIN, dry_run=True)[0]
    assert (done.text, done.by) == ("The kitchen walls get green paint.", "liar-1")
    assert "1 sentence" in done.notes[0]
    done = vault.levels(writer=Liar("Marcus sold 12 submarines.")).make("main", MAIN)[0]
    assert done.by == "extractive" and "Marcus" not in vault.text(done.path)


def test_progress_is_told(vault: Vault) -> None:
    vault.talks(1, 5)
    seen: list[Progress] = []
    vault.levels().make("main", MAIN, report=seen.append)
    assert [one.what for one in seen] == ["L1_001", "L1_001"]


def test_every_l1_says_which_device_wrote_it_and_others_are_left_to_theirs(vault: Vault) -> None:
    vault.talks(1, 4)
    settings = {"l1_sessions": 2, "l2_summaries": 5}
    vault.make(**settings)
    first, second = (vault.summary(id) for id in L1[:2])
    assert vault.property(first, "device") == DEVICE
    vault.put(second, vault.text(second).replace(f"device: {DEVICE}", "device: laptop"))
    settings = {"l1_sessions": 2, "l2_summaries": 2}
    assert vault.make(**settings) == ()


def test_what_a_person_reworded_has_the_place_of_its_paragraph(vault: Vault) -> None:
    vault.talks(1, 5)
    path = vault.make()[0].path
    text = vault.text(path)
    first = paragraphs_of(text)[0]
    vault.put(path, f"{text[: first.start]}Reworded: {text[first.start :]}")
    vault.levels().again("main", "L1_001", PERSON)
    again = vault.text(path)
    blocks = [one.block for one in paragraphs_of(again)]
    assert "Reworded: " in again and len(blocks) == len(set(blocks))
    assert len(blocks) == len(paragraphs_of(text))
    body = "\n\n".join(one.text for one in paragraphs_of(again))
    assert f"token_count: {count(body)}" in again
