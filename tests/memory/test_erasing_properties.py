"""memory/forget: of front matter an erasure takes what says it, and no byte beside it."""

from __future__ import annotations

import pytest

from vaultmind.memory.forget.taking import without_properties
from vaultmind.memory.forget.wanted import Wanted

WANTED = Wanted(["Olga in Lublin"])
CASES = {
    "items": ("topics: [Olga in Lublin, bees]", "topics: [bees]"),
    "lines": ("topics:\n- żaba\n- Olga in Lublin", "topics: [żaba]"),
    "link": ('t:\n  - "[[Olga in Lublin]]"\n  - oven', "t: [oven]"),
    "mapping": ("meta:\n  where: Olga in Lublin\n  age: 12 # years", "meta: null"),
    "one value": ("where: Olga in Lublin", "where: null"),
    "one item": ("topics: [Olga in Lublin]", "topics: []"),
    "together": ("names:\n  - Olga in\n  - Lublin", "names: []"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_says_it_goes_and_every_other_byte_stays(name: str, newline: str) -> None:
    before, after = (
        f"---\nid: 007\n{text}\n\n# years\nweek: [ 1,2 ]\n---\nÓsemka: 12\n".replace("\n", newline)
        for text in CASES[name]
    )
    new = without_properties(before, WANTED)
    assert new.text == after
    assert new.taken and all(one.place == "front matter" for one in new.taken)
    assert without_properties(after, WANTED).taken == ()
