"""Private keys: no line of one comes out, however a text with it is cut, quoted or broken off."""

from __future__ import annotations

import base64
import random
import textwrap

import pytest

from vaultmind.redact import blank_passages, mask

BODY = base64.b64encode(random.Random(3).randbytes(1201)).decode()


def key(kind: str = "RSA ", width: int = 64) -> str:
    lines = "\n".join(textwrap.wrap(BODY, width))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{lines}\n-----END {kind}PRIVATE KEY-----"


def lines_of(width: int) -> list[str]:
    return [line for line in textwrap.wrap(BODY, width) if len(line) == width]


@pytest.mark.parametrize("before", ["", "    ", "> ", "# ", "  // ", "\t"])
@pytest.mark.parametrize(("kind", "width"), [("RSA ", 64), ("", 64), ("OPENSSH ", 70)])
@pytest.mark.parametrize("gone", ["", "BEGIN", "END", "both"])
def test_of_a_key_no_line_is_left_wherever_it_stands(
    before: str, kind: str, width: int, gone: str
) -> None:
    text = key(kind, width)
    text = text if gone not in ("BEGIN", "both") else text.partition("\n")[2]
    text = text if gone not in ("END", "both") else text.rpartition("\n")[0]
    text = f"Of the oven.\n\n{textwrap.indent(text, before)}\n\nOf the bread.\n"
    blank = blank_passages(text)
    shown = mask(text).text
    assert not [one for one in lines_of(width) if one in blank or one in shown]
    assert [len(line) for line in blank.splitlines()] == [len(line) for line in text.splitlines()]
    assert "Of the oven." in blank and "Of the bread." in blank and "‹private key›" in blank
    assert blank_passages(blank) == blank and mask(shown).text == shown


@pytest.mark.parametrize("size", [300, 600, 1200])
def test_a_piece_from_the_middle_of_a_key_is_taken_for_one(size: int) -> None:
    text = key()
    for at in range(0, len(text) - size, 65):
        piece = "\n".join(text[at : at + size].split("\n")[1:-1])
        assert not [one for one in lines_of(64) if one in mask(piece).text]


@pytest.mark.parametrize("joint", ['\\n"\n    "', '\\n" +\n  "', "\\n"])
def test_a_key_in_code_or_json_is_one(joint: str) -> None:
    text = f'KEY = "{key().replace(chr(10), joint)}"\n\ndef oven():\n    return KEY\n'
    blank = blank_passages(text)
    assert not [one for one in lines_of(64) if one in blank]
    assert len(blank) == len(text) and "def oven():" in blank


@pytest.mark.parametrize(
    "text",
    [
        key().replace("RSA PRIVATE KEY", "CERTIFICATE"),
        key().replace("RSA PRIVATE KEY", "PUBLIC KEY"),
        "-----BEGIN PGP SIGNATURE-----\nVersion: 1\n\n" + "\n".join(lines_of(64)),
        "\n".join(textwrap.wrap(BODY, 76)),  # base64 of a file that was mailed
        "\n".join(f"{n:064x}" for n in range(10**70, 10**70 + 9)),
        "\n".join("0123456789ABCDEF" * 4 for _ in range(9)),
        'if text.startswith("-----BEGIN PRIVATE KEY-----"):\n    oven()\n'
        'if text.endswith("-----END PRIVATE KEY-----"):\n    bread()\n',
    ],
)
def test_what_is_no_key_is_left_as_it_is(text: str) -> None:
    assert blank_passages(f"Of the oven.\n{text}\nOf the bread.\n") == (
        f"Of the oven.\n{text}\nOf the bread.\n"
    )


def test_blanking_takes_no_longer_than_a_text_is_long() -> None:
    for text in ("\n" + ">" * 200_000, "-----BEGIN PRIVATE KEY-----\n\n" * 5000, "\n" * 200_000):
        assert blank_passages(text) == text
