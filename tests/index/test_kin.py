"""index/words/kin: forms of a Polish or Russian word have a root in common that stems lack."""

import pytest
from hypothesis import strategies as st

from vaultmind.index.matching import MOST_UNROOTED, Vocabulary
from vaultmind.index.words.kin import roots, wider_roots
from vaultmind.index.words.terms import fold

WORD = st.text(st.sampled_from("aeiouycklnrstwzdhjpbmgabcаеиоуыьйчкшщжсняртлвмдпб"), max_size=30)


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
