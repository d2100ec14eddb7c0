"""index/words/kin: forms of a Polish or Russian word have a root in common that stems lack."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.index.fulltext.vocabulary import MOST_UNROOTED, Vocabulary
from vaultmind.index.words.kin import MAX_WORD, MIN_ROOT, roots, wider_roots
from vaultmind.index.words.terms import fold


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("książka", "książce"),
        ("uszczelka", "uszczelek"),
        ("Bartek", "Bartkowi"),
        ("Paweł", "Pawła"),
        ("sweter", "swetry"),
        ("noga", "nodze"),
        ("koledzy", "kolega"),
        ("kwiat", "kwiecie"),
        ("miasto", "mieście"),
        ("biuro", "biurze"),
        ("sąsiad", "sąsiedzi"),
        ("literę", "literze"),
        ("problem", "problemy"),
        ("kredytu", "kredycie"),
        ("zamówić", "zamawianie"),
        ("reklamować", "reklamacja"),
        ("ogrodu", "ogródek"),
        ("balet", "balecik"),
        ("balkonowy", "balkon"),
        ("молоток", "молотка"),
        ("банка", "банок"),
        ("Павел", "Павлом"),
        ("огурцы", "огурчики"),
        ("собака", "собачку"),
        ("проверить", "проверка"),
        ("отправить", "отправлять"),
        ("подкормить", "подкармливаю"),
        ("голосовать", "голосование"),
        ("активация", "активировать"),
        ("вишня", "вишнёвый"),
        ("звезда", "звёздочка"),
    ],
)
def test_forms_of_a_word_share_a_root(one: str, other: str) -> None:
    assert set(roots(fold(one))) & set(roots(fold(other)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("kota", "kora"),
        ("zamek", "zamiar"),
        ("piekarnik", "piekło"),
        ("dom", "dama"),
        ("lasy", "losy"),
        ("страна", "сторона"),
        ("рука", "река"),
        ("молоток", "молоко"),
    ],
)
def test_other_words_do_not(one: str, other: str) -> None:
    assert not set(roots(fold(one))) & set(roots(fold(other)))


@pytest.mark.parametrize("token", ["", "a", "kot", "x" * 25, "東京", "gpt4", "straße", "год"])
def test_what_is_no_word_of_these_languages_has_none(token: str) -> None:
    assert roots(token) == wider_roots(token) == ()


WORD = st.text(st.sampled_from("aeiouycklnrstwzdhjpbmgabcаеиоуыьйчкшщжсняртлвмдпб"), max_size=30)


@given(WORD)
def test_any_token_has_roots_of_some_length(word: str) -> None:
    for root in roots(word):
        assert MIN_ROOT - 1 <= len(root) <= MAX_WORD
    for root in wider_roots(word):
        assert root


def test_the_vocabulary_finds_kin_the_commonest_first() -> None:
    held = Vocabulary()
    for tokens in (["ksiazka", "ksiazk"], ["ksiazk"], ["ksiazki", "rower"]):
        held.add(tokens)
    assert held.kin("ksiazce", 5) == ["ksiazk", "ksiazka", "ksiazki"]
    assert held.kin("ksiazce", 1) == ["ksiazk"]
    assert held.kin("rower", 5) == []


def test_a_prefix_or_its_lack_is_distant_kin() -> None:
    held = Vocabulary()
    held.add(["szczepienie", "zrobic", "kawa"])
    assert held.distant_kin("zaszczepic", 5) == ["szczepienie"]
    assert held.distant_kin("kawka", 5) == ["kawa"]


def test_a_search_finds_few_roots_on_its_way_and_warming_all_of_them() -> None:
    held = Vocabulary()
    held.add(
        f"slowo{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}{'xyz'[n // 676]}" for n in range(1500)
    )
    held.add(["ksiazka"])
    assert MOST_UNROOTED < 1501
    assert held.kin("ksiazce", 5) == []
    assert held.unrooted == 1501 - MOST_UNROOTED
    held.warm()
    assert held.kin("ksiazce", 5) == ["ksiazka"]


@pytest.mark.parametrize("token", ["iiii", "IIII", "iiiiiii", "ьььь", "сьсь"])
def test_what_is_no_word_has_a_root_too(token: str) -> None:
    assert all(roots(fold(token)))
    wider_roots(fold(token))
