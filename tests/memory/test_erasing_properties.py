"""memory/forget: of front matter an erasure takes what says it, and no byte beside it."""

from __future__ import annotations

import pytest

from vaultmind.memory.forget.sentences import without_properties
from vaultmind.memory.forget.wanted import Wanted

WANTED = Wanted(["Olga in Lublin"])
CASES = {
    "items": ("topics: [Olga in Lublin, 12, true]", "topics: [12, true]"),
    "last": ("topics: [żółw, 'a, b',  Olga in Lublin]", "topics: [żółw, 'a, b']"),
    "several": (
        "topics: [ 2026-02-20, Olga in Lublin, Olga in Lublin ] # mine",
        "topics: [ 2026-02-20 ] # mine",
    ),
    "lines": ("topics:\n- żaba\n- Olga in Lublin\n-   12", "topics:\n- żaba\n-   12"),
    "link": ('t:\n  - "[[Olga in Lublin]]"\n  - [[Kraków]]', "t:\n  - [[Kraków]]"),
    "mapping": (
        "meta:\n  where: Olga in Lublin\n  age: 12 # years\n  on: yes",
        "meta:\n  age: 12 # years\n  on: yes",
    ),
    "flow": ("meta: {where: Olga in Lublin, age: 12}", "meta: {age: 12}"),
    "name": ("meta:\n  Olga in Lublin: yes\n  age: 012", "meta:\n  age: 012"),
    "deep": (
        "meta:\n  - name: Olga in Lublin\n    age: 12\n  - name: Jan",
        "meta:\n  - name: null\n    age: 12\n  - name: Jan",
    ),
    "text": (
        "meta:\n  said: |\n    Olga in\n    Lublin.\n\n  age: 1.50",
        "meta:\n  age: 1.50",
    ),
    "one value": ("where: Olga in Lublin", "where: null"),
    "one item": ("topics: [Olga in Lublin]", "topics: []"),
    "one line": ("topics:\n  - Olga in Lublin", "topics: []"),
    "one entry": ("meta:\n  where: {now: Olga in Lublin}", "meta: null"),
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
