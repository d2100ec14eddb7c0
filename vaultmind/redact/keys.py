"""Private keys: a key reaches over many lines, and a piece of one names itself nowhere.

So it is blanked in a whole text before that is cut. Where only a piece is there, lines of pure
base64 as wide as those of keys are taken for one; certificates and public keys are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vaultmind.redact.marks import KEY, blanked

Span = tuple[int, int]

_BEGIN = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d:[^\r\n]*"
)
_END = re.compile(
    r"-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|Private-(?:MAC|Hash): *[0-9a-f]+"
)
_RUN = re.compile(r"[A-Za-z0-9+/]{24,}")
_ROUND = " \t\r\"'`,;>#*|()\\"
"""What stands around a key's lines where it is quoted, indented, or put together in code."""
_BODY = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]+={1,2}")
_HEADER = re.compile(
    r"(?:Proc-Type|DEK-Info|Version|Comment|Encryption|Hash|Charset|Public-Lines|Private-Lines"
    r"|Key-Derivation|Argon2-[A-Za-z]+): .*"
)
_WIDTHS = (64, 70)
"""Of a line in PEM and PGP, and in OpenSSH; base64 of other things is 76 wide."""
_WIDE = re.compile(r"\n[ \t>\"'`#*|/]{0,40}[A-Za-z0-9+/]{64}")
"""Without it no key's inner lines are there: asked of every text."""
LEAST_LINES = 3
_PUBLIC = re.compile(r"-----(?:BEGIN|END) (?!(?:[A-Z0-9]+ )*PRIVATE KEY)")
_LOOK_BACK = 4
"""Lines above a body in which its beginning is looked for: PGP has headers between."""


def blank_keys(text: str) -> str:
    """Return the text with private keys blanked: every offset and line stays as it was."""
    done: list[str] = []
    at = 0
    for start, stop in _merged([*_named(text), *_bodies(text)]):
        done += [text[at:start], blanked(text[start:stop], KEY)]
        at = stop
    return "".join([*done, text[at:]]) if done else text


def take_bodies(text: str) -> str:
    """Return the text with inner lines of a private key, without beginning or end, as a mark."""
    done: list[str] = []
    at = 0
    for start, stop in _bodies(text):
        done += [text[at:start], f"‹{KEY}›"]
        at = stop
    return "".join([*done, text[at:]]) if done else text


def _named(text: str) -> list[Span]:
    """Return where keys stand that have their beginning or their end."""
    if "PRIVATE KEY" not in text and "PuTTY-User-Key" not in text:
        return []
    found: list[Span] = []
    marks = sorted(
        [(one.start(), one.end(), True) for one in _BEGIN.finditer(text)]
        + [(one.start(), one.end(), False) for one in _END.finditer(text)]
    )
    for number, (start, stop, begins) in enumerate(marks):
        after = marks[number + 1] if number + 1 < len(marks) else None
        closed = after is not None and not after[2]
        if begins and after is not None and closed:
            if any(map(_is_mixed, _RUN.findall(text, stop, after[0]))):
                found.append((start, after[1]))
        elif begins:
            below = _below(text, stop)
            found += [(start, below)] if below > stop else []
        elif not number or not marks[number - 1][2]:
            above = _above(text, start)
            found += [(above, stop)] if above < start else []
    return found


def _below(text: str, at: int) -> int:
    """Return where the lines of a key end that begins before a place and is never closed."""
    end = at
    first = True
    while at < len(text):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        line = text[at:stop]
        if not (first or not line.strip()):
            if not _is_body(line):
                break
            end = stop
        elif first and _is_mixed(line):  # all on one line, as in JSON
            end = stop
        first = False
        at = stop + 1
    return end


def _above(text: str, at: int) -> int:
    """Return where the lines of a key begin that ends at a place and was never opened."""
    begin = stop = text.rfind("\n", 0, at) + 1
    while stop > 0:
        start = text.rfind("\n", 0, stop - 1) + 1
        line = text[start : stop - 1]
        if line.strip() and not _is_body(line):
            break
        begin = start if line.strip() else begin
        stop = start
    return begin if begin < text.rfind("\n", 0, at) + 1 else at


def _is_body(line: str) -> bool:
    bare = _bare(line)
    return not bare or bool(_BODY.fullmatch(bare) or _HEADER.fullmatch(bare))


def _bare(line: str) -> str:
    """Return a line without its quotes, its indentation and its `\\n`."""
    bare = line.replace("\\n", " ").replace("\\r", " ").strip(_ROUND)
    if bare.startswith(("//", "/*")):
        bare = bare[2:].lstrip(_ROUND)
    if bare.endswith(('" +', "' +", '"+', "'+", "` +")):
        bare = bare[:-1].rstrip(_ROUND)
    return bare


def _bodies(text: str) -> list[Span]:
    """Return where several lines stand together that can only be inner lines of a key."""
    if not _WIDE.search(text):
        return []
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found: list[Span] = []
    at = 0
    while at < len(lines):
        stop = at
        while stop < len(lines) and _is_wide(lines[stop]):
            stop += 1
        if stop - at >= LEAST_LINES and not _is_public(lines, at, stop):
            if stop < len(lines) and _BODY.fullmatch(_bare(lines[stop].rstrip("\n"))):
                stop += 1
            end = starts[stop - 1] + len(lines[stop - 1].rstrip("\r\n"))
            found.append((starts[at], end))
        at = stop + 1
    return found


def _is_wide(line: str) -> bool:
    bare = _bare(line.rstrip("\n"))
    return len(bare) in _WIDTHS and _RUN.fullmatch(bare) is not None and _is_mixed(bare)


def _is_public(lines: Sequence[str], at: int, stop: int) -> bool:
    """Tell whether lines of base64 are said to be a certificate, a signature, a public key."""
    near = [*lines[max(at - _LOOK_BACK, 0) : at], *lines[stop : stop + 2]]
    return any(map(_PUBLIC.search, near))


def _is_mixed(text: str) -> bool:
    """Tell whether a text has digits, capitals and small letters: no word has, nor a hash."""
    return (
        any(map(str.isdigit, text)) and any(map(str.isupper, text)) and any(map(str.islower, text))
    )


def _merged(spans: list[Span]) -> list[Span]:
    """Return spans in order, those that touch as one."""
    done: list[Span] = []
    for start, stop in sorted(spans):
        if done and start <= done[-1][1]:
            done[-1] = (done[-1][0], max(stop, done[-1][1]))
        else:
            done.append((start, stop))
    return done
