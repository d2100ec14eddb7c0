"""What reaches over lines: passages marked `<private>…</private>`, and private keys.

Both are blanked in a whole text before it is cut, since a piece does not say what it is of. In
doubt it is private: a tag that is never closed reaches to the end of the text, and one that was
never opened reaches back to its start. Of a key, three lines of base64 as wide as those of keys
are enough; certificates and public keys are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from vaultmind.redact.spans import KEY, PRIVATE, Span, blank, merge, replace

_TAG = re.compile(
    r"(?:<|&lt;)\s*(?P<close>/)?\s*private(?(close)\s*|(?:\s[^<>]*)?)(?:>|&gt;)", re.IGNORECASE
)
_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-")
_END = re.compile(r"-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|Private-(?:MAC|Hash): \w+")
_PUBLIC = re.compile(r"-----(?:BEGIN|END) (?!(?:[A-Z0-9]+ )*PRIVATE KEY)")
_RUN = re.compile(r"[A-Za-z0-9+/]{8,}")
_BODY = re.compile(r"(?:[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]+={1,2}|[A-Z][\w-]+: .*)?")
_AROUND = " \t\r\n\"'`,;>#*|()\\/+"
"""What stands around a key's lines where it is quoted, indented, or put together in code."""
_WIDTHS = (64, 70)
"""Of a line in PEM and PGP, and in OpenSSH; base64 of other things is 76 wide."""
_WIDE = re.compile(r"\n[ \t>\"'`#*|/]{0,40}[A-Za-z0-9+/]{64}")
"""Without it no key's inner lines are there: asked of every text."""
MIN_LINES = 3


def private_spans(text: str) -> list[Span]:
    """Return where private passages stand, tags included. Passages within one are part of it."""
    found: list[Span] = []
    start, depth = 0, 0
    is_likely = ("<" in text or "&lt;" in text) and "private" in text.lower()
    for tag in _TAG.finditer(text) if is_likely else ():
        if not tag["close"]:
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            found += [] if depth else [(start, tag.end(), PRIVATE)]
        else:
            found = [(0, tag.end(), PRIVATE)]
    return [*found, (start, len(text), PRIVATE)] if depth else found


def passages(text: str) -> list[Span]:
    """Return where private passages and private keys stand, in order."""
    return merge([*private_spans(text), *_keys(text)])


def without_private(text: str) -> str:
    """Return the text without its private passages, and without a mark in their place."""
    return replace(text, private_spans(text), lambda passage, kind: "")


def blank_private(text: str) -> str:
    """Return the text with each private passage blanked: every offset and line stays as it was."""
    return replace(text, private_spans(text), blank)


def blank_passages(text: str) -> str:
    """Return the text with private passages and private keys blanked, as `blank_private` does."""
    return replace(text, passages(text), blank)


def _keys(text: str) -> Iterator[Span]:
    """Yield where private keys stand; some places twice."""
    if not ("PRIVATE KEY" in text or "PuTTY-User-Key" in text or _WIDE.search(text)):
        return
    marks = sorted([*_BEGIN.finditer(text), *_END.finditer(text)], key=re.Match.start)
    for first, last in pairwise(marks):
        if first.re is _BEGIN and last.re is _END and _has_key(text[first.end() : last.start()]):
            yield first.start(), last.end(), KEY
    yield from _key_lines(text)


def _key_lines(text: str) -> Iterator[Span]:
    """Yield lines of a key, below its beginning, above its end, or without both."""
    start = end = at = wide = 0
    is_key = is_public = is_filled = False
    for line in [*text.splitlines(keepends=True), "."]:
        here, at = at, at + len(line)
        opens, closes = _BEGIN.search(line), _END.search(line)
        bare = line.replace("\\n", " ").strip(_AROUND)
        if not (opens or closes) and _BODY.fullmatch(bare):
            if bare:
                start = start if is_filled or is_key else here
                end, is_filled = here + len(line.rstrip("\r\n")), True
                wide += len(bare) in _WIDTHS and _has_key(bare)
            continue
        public_after = bool(_PUBLIC.search(line))
        if is_filled and not (is_public or public_after):
            if closes and not opens:
                yield start, here + closes.end(), KEY
            elif is_key or wide >= MIN_LINES:
                yield start, end, KEY
        is_public, is_key, wide = public_after, opens is not None, 0
        is_filled = opens is not None and _has_key(line[opens.end() :])
        if opens:
            start, end = here + opens.start(), at


def _has_key(text: str) -> bool:
    """Tell whether a run of base64 has digits, capitals and small letters: no word or hash has."""
    return any(
        re.search(r"\d", run) and re.search("[A-Z]", run) and re.search("[a-z]", run)
        for run in _RUN.findall(text)
    )
