"""redact: planted secrets are taken out; whatever holds none comes back untouched."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from stdnum import iban, luhn

from vaultmind.redact import (
    KINDS,
    MARK,
    BadPattern,
    Masked,
    blank_private,
    checked,
    mask,
    use_patterns,
)

ORDINARY = """the oven is hot today Anna meets Ben at 10:00 on 2026-02-20 in Kraków ; woli herbatę ,
        любит чай +48 600 100 200 (12) 345-67-89 12,5% 3.14 d41d8cd98f00b204e9800998ecf8427e
        550e8400-e29b-41d4-a716-446655440000 83383a7 202602201000 1700000000000 [[Oven#^ab12]]
        #tag/sub https://example.com/a?b=c&d=1 `code` ```\n key word pass compass pin
        keeps tokens spinach - * > | ‹ › ISBN 978-3-16-148410-0 e=mc2 v1.2.3 C++ © 🍕"""
PLAIN = st.lists(st.sampled_from(ORDINARY.split(" ")), max_size=30).map(" ".join)

SECRETS = [
    ("api key", "ghp_" + "a1B2" * 9),
    ("api key", "github_pat_" + "a1B2c3D4_" * 4),
    ("api key", "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWx1234567890"),
    ("api key", "sk-proj-AbCdEfGhIjKlMnOp1234567890qrst"),
    ("api key", "AKIAIOSFODNN7EXAMPLE"),
    ("api key", "AIza" + "Sy1" * 11 + "ab"),
    ("api key", "xoxb-123456789012-123456789012-AbCdEfGhIjKlMnOp"),
    ("api key", "glpat-" + "x1Y2" * 5),
    ("api key", "hf_" + "AbC1" * 9),
    ("api key", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop"),
    ("api key", "SG." + "a" * 22 + "." + "b" * 43),
    ("api key", "sk_live_" + "a1B2c3" * 4),
    ("api key", "123456789:" + "AbCdE-fGh" * 3 + "AbCdEfGh"),
    (
        "private key",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n-----END OPENSSH PRIVATE KEY-----",
    ),
    ("card number", "4111 1111 1111 1111"),
    ("card number", "5555-5555-5555-4444"),
    ("card number", "378282246310005"),
    ("bank account", "PL61 1090 1014 0000 0712 1981 2874"),
    ("bank account", "61 1090 1014 0000 0712 1981 2874"),
    ("bank account", "GB29NWBK60161331926819"),
    ("bank account", "DE89 3704 0044 0532 0130 00"),
]

DATA = tomllib.loads((Path(__file__).parent / "data/redact.toml").read_text("utf-8"))


@given(PLAIN)
def test_a_text_without_secrets_comes_back_as_it_was(text: str) -> None:
    assert mask(text).text == text and mask(text).kinds == ()


@pytest.mark.parametrize(("text", "secret"), DATA["told"])
def test_a_credential_is_taken_out_wherever_its_sentence_announces_it(
    text: str, secret: str
) -> None:
    assert secret not in mask(text).text


@pytest.mark.parametrize("worst", ["password ", "log in. ", "pin 123 456 ", "a_B.", ". ", '"abc '])
def test_a_long_text_of_one_kind_is_not_read_forever(worst: str) -> None:
    mask("password " + worst * (50_000 // len(worst)))


@pytest.mark.parametrize("text", DATA["ordinary"])
def test_ordinary_prose_raises_no_alarm(text: str) -> None:
    assert mask(text).text == text


@given(PLAIN, st.sampled_from(SECRETS), PLAIN)
def test_a_planted_secret_is_taken_out_and_the_rest_stays(
    before: str, secret: tuple[str, str], after: str
) -> None:
    kind, value = secret
    done = mask(f"{before}\n{value}\n{after}")
    assert done.text == f"{before}\n‹{kind}›\n{after}"
    assert done.kinds == (kind,)


@pytest.mark.parametrize(("text", "secret"), DATA["announced"])
def test_what_is_announced_as_a_secret_is_taken_out(text: str, secret: str) -> None:
    done = mask(text)
    assert secret not in done.text and len(done.kinds) == 1


@given(st.sampled_from(["4539", "5105", "2221"]), st.text("0123456789", min_size=11, max_size=11))
def test_every_card_number_is_known_by_its_checksum(start: str, middle: str) -> None:
    number = start + middle
    assert mask(f"x {number}{luhn.calc_check_digit(number)} y").kinds == ("card number",)


@given(st.text("0123456789", min_size=18, max_size=18))
def test_every_german_account_is_known_by_its_checksum(digits: str) -> None:
    number = f"DE{iban.calc_check_digits('DE00' + digits)}{digits}"
    assume(iban.is_valid(number))
    assert mask(iban.format(number)).text == "‹bank account›"


@settings(deadline=None)
@given(st.text(max_size=200) | PLAIN | st.sampled_from([text for text, _ in DATA["announced"]]))
def test_masking_twice_is_masking_once(text: str) -> None:
    once = mask(text)
    assert mask(once.text).text == once.text
    assert set(once.kinds) <= set(KINDS)


def test_a_mark_is_told_from_what_a_person_wrote() -> None:
    assert MARK.fullmatch("‹api key›") and not MARK.search("‹guillemets›")


# --- private passages ------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "left"), DATA["private"])
def test_a_private_passage_is_taken_out_whole(text: str, left: str) -> None:
    assert mask(text).text == left
    assert mask(text).kinds == ("private passage",)
    assert mask(left).text == left


@pytest.mark.parametrize(
    "text",
    [
        "a private matter",
        "List<privateKey> x",
        "<private-ish>",
        "<privately>",
        "x < private y",
        "&lt;",
    ],
)
def test_what_only_looks_like_a_private_tag_stays(text: str) -> None:
    assert mask(text).text == text


@given(PLAIN, st.text(max_size=40), PLAIN)
def test_nothing_of_a_private_passage_is_left(before: str, said: str, after: str) -> None:
    secret = f"zq{said}qz"
    assume("private" not in said.lower())
    masked = mask(f"{before} <private>{secret}</private> {after}")
    assert secret not in masked.text
    assert masked.text == f"{mask(before + ' ').text}‹private passage›{mask(' ' + after).text}"
    assert "zq" not in mask(f"{before} <private>{secret}").text


def test_a_secret_within_a_private_passage_is_not_named() -> None:
    assert mask("<private>my PIN is 4821</private>").kinds == ("private passage",)


# --- the person's own patterns ---------------------------------------------------------------


@pytest.fixture
def own() -> Iterator[Callable[..., None]]:
    yield lambda *patterns: use_patterns(patterns)
    use_patterns(())


def test_own_patterns_are_taken_out_and_named_as_such(own: Callable[..., None]) -> None:
    own(r"(?i)project falcon", r"EMP-\d{4,6}")
    masked = mask("Project Falcon is led by EMP-12345; the PIN is 4821.")
    assert masked.text == "‹own pattern› is led by ‹own pattern›; the PIN is ‹PIN›."
    assert set(masked.kinds) == {"own pattern", "PIN"}
    assert mask(masked.text) == Masked(masked.text, ())
    own()
    assert mask("Project Falcon").kinds == ()


def test_a_group_named_value_is_all_that_is_taken_out(own: Callable[..., None]) -> None:
    own(r"badge no\. (?P<value>\w+)", r"pattern|key|PIN")
    assert mask("badge no. A77, my PIN is 4821").text == (
        "badge no. ‹own pattern›, my ‹own pattern› is ‹PIN›"
    )


@given(st.integers(0, 1200))
def test_an_own_pattern_is_found_wherever_it_stands_in_a_long_line(at: int) -> None:
    use_patterns([r"\bproject\s+falcon\b"])
    try:
        text = ("ab " * 400)[:at] + " project  falcon " + "cd " * 300
        assert mask(text).text.count("‹own pattern›") == 1
        assert "falcon" not in mask(text).text
    finally:
        use_patterns(())


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "no regular expression"),
        ("a*", "empty text"),
        (r"\s", "mere space"),
    ],
)
def test_a_pattern_that_cannot_be_used_says_why(pattern: str, why: str) -> None:
    with pytest.raises(BadPattern, match=why):
        checked(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"EMP-\d+",
        r"\b[A-Z]{2}\d{6}\b",
        r"(?:\d{4}[ -]?){3}\d{4}",
        r"[+*{(|]x",
        r"\(\d+\)",
        "(?i)acme (?:inc|ltd)",
    ],
)
def test_an_ordinary_pattern_is_taken(pattern: str) -> None:
    assert checked(pattern)


@pytest.mark.parametrize(
    "text",
    [
        "a <private>x</private> b",
        "a\n<private>\r\nline one of it, long enough\r\n\n</private>\r\nb",
        "cut off\nhere</private> b",
        "a <private>never\nclosed",
        "no tag at all",
    ],
)
def test_a_blanked_passage_keeps_every_offset_and_line(text: str) -> None:
    blank = blank_private(text)
    assert len(blank) == len(text)
    assert [i for i, c in enumerate(blank) if c in "\r\n"] == [
        i for i, c in enumerate(text) if c in "\r\n"
    ]
    shown = "".join(MARK.sub("", blank).split())
    assert shown == "".join(MARK.sub("", mask(text).text).split())
