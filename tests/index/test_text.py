"""index/fulltext: people's questions find the right chunk, and none fails."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.index.vault import Vault
from vaultmind.index.fulltext.text_index import MAX_TERMS
from vaultmind.index.fulltext.vocabulary import Vocabulary, edits
from vaultmind.index.storage.where import Where

ODD = (
    *('"', "AND", "NOT (", "a NEAR b", "title:x", "{words} : y", "*", "^x", "a - b", "'; --"),
    *("\0", "\ud800", "🍞🍞", "\x07\x1b", "--" * 50, "%_", "\u202eabc"),
    *(
        "",
        " ",
        "-",
        "the of and",
        "я",
        "京",
        "a\0b",
        "\u200d\u200c",
        "שלום",
        "12 34 56 78 90 12 34",
    ),
)
NOTES = {
    "bread.md": "The sourdough bread recipe needs a hot oven and twelve hours of rest.",
    "chleb.md": "Przepis na chleb żytni na zakwasie: piekarnik 230 stopni, ciasto rośnie noc.",
    "lodowka.md": "Ania kupiła nową lodówkę w sklepie na rogu, stara jest na strychu.",
    "khleb.md": "Рецепт хлеба на закваске: духовка 230 градусов, тесто стоит всю ночь.",
    "brot.md": "Sauerteigbrot backen wir jeden Sonntag im Holzofen hinter dem Haus.",
    "code.md": "Call `parse_note_text` from vaultmind/index/reading.py since v1.5.9 (HTMLParser).",
    "tokyo.md": "東京都に住んでいます。週末は京都へ行きます。",
    "database.md": "We decided to use PostgreSQL as the database of the shop, not MongoDB.",
    "wrong.md": "Nothing of interest stands here, only a line about the weather in spring.",
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    made = Vault(tmp_path_factory.mktemp("text"))
    for path, text in NOTES.items():
        made.put(path, text + "\n")
    yield made
    made.close()


def first(vault: Vault, query: str, where: Where | None = None) -> str:
    hits = vault.text.search(query, where or Where(), 5)
    if not hits:
        return ""
    with vault.database.read() as connection:
        row = connection.execute("SELECT path FROM chunks WHERE rowid = ?", (hits[0].rowid,))
        return str(row.fetchone()[0])


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Where did we write down the recipe for the sourdough bread?", "bread.md"),
        ("Gdzie jest zapisany przepis na chleb na zakwasie?", "chleb.md"),
        ("Где у нас записан рецепт хлеба на закваске?", "khleb.md"),
        ("Wann backen wir das Brot im Ofen?", "brot.md"),
        ("Which database did we choose, and why not another one?", "database.md"),
    ],
)
def test_a_question_in_full_sentences_finds_its_note(vault: Vault, query: str, path: str) -> None:
    assert first(vault, query) == path


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("lodówki", "lodowka.md"),
        ("lodowka", "lodowka.md"),
        ("lodówkami", "lodowka.md"),
        ("рецепты хлебов", "khleb.md"),
        ("recipes", "bread.md"),
        ("przepisu na chleb", "chleb.md"),
    ],
)
def test_another_inflection_or_no_diacritics_find_it(vault: Vault, query: str, path: str) -> None:
    assert first(vault, query) == path


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("sourdoguh", "bread.md"),
        ("piekranik", "chleb.md"),
        ("духвока", "khleb.md"),
        ("postgreslq", "database.md"),
        ("weahter", "wrong.md"),
    ],
)
def test_a_typing_error_finds_it(vault: Vault, query: str, path: str) -> None:
    assert first(vault, query) == path


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Brot", "brot.md"),
        ("Holz", "brot.md"),
        ("Sauerteig Brot", "brot.md"),
        ("postgres", "database.md"),
        ("data base", "database.md"),
        ("breadrecipe", "bread.md"),
    ],
)
def test_a_part_of_a_compound_finds_it(vault: Vault, query: str, path: str) -> None:
    assert first(vault, query) == path


@pytest.mark.parametrize("query", ["東京", "京都", "住んで", "東京都に住んで"])
def test_scripts_without_spaces_are_found_in_parts(vault: Vault, query: str) -> None:
    assert first(vault, query) == "tokyo.md"


@pytest.mark.parametrize(
    "query",
    [
        "parse_note_text",
        "note_text",
        "reading.py",
        "index/reading.py",
        "1.5.9",
        "v1.5",
        "HTMLParser",
        "htmlparser",
    ],
)
def test_identifiers_paths_and_versions_are_found_whole_and_in_parts(
    vault: Vault, query: str
) -> None:
    assert first(vault, query) == "code.md"


def test_stop_words_alone_still_find_something(vault: Vault) -> None:
    assert first(vault, "the") in NOTES
    assert vault.text.search("what is the", Where(), 5)


def test_stop_words_do_not_drown_the_telling_word(vault: Vault) -> None:
    assert first(vault, "what is the thing about the weather in the") == "wrong.md"


@pytest.mark.parametrize(
    "query",
    ODD,
)
def test_full_text_syntax_and_odd_characters_are_only_text(vault: Vault, query: str) -> None:
    vault.text.search(query, Where(), 5)


def test_a_query_of_ten_thousand_words_finds_the_rare_one(vault: Vault) -> None:
    filler = " ".join(f"word{n}" for n in range(200))
    assert first(vault, f"sourdough {filler} " + "the and of " * 3300) == "bread.md"
    assert MAX_TERMS < 200


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "1",
        "1-",
        "12 ",
        "chleb ",
        "a_",
        "/a",
        "aB",
        "-./",
        "\0",
        "東京",
        "🍞",
        "שלום ",
        "a'",
        "ё\u0301",
    ],
)
def test_a_megabyte_of_anything_is_answered_in_a_moment(vault: Vault, piece: str) -> None:
    query = piece * (1_000_000 // len(piece))
    started = time.process_time()
    vault.text.search(query, Where(), 10)
    assert time.process_time() - started < 3.0


def test_the_question_below_a_long_paste_counts(vault: Vault) -> None:
    pasted = " ".join(f"filler{n}" for n in range(8_000))
    assert first(vault, f"{pasted} what about the sourdough?") == "bread.md"
    assert first(vault, f"sourdough? {pasted}") == "bread.md"


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("uszczelek", "seal.md"),
        ("Bartkowi", "person.md"),
        ("zamawianie", "order.md"),
        ("проверка", "check.md"),
        ("молотка", "hammer.md"),
    ],
)
def test_a_word_changed_inside_is_found(tmp_path: Path, query: str, path: str) -> None:
    made = Vault(tmp_path)
    made.put("seal.md", "Piekarnik ma nową uszczelkę w drzwiczkach, ale dalej nie trzyma ciepła.\n")
    made.put("person.md", "Bartek pojechał na urlop i wraca dopiero w przyszłym tygodniu.\n")
    made.put("order.md", "Zamówiłam regał do pokoju, a dostawa będzie w środę rano.\n")
    made.put("check.md", "Надо проверить газовый котёл до зимы, мастер придёт в среду.\n")
    made.put("hammer.md", "Молоток и дрель взял у дяди, вернуть до праздников обязательно.\n")
    made.put("other.md", "The Bart check seals an order of hammers, nothing else is said here.\n")
    found = first(made, query)
    made.close()
    assert found == path


def test_a_question_in_english_has_no_polish_kin(tmp_path: Path) -> None:
    made = Vault(tmp_path)
    made.put(
        "pl.md",
        "Zamówiłam parkowanie dla gości, a potem jeszcze parkowy spacer po mieście.\n",
    )
    made.put("en.md", "They met at the park, where the ducks are, before it began to rain.\n")
    hits = made.text.search("what is there to see in the park with the children", Where(), 5)
    with made.database.read() as connection:
        paths = {
            row[0] for row in connection.execute("SELECT rowid FROM chunks WHERE path = 'en.md'")
        }
    made.close()
    assert {hit.rowid for hit in hits} == paths


def test_an_identifier_to_the_letter_comes_before_its_parts(tmp_path: Path) -> None:
    made = Vault(tmp_path)
    made.put(
        "parts.md",
        "No cache of old maps: no cache at all. Of 770 projects, PROJ-770 is done; 77.\n",
    )
    made.put(
        "exact.md",
        "A long line about how the server is started, which is with --no-cache, see PROJ-77.\n",
    )
    for query in ("--no-cache", "PROJ-77", "start with --no-cache"):
        assert first(made, query) == "exact.md", query
        (best, *_) = made.text.search(query, Where(), 5)
        assert 0 < best.exact <= 1
    made.close()


def test_a_number_is_found_however_it_is_spaced(tmp_path: Path) -> None:
    made = Vault(tmp_path)
    made.put("a.md", "The plumber is at +48 601 234 567, mornings only.\n")
    made.put(
        "b.md", "The office is at 225550123 from nine; 601 visitors a day, 567 of them lost.\n"
    )
    for query, path in (("601234567", "a.md"), ("22 555 01 23", "b.md"), ("22-555-0123", "b.md")):
        assert first(made, query) == path, query
    made.close()


def test_filters_come_before_ranking(vault: Vault) -> None:
    assert first(vault, "recipe sourdough", Where(kinds=("fact",))) == ""
    assert first(vault, "recipe sourdough", Where(folder="Nowhere")) == ""
    assert first(vault, "recipe sourdough", Where(agents=())) == "bread.md"


LETTERS = st.sampled_from("abcdefghijklmnopqrstuvwxyz0123456789ßżщ")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(LETTERS, min_size=1, max_size=70), max_size=8), st.data())
def test_a_word_of_any_length_can_be_looked_up(held: list[str], data: st.DataObject) -> None:
    vocabulary = Vocabulary()
    vocabulary.add(held)
    known = st.sampled_from(held) if held else st.nothing()
    word = data.draw(known | st.text(LETTERS, min_size=1, max_size=70))
    cut = data.draw(st.integers(0, len(word) - 1))
    longer = {token for token in held if word[cut:] in token and token != word[cut:]}
    for part in (word, word[cut:], word + word):
        assert set(vocabulary.near(part, 6)) <= set(held)
        assert set(vocabulary.containing(part, 6)) <= {t for t in held if part in t and t != part}
        assert set(vocabulary.halves(part)) <= set(held)
    if len(word) - cut >= 5 and all(len(token) <= 64 for token in longer):
        assert bool(vocabulary.containing(word[cut:], 6)) == bool(longer)


@pytest.mark.parametrize("size", range(30, 80))
def test_an_unknown_word_of_any_length_is_no_error(vault: Vault, size: int) -> None:
    word = "0f3a9c" * 14
    assert vault.text.search(word[:size], Where(), 10) == []
    (hit,) = vault.text.search(f"{word[:size]} lodówka", Where(), 10)
    assert hit.rowid


def test_a_long_compound_is_found_by_its_longest_part(tmp_path: Path) -> None:
    made = Vault(tmp_path)
    made.put("a.md", "Die Donaudampfschifffahrtsgesellschaftskapitänsmütze hängt im Flur.\n")
    found = made.text.search("Donaudampfschifffahrtsgesellschaftskapitän", Where(), 10)
    made.close()
    assert len(found) == 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(max_size=120))
def test_no_query_is_an_error(vault: Vault, query: str) -> None:
    for hit in vault.text.search(query, Where(agents=("main",)), 5):
        assert hit.score >= 0


def test_what_was_removed_is_not_found_and_what_came_is(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    vault.put("a.md", "The heron stands in the river.\n")
    assert first(vault, "heron") == "a.md"
    vault.put("a.md", "The crane stands in the river.\n")
    vault.put("b.md", "A kingfisher came by.\n")
    vault.text.tidy()
    assert first(vault, "heron") == ""
    assert first(vault, "kingfisher") == "b.md"
    assert first(vault, "kingfihser") == "b.md"
    vault.text.reset()
    assert first(vault, "crane") == "a.md"
    vault.database.close()


def test_a_narrow_filter_finds_below_many_better_matches(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    for number in range(30):
        vault.put(f"all/{number}.md", "Oven oven oven.\n")
    vault.put("one/a.md", "An oven is mentioned somewhere in this much longer line of text.\n")
    assert first(vault, "oven", Where(folder="one")) == "one/a.md"
    vault.database.close()


def test_tags_and_dates_filter(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    vault.put("Daily/2026-02-20.md", "Rain and bread. #House/Oven\n")
    vault.put("Daily/2026-03-01.md", "Rain and snow. #garden\n")
    assert first(vault, "rain", Where(tag="House")) == "Daily/2026-02-20.md"
    assert first(vault, "rain", Where(tag="house/oven")) == "Daily/2026-02-20.md"
    assert first(vault, "rain", Where(tag="hous")) == ""
    assert first(vault, "rain", Where(after="2026-02-21")) == "Daily/2026-03-01.md"
    assert first(vault, "rain", Where(before="2026-02-20")) == "Daily/2026-02-20.md"
    vault.database.close()


def test_a_wrong_first_letter_of_a_short_word_is_a_typing_error_if_nothing_else_is() -> None:
    vocabulary = Vocabulary()
    vocabulary.add(["zolik", "rolka"])
    assert vocabulary.near("xolik", 6) == ["zolik"]
    vocabulary.add(["xolig"])
    assert vocabulary.near("xolik", 6) == ["xolig"]
    assert vocabulary.near("volk", 6) == []


WORD = st.text(alphabet="abcd", min_size=1, max_size=7)


@given(WORD, WORD)
def test_edits_count_both_ways_alike_and_stop_in_time(a: str, b: str) -> None:
    assert edits(a, b, 2) == edits(b, a, 2) <= 3
    assert (edits(a, b, 2) == 0) == (a == b)


@given(st.sampled_from(["piekarnik", "sourdough", "lodowka", "oven"]), st.data())
def test_one_typing_error_is_always_found(word: str, data: st.DataObject) -> None:
    vocabulary = Vocabulary()
    vocabulary.add(["piekarnik", "sourdough", "lodowka", "oven", "other", "words"])
    at = data.draw(st.integers(1, len(word) - 2))
    kind = data.draw(st.sampled_from(["swap", "drop", "change", "double"]))
    wrong = {
        "swap": word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        "drop": word[:at] + word[at + 1 :],
        "change": word[:at] + "x" + word[at + 1 :],
        "double": word[:at] + word[at] + word[at:],
    }[kind]
    if wrong != word and len(wrong) > 3:
        assert word in vocabulary.near(wrong, 6)


def test_a_word_is_counted_in_the_chunks_that_hold_it_however_often_they_were_written(
    tmp_path: Path,
) -> None:
    """Or an unknown word would seem rarer with every edit, and what is found worth less."""
    vault = Vault(tmp_path)
    for step in range(30):
        vault.put("Kiln.md", f"# Kiln\n\nFired {'again' if step % 2 else 'once'}.\n")
        vault.text.answer("kiln", Where(), 5)
    kept = vault.text.answer("kiln again unheard", Where(), 5).wanted
    vault.text.reset()
    assert vault.text.answer("kiln again unheard", Where(), 5).wanted == kept
    vault.put("Kiln.md", "# Kiln\n\nCold.\n")
    assert not vault.text.answer("agian", Where(), 5).hits, "no stand-in that nobody wrote any more"
    vault.put("Kiln.md", "# Kiln\n\nFired again.\n")
    assert vault.text.answer("agian", Where(), 5).hits
    vault.close()


def test_words_that_are_written_while_a_first_search_comes_are_found_by_the_next(
    tmp_path: Path,
) -> None:
    vault = Vault(tmp_path)
    vault.put("a.md", "The oven is hot.\n")
    vault.text.reset()
    vault.write("b.md", "The plum tree was planted in 2019.\n")
    stored, searched = threading.Event(), threading.Event()

    def search() -> None:
        assert stored.wait(10)
        vault.text.search("plum", Where(), 5)
        searched.set()

    searching = threading.Thread(target=search)
    searching.start()
    with vault.database.write():
        vault.refresh(["b.md"])
        stored.set()
        searched.wait(0.1)  # it waits for the commit, too
    searching.join()
    assert vault.text.search("plum", Where(), 5)
    vault.close()


@pytest.mark.parametrize("odd", ["½", "1½", "coŀlaborar", "ℝ", "⑴"])
def test_words_that_full_text_cuts_up_are_found_at_once_and_after_a_start(
    tmp_path: Path, odd: str
) -> None:
    vault = Vault(tmp_path)
    vault.put("b.md", "bread\n")
    assert vault.text.search("bread", Where(), 5)
    vault.put("a.md", f"The barge took {odd} of a load.\n")
    assert first(vault, odd) == "a.md"
    vault.text.reset()
    assert first(vault, odd) == "a.md"
    vault.close()
