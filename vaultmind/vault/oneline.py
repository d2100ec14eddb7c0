"""A text as one safe line of Markdown, and back: what a fact says can never act on its file."""

from __future__ import annotations

import json
import re
from unicodedata import category

_BACKSLASH = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_BRACKETS = re.compile(
    r"(?<!!)\[\[[^\[\]|^\\]+(?:\|[^\[\]|^\\]*)?\]\]"  # a plain link to a note stays one
    r"|\[(?=\[)|!(?=\[)"  # half a link, a link to a block (as our sources are), an embed
)
_INSIDE = re.compile(
    r"(?<=%)%"  # a comment
    r"|<(?=[A-Za-z/!?])"  # HTML
    r"|\$(?=\$)|(?<=\$)\$"  # a block of mathematics
    r"|(?:(?<=\s)|^)\^"  # a block id
)
_START = re.compile(
    r"[-*_][-*_ ]*$|[-+*](?= |$)|#{1,6}(?= |$)|>|```|~~~"  # a rule, list, heading, quote, code
    r"|\[(?!\[)(?![^\]]*\]\()"  # a tick box, a footnote, a link definition
)
_NUMBER = re.compile(r"(\d{1,9})([.)])(?= |$)")
_JOINERS = {"\u200c", "\u200d"}
"""Invisible, and needed in emoji and in some scripts."""
_REMOVED = {"Cc", "Cf", "Cs", "Co"}
_NEWLINE = re.compile("\r\n?|\x85")
_VISIBLE = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {
    0x7F: 0x2421, **dict.fromkeys([*range(0x80, 0xA0), *range(0xD800, 0xE000)], 0xFFFD)
}  # fmt: skip
"""What stands for control characters, and for half surrogates."""
_NOT_YAML = re.compile("[\u2028\u2029\ufeff\ufffe\uffff]")
"""What JSON holds as it is and YAML does not."""


def one_line(text: str) -> str:
    """Return a text as one line: spaces single, nothing invisible, no direction overrides."""
    if text.isprintable():  # of what is removed nothing is, and of spaces only the plain one
        return " ".join(text.split())
    kept = (c for c in text if c.isspace() or c in _JOINERS or category(c) not in _REMOVED)
    return " ".join("".join(kept).split())


def short(text: str, most: int) -> str:
    """Return at most so many characters of a text, with `…` at the end where it was cut."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def escape(text: str) -> str:
    """Return a text as one line of Markdown that reads as it was said and does nothing else.

    It cannot hold a comment, block id, tick box, heading, list, code block, HTML, embed or a
    link to a block; plain links to notes stay links. `unescape` gives `one_line(text)` back.
    """
    line = _BACKSLASH.sub(r"\\\\", one_line(text))
    line = _BRACKETS.sub(
        lambda m: m.group() if m.group().endswith("]]") else "\\" + m.group(), line
    )
    line = _INSIDE.sub(lambda m: "\\" + m.group(), line)
    if _START.match(line):
        return "\\" + line
    return _NUMBER.sub(r"\1\\\2", line, count=1) if _NUMBER.match(line) else line


def unescape(line: str) -> str:
    """Return a line of Markdown with its backslash escapes resolved."""
    return _ESCAPED.sub(r"\1", line)


def safe(text: str) -> str:
    """Return the text as a session stores it: newlines as `\\n`, control characters visible.

    NUL and its kin become control pictures (`␀`), so that no file, database or terminal
    chokes on them; half surrogates, which UTF-8 cannot hold, become `�`.
    """
    return _NEWLINE.sub("\n", text).translate(_VISIBLE)


def yaml_string(text: str) -> str:
    """Return a text as a double-quoted YAML string on one line."""
    quoted = json.dumps(safe(text), ensure_ascii=False)
    return _NOT_YAML.sub(lambda letter: f"\\u{ord(letter[0]):04x}", quoted)
