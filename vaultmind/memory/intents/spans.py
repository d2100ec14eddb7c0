"""Where a payload begins and ends, and which messages are not a person's own words."""

from __future__ import annotations

import re
from unicodedata import category

from vaultmind.memory.intents.text import MASK

Span = tuple[int, int]

MAX_LINES = 3
MAX_LETTERS = 700
"""A message with more is read as a paste: only its first sentence can be a command."""
_TRIM_START = " \t\r\n,.;:!?-*(•"
_TRIM_END = " \t\r\n,.;:!?-(•"
_PASTE = re.compile(
    r"^(?:from|to|subject|od|do|temat|data|от|кому|тема|дата|von|an|betreff|de|asunto|objet)\s*:"
    r"|^(?:dear|hi|hello|szanown\w*|drog\w|czesc|witam|witajcie|уважаем\w*|здравствуите|привет|"
    r"hallo|liebe\w?|hola|bonjour|estimad\w+)\b[^\n.!?]{0,40}[,!]\s*\n"
    r"|^(?:best|best regards|kind regards|cheers|pozdrawiam|с уважением|mit freundlichen grussen|"
    r"saludos|cordialement)\b[^\n]{0,20}[,\n]"
    r"|^[^\w\n]{0,40}\d{1,2}:\d\d|^\d{4}-\d\d-\d\d|\b(?:info|warn|error|debug)\b[\s:\]]+\w"
    r"|^#{1,6}\s|^[ \t]{0,80}(?:def|class|import|return|function|const|var|let|if)\b.*[:;({]\s*$",
    re.MULTILINE,
)
_SIGNS = frozenset({"So", "Sk", "Mn", "Cf"})
"""What emoji are made of, with their colours and joiners."""
_FACES = ("\U0001f600", "\U0001f64f")
"""A smile at the end is how a thing is said, and no part of it."""
_SPEAKER = re.compile(r"^[ \t]{0,80}[\w.@ -]{1,24}:\s+\S", re.MULTILINE)


def is_paste(text: str) -> bool:
    """Return whether a folded message looks like a document, an e-mail, a log or a dialogue."""
    lines = [line for line in text.splitlines() if line.strip(f" \t{MASK}")]
    return (
        len(lines) > MAX_LINES
        or len(text) > MAX_LETTERS
        or bool(_PASTE.search(text))
        or (len(lines) > 1 and len(_SPEAKER.findall(text)) > 1)
    )


def trim(text: str, span: Span) -> Span | None:
    """Return the span without the spaces and marks around it; None if nothing is left."""
    start, end = span
    while start < end and text[start] in _TRIM_START:
        start += 1
    while end > start and text[end - 1] in _TRIM_END:
        end -= 1
    if end > start and text[end - 1] == ")" and "(" not in text[start:end]:
        end -= 1
    return (start, end) if end > start else None


def with_signs(text: str, end: int, limit: int) -> int:
    """Return where a payload ends with the emoji after it, if nothing else follows them.

    Faces are left out.
    """
    rest = text[end:limit].rstrip()
    if any(_FACES[0] <= sign <= _FACES[1] for sign in rest):
        return end
    signs = all(sign == " " or category(sign) in _SIGNS for sign in rest)
    return end + len(rest) if signs and any(category(sign) == "So" for sign in rest) else end
