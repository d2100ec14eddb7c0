"""index/search/search: fused, filtered, fresh from disk, within a budget, and honest when empty."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.index.vault import Vault
from vaultmind import tokens
from vaultmind.errors import BadArgument, IndexUnavailable
from vaultmind.index.search.messages import Messages
from vaultmind.types import PERSON, Caller, Hit, Message, SearchRequest
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

MAIN = Caller("agent", "main")
TIME = "2026-02-20T10:00:00+01:00"


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path)
    yield made
    made.close()


def session(*said: str, agent: str = "main") -> str:
    text = render_header(SessionMeta("2026-02-20_001", agent, TIME))
    for number, one in enumerate(said, 1):
        text += render_message(
            Message("user", one, TIME, f"D1:{number}", "Anna", block=f"m{number}")
        )
    return text


def session_path(agent: str = "main") -> str:
    return f"VaultMind/agents/{agent}/memory/sessions/2026-02-20_001.md"


def brain_path(agent: str = "main") -> str:
    return f"VaultMind/agents/{agent}/memory/brain.md"


def hits(vault: Vault, query: str, caller: Caller = PERSON, **wanted: object) -> tuple[Hit, ...]:
    return vault.search(SearchRequest(query, **wanted), caller).hits  # type: ignore[arg-type]


def paths(found: tuple[Hit, ...]) -> list[str]:
    return [hit.path for hit in found]


def test_a_hit_says_where_it_is_and_why_it_was_found(vault: Vault) -> None:
    roof = "The roof is of clay and straw. " * 30
    vault.put("Oven.md", f"# Door\nThe door is 63 % of the dome.{' ' * 200}\n# Roof\n{roof}\n")
    (hit,) = hits(vault, "how high is the door")
    assert (hit.path, hit.anchor, hit.kind, hit.agent) == ("Oven.md", "#Door", "note", "")
    assert "63 %" in hit.text
    assert set(hit.parts) == {"rank", "bm25", "coverage"}
    assert hit.parts["bm25"] > 0
    assert hit.why[0].words == "it has words of the question"
    assert hit.parts["coverage"] == pytest.approx(hit.score)
    assert 0 < hit.score < 1


def test_a_message_carries_its_session_id_speaker_and_time(vault: Vault) -> None:
    vault.put(session_path(), session("The heron came back today"))
    (hit,) = hits(vault, "heron", MAIN)
    assert (hit.session, hit.message, hit.speaker, hit.time, hit.anchor) == (
        *("2026-02-20_001", "D1:1", "Anna", TIME),
        "#^m1",
    )


def test_an_edited_note_is_never_shown_as_it_was(vault: Vault) -> None:
    vault.put("a.md", "The old heron stands there.\n")
    vault.write("a.md", "The new heron flies away.\n")
    (hit,) = hits(vault, "heron")
    assert hit.text == "The new heron flies away."


def test_a_deleted_note_is_not_shown(vault: Vault) -> None:
    vault.put("a.md", "A heron.\n")
    vault.put("b.md", "Another heron.\n")
    (vault.paths.root / "a.md").unlink()
    assert paths(hits(vault, "heron")) == ["b.md"]


def test_a_note_that_keeps_changing_is_left_out(vault: Vault) -> None:
    vault.put("a.md", "A heron.\n")
    vault.put("b.md", "Another heron.\n")
    number = 0

    def restless(changed: object) -> None:
        nonlocal number
        number += 1
        vault.write("a.md", f"A heron, {number} times changed.\n")

    vault.write("a.md", "A changed heron.\n")
    vault.refresh = restless  # type: ignore[method-assign, assignment]
    assert paths(hits(vault, "heron")) == ["b.md"]
    assert number > 1


def test_the_three_empty_answers_are_told_apart(vault: Vault) -> None:
    vault.put("a.md", "A heron.\n")
    assert vault.search(SearchRequest("?! …"), PERSON).answer == "no_query"
    assert vault.search(SearchRequest("zebra"), PERSON).answer == "nothing_found"
    vault.phase = "indexing"
    response = vault.search(SearchRequest("zebra"), PERSON)
    assert response.answer == "indexing"
    assert "3 of 10" in response.message


def test_an_agent_searches_its_own_memory_and_the_notes(vault: Vault) -> None:
    vault.put("a.md", "A heron in the notes.\n")
    vault.put(brain_path(), "# user\n- Saw a heron\n")
    vault.put(brain_path("other"), "# user\n- Painted a heron\n")
    own = {"a.md", brain_path()}
    assert set(paths(hits(vault, "heron", MAIN))) == own
    assert set(paths(hits(vault, "heron", MAIN, agent="other"))) == {"a.md", brain_path("other")}
    everything = own | {brain_path("other")}
    assert set(paths(hits(vault, "heron", MAIN, agent="*"))) == everything
    assert set(paths(hits(vault, "heron"))) == everything
    assert set(paths(hits(vault, "heron", kinds=("fact",)))) == everything - {"a.md"}


def test_a_forgotten_message_is_not_shown(vault: Vault) -> None:
    vault.put(session_path(), session("The heron came back", "A heron again"))
    vault.hidden.names.add(("main", "2026-02-20_001", "m1"))
    assert [hit.anchor for hit in hits(vault, "heron", MAIN)] == ["#^m2"]


def test_one_note_does_not_fill_the_answer(vault: Vault) -> None:
    long = "".join(f"## Part {n}\nThe heron {'stood in the river. ' * 20}\n" for n in range(6))
    vault.put("a.md", long)
    vault.put("b.md", "One heron among many other words about the garden.\n")
    found = paths(hits(vault, "heron", per_note=2))
    assert found.count("a.md") == 2
    assert "b.md" in found
    assert len(hits(vault, "heron", limit=1)) == 1


def test_the_answer_keeps_its_budget_and_says_what_it_left_out(vault: Vault) -> None:
    for number in range(6):
        vault.put(f"{number}.md", f"The heron {number} " + "stands in the river. " * 20 + "\n")
    response = vault.search(SearchRequest("heron", max_tokens=290), PERSON)
    assert sum(tokens.count(hit.text) for hit in response.hits) <= 290
    assert response.omitted == 6 - len(response.hits) > 0
    assert response.hits[-1].truncated


def test_a_secret_in_a_note_is_masked(vault: Vault) -> None:
    vault.put("a.md", "The router login: admin, password: Tr0ub4dor&3xyz\n")
    (hit,) = hits(vault, "router login")
    assert "Tr0ub4dor" not in hit.text


def test_vectors_find_what_no_word_does(vault: Vault) -> None:
    vault.put("a.md", "Przepis na chleb na zakwasie od babci.\n")
    vault.vectors.near = [(vault.ids("a.md")[0], 0.4), ("gone", 0.1)]
    (hit,) = hits(vault, "how did grandmother bake")
    assert hit.path == "a.md"
    assert hit.parts["cosine"] == pytest.approx(0.6)
    assert "note" in vault.vectors.asked


def test_what_is_far_away_is_not_found(vault: Vault) -> None:
    vault.put("a.md", "Przepis na chleb.\n")
    vault.vectors.near = [(vault.ids("a.md")[0], 0.95)]
    assert hits(vault, "how did grandmother bake") == ()


def test_nothing_found_is_an_answer(vault: Vault) -> None:
    vault.put("a.md", "Bob likes tea.\n")
    vault.vectors.near = [(vault.ids("a.md")[0], 0.8)]
    response = vault.search(SearchRequest("pelicans"), PERSON)
    assert (response.hits, response.answer) == ((), "nothing_found")
    vault.vectors.near = []
    assert hits(vault, "flux capacitor warp tea drive engine") == ()


def test_hits_that_share_one_common_word_are_left_out_beside_strong_ones(vault: Vault) -> None:
    vault.put("door.md", "The oven door is 63 % of the height of the dome.\n")
    for number in range(6):
        vault.put(f"{number}.md", f"The oven stands in garden number {number} since spring.\n")
    found = hits(vault, "height of the oven door and dome")
    assert paths(found) == ["door.md"]
    assert found[0].score > 0.9


def test_weak_matches_alone_are_said_to_be_weak(vault: Vault) -> None:
    vault.put("a.md", "The heron stands in the river.\n")
    vault.put("b.md", "Nothing of the kind here.\n")
    weak = vault.search(SearchRequest("which heron did the photographer sell"), PERSON)
    assert weak.hits[0].score < 0.45
    assert "weak" in weak.message
    assert "weak" not in vault.search(SearchRequest("heron in a river"), PERSON).message


def test_a_hit_found_by_words_and_meaning_scores_more_than_by_one(vault: Vault) -> None:
    vault.put("a.md", "The heron stands in the river.\n")
    vault.put("b.md", "Nothing of the kind here.\n")
    by_words = hits(vault, "the heron on the lake")[0].score
    vault.vectors.near = [(vault.ids("a.md")[0], 0.6)]
    both = hits(vault, "the heron on the lake")[0].score
    assert by_words < both < 1


def test_a_heading_that_is_a_question_word_does_not_win(vault: Vault) -> None:
    vault.put("Oven.md", f"# Dome\n{'Clay and straw. ' * 40}\n# Why\n{'Bread is good. ' * 40}\n")
    vault.put("Router.md", "# Router\nThe firmware must be 21.02, or the fibre modem drops.\n")
    for number in range(30):
        vault.put(f"{number}.md", f"A line about subject {number}.\n")
    found = paths(hits(vault, "what firmware must the router have and why?"))
    assert found == ["Router.md"]
    assert hits(vault, "why")[0].anchor == "#Why"


def test_vectors_obey_the_filters(vault: Vault) -> None:
    vault.put("Daily/2026-02-20.md", "Rain all day.\n")
    vault.put("b.md", "Snow all day.\n")
    vault.vectors.near = [(vault.ids("b.md")[0], 0.1), (vault.ids("Daily/2026-02-20.md")[0], 0.3)]
    assert paths(hits(vault, "weather", folder="Daily")) == ["Daily/2026-02-20.md"]
    assert paths(hits(vault, "weather", before="2026-02-20")) == ["Daily/2026-02-20.md"]
    vault.put(brain_path(), "# user\n- x\n")
    hits(vault, "weather", MAIN, kinds=("fact", "message"))
    assert set(vault.vectors.asked) == {"fact-main", "message-main"}


@pytest.mark.parametrize(("name", "value"), [("after", "last week"), ("limit", 0)])
def test_a_bad_argument_is_named(vault: Vault, name: str, value: object) -> None:
    with pytest.raises(BadArgument, match=name):
        hits(vault, "heron", **{name: value})


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({"folder": "Nowhere"}, "a folder of the vault"),
        ({"folder": "../outside"}, "a folder of the vault"),
        ({"agent": "ghost"}, "bob, main"),
        ({"after": "2026-03-02", "before": "2026-03-01"}, "2026-03-01"),
    ],
)
def test_a_filter_that_nothing_can_pass_is_refused_with_what_there_is(
    vault: Vault, wanted: dict[str, str], says: str
) -> None:
    vault.put("Garden/a.md", "A heron.\n")
    vault.put(brain_path("bob"), "# user\n- Saw a heron\n")
    vault.put(brain_path(), "# user\n- Saw a heron\n")
    with pytest.raises(BadArgument, match=says):
        hits(vault, "heron", **wanted)
    assert hits(vault, "heron", folder="/Garden/")
    assert hits(vault, "heron", after="2026-03-01", before="2026-03-01") == ()


def test_a_hidden_agents_memory_is_left_out_before_anything_is_ranked(vault: Vault) -> None:
    for agent in ("dexter", "main"):
        vault.put(brain_path(agent), "# user\n- Saw a heron\n")
    vault.vectors.near = [(vault.ids(brain_path("dexter"))[0], 0.1)]
    vault.rights.hidden.add(("main", "dexter"))
    assert paths(hits(vault, "heron", MAIN, agent="*")) == [brain_path()]
    assert "fact-dexter" not in vault.vectors.asked
    assert set(paths(hits(vault, "heron"))) == {brain_path(), brain_path("dexter")}


def test_a_hidden_agent_is_answered_for_as_one_that_does_not_exist(vault: Vault) -> None:
    for agent in ("dexter", "main"):
        vault.put(brain_path(agent), "# user\n- Saw a heron\n")
    vault.rights.hidden.add(("main", "dexter"))
    said = []
    for name in ("dexter", "nobody"):
        folder = f"VaultMind/agents/{name}"
        for wanted in ({"agent": name}, {"folder": folder}, {"folder": f"{folder}/memory"}):
            with pytest.raises(BadArgument) as error:
                hits(vault, "heron", MAIN, **wanted)
            said.append(str(error.value).replace(name, "NAME"))
    assert said[:3] == said[3:]
    assert hits(vault, "heron", folder="VaultMind/agents/dexter")
    vault.rights.hidden.add(("new", "main"))
    vault.rights.hidden.add(("new", "dexter"))
    assert hits(vault, "heron", Caller("agent", "new"), agent="dexter") == ()


def test_a_new_agent_may_search_its_own_memory(vault: Vault) -> None:
    vault.put(brain_path(), "# user\n- Saw a heron\n")
    assert hits(vault, "heron", Caller("agent", "fresh"), agent="fresh") == ()


def test_a_hand_edit_of_the_brain_is_found_by_the_next_search(vault: Vault) -> None:
    vault.put(brain_path(), "# user\n- Saw a heron\n")
    assert hits(vault, "pelican") == ()
    vault.write(brain_path(), "# user\n- Saw a heron\n- Feeds a pelican\n")
    archive = brain_path().replace("brain", "brain_archive")
    vault.write(archive, "# user\n- Once had a toucan\n")
    assert paths(hits(vault, "pelican", MAIN)) == [brain_path()]
    assert paths(hits(vault, "toucan", MAIN)) == [archive]
    vault.refreshed.clear()
    hits(vault, "pelican", MAIN)
    assert vault.refreshed == []


def test_messages_about_a_fact_are_found_whole_and_of_that_agent_only(vault: Vault) -> None:
    long = "I am allergic to nuts. " + "And so on and so forth, much more is said here. " * 40
    vault.put(session_path(), session("Nice weather", long, "Nut allergies run in the family"))
    vault.put(session_path("other"), session("Allergic to nuts as well", agent="other"))
    found = Messages(vault.text, vault.reader).messages_about("main", "is allergic to nuts", 50)
    assert {(ref.agent, ref.block, ref.id) for ref, _ in found} >= {
        ("main", "m2", "D1:2"),
        ("main", "m3", "D1:3"),
    }
    assert all(ref.agent == "main" for ref, _ in found)
    text = next(text for ref, text in found if ref.block == "m2")
    assert len(text) > 1500


@pytest.mark.parametrize("phase", ["never indexed", "stale", "gone", "broken"])
def test_messages_about_a_fact_are_found_whatever_the_index_knows(
    vault: Vault, phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = session_path()
    if phase != "never indexed":
        vault.put(talk, session("Nice weather"))
    vault.write(talk, session("I am allergic to nuts", "Die Ärzte sind für mich da"))
    messages = Messages(vault.text, vault.reader)
    if phase == "gone":
        vault.put(talk, session("I am allergic to nuts"))
        (vault.paths.root / talk).unlink()
        vault.refresh([talk])
        assert messages.messages_about("main", "allergic to nuts", 50) == []
        return
    if phase == "broken":

        def broken(*_: object) -> None:
            raise IndexUnavailable("no")

        monkeypatch.setattr(vault.text, "search", broken)
    (one,) = messages.messages_about("main", "is allergic to nuts", 50)
    assert (one[0].agent, one[0].block, one[0].id) == ("main", "m1", "D1:1")
    assert one[1] == "I am allergic to nuts"
    assert messages.messages_about("main", "ein arzt", 50)[0][0].block == "m2"
    assert messages.messages_about("other", "is allergic to nuts", 50) == []


def test_of_unindexed_messages_all_that_have_the_words_are_found_and_few_of_the_others(
    vault: Vault,
) -> None:
    many = [f"My nice neighbour number {at} has a dog." for at in range(40)]
    vault.write(session_path(), session(*many, *["My aunt Zofia plays the violin."] * 30))
    found = Messages(vault.text, vault.reader).messages_about("main", "Zofia plays violin", 10)
    assert [text for _, text in found] == ["My aunt Zofia plays the violin."] * 30
