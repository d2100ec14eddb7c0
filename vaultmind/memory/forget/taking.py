r"""Taking what says a thing out of files, a kind of record each. Pure: from text to text.

A kind of record that comes later adds one line where the gate is made:
`erasables=(*ERASABLES, Erasable("plans", r"agents/.*/plans/.*\.md", without_sentences))`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from vaultmind.errors import BadArgument
from vaultmind.language.text import sentences
from vaultmind.language.words import NEGATIONS, SOFT, Word, bare, content, fold, tokens
from vaultmind.memory.audit import ERASED
from vaultmind.memory.brain import parse_brain, remove_fact
from vaultmind.memory.forget.hiding import without_sources
from vaultmind.memory.match import is_specific, numbers, says
from vaultmind.vault.files import TEMP_PREFIX, line_span
from vaultmind.vault.parts import BLOCK_AT_END, MARKER, Part, parts, plain
from vaultmind.vault.paths import SESSION_ID
from vaultmind.vault.properties import front_matter, set_property
from vaultmind.vault.transcript import ERASED_SOURCE, erased_line, parse_session, render_message

WHOLE = 8
"""Letters from which words are found inside longer ones, too: in compounds and addresses."""
_BEGINNING = 3
"""Letters that all forms of one word begin with."""
_NO_SPACES = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_OTHER_SCRIPT = re.compile("[\u0530-\u1cff\u2c00-\ud7ff\uf900-\uffef\U00010000-\U0010ffff]")
"""Letters other than Latin, Greek and Cyrillic ones: how these make words is not known here."""
_WORDS = re.compile(r"[^\W_]+")

Span = tuple[int, int]
_NAMES = ("agent", "caller", "client", "path", "evidence", "hidden", "shown", "role", "time")
"""Keys of what is no text."""
_NAMED_BELOW = r"(?:[ \t]*\r?\n)*[ \t]*\^{}[ \t]*(?:\r?\n|$)"


# --- what is wanted ----------------------------------------------------------------------
# The words as typed are always found, in any case, with or without diacritics, in any inflected
# form; and, where they say enough to be told from others, the same said in another order. A text
# that merely shares a word with them is left.


class Wanted:
    """Words to be erased, and messages that are meant whatever they say."""

    def __init__(
        self, texts: Iterable[str], refs: Iterable[tuple[str, str, str]] = (), today: str = ""
    ) -> None:
        """Take `refs` as (path without `.md`, block, own id); `today` as an ISO date."""
        plain = (" ".join(bare(text).split()) for text in texts)
        self.texts = tuple(dict.fromkeys(filter(None, plain)))
        self.refs, self.today = dict[str, set[str]](), today
        for path, *names in refs:
            self.refs.setdefault(path, set()).update(filter(None, names))
        self._wordings = tuple(map(_Wording, self.texts))

    def says(self, text: str) -> bool:
        """Tell whether a text says what is to be erased."""
        return any(one.said_in(text) for one in self._near(text))

    def may_be_in(self, text: str) -> bool:
        """Tell quickly whether a text could say it: no text that does is left out."""
        return next(self._near(text), None) is not None

    def _near(self, text: str) -> Iterator[_Wording]:
        begins = _beginnings(folded := fold(text))
        return (one for one in self._wordings if one.may_be_in(text, folded, begins))

    def means(self, path: str, *names: str) -> bool:
        """Tell whether a message or part is meant by its place: a fact came from it."""
        return not self.refs.get(path.removesuffix(".md"), set()).isdisjoint(names)

    def spans(self, text: str) -> tuple[Span, ...]:
        """Return the spans of the sentences that say it; all of the text where none does alone.

        Two neighbours that say it only together both count.
        """
        found = sentence_spans(text)
        told = [" ".join(text[start:end].split()) for start, end in found]
        chosen = [self.says(one) for one in told]
        for at in range(len(told) - 1):
            if not any(chosen[at : at + 2]) and self.says(f"{told[at]} {told[at + 1]}"):
                chosen[at] = chosen[at + 1] = True
        spans = tuple(span for span, taken in zip(found, chosen, strict=True) if taken)
        return spans or ((0, len(text)),)


def sentence_spans(text: str) -> list[Span]:
    """Return where the sentences of a text stand, as an erasure takes them out."""
    return [(one.start, one.end) for one in sentences(text.replace("\n", " "))]


class _Wording:
    """One way to say it."""

    def __init__(self, text: str) -> None:
        self._text, self._folded = text, " ".join(fold(text).split())
        self._phrase = spoken(text)
        self._anywhere = len(self._folded) >= WHOLE or bool(_NO_SPACES.search(text))
        words = [word.folded for word in content(text)]
        hard = [word for word in words if word not in SOFT | NEGATIONS] or words
        self._begins = {part[:_BEGINNING] for word in hard for part in _WORDS.findall(word)}
        self._any_text = not self._begins or bool(_OTHER_SCRIPT.search(text))
        """Whether nothing can be told from single words."""

    def may_be_in(self, text: str, folded: str, begins: set[str]) -> bool:
        if self._any_text or self._begins <= begins or self._folded in folded:
            return bool(text)
        return bool(numbers(self._text) & numbers(text))

    def said_in(self, text: str) -> bool:
        if self._anywhere and self._folded in " ".join(fold(text).split()):
            return True
        words, size = spoken(text), len(self._phrase)
        in_a_row = (words[at : at + size] for at in range(len(words) - size + 1 if size else 0))
        return any(
            all(one.same(other) for one, other in zip(self._phrase, row, strict=True))
            for row in in_a_row
        ) or (is_specific(self._text) and says(text, self._text))


def spoken(text: str) -> list[Word]:
    """Return the words of a text in order; its symbols where there is nothing else."""
    known = {word.folded: word for word in content(text)}
    folded = [fold(token) for token in tokens(text)]
    words = [one for one in folded if any(map(str.isalnum, one))] or folded
    return [known.get(one, Word(one, frozenset())) for one in words]


def _beginnings(folded: str) -> set[str]:
    return {word[:_BEGINNING] for word in _WORDS.findall(folded)}


Without = Callable[[str, str, Wanted], str]
"""Returns a file's text without what says what is wanted; takes the text, and its path."""


@dataclass(frozen=True, slots=True)
class Erasable:
    """A kind of record."""

    name: str
    """What it is called in a preview, in the plural: `messages`."""
    files: str
    """A pattern of its files' paths, relative to the memory folder; the first kind that fits has
    a file."""
    without: Without
    last: bool = False
    """Whether it goes after all others: what they are found by stays until they are gone."""


# --- any Markdown -------------------------------------------------------------------------


def without_sentences(text: str, path: str, wanted: Wanted) -> str:
    """Return a summary, or any Markdown, without the sentences that say it.

    A paragraph or an item of which nothing is left goes whole, with its block id, and so does
    one that was hidden for it.
    """
    text = without_properties(text, wanted)
    limit = len(text)
    for part in reversed(parts(text)):
        end, meant = part.start + len(part.text), wanted.means(path, part.block)
        if end <= limit and (meant or wanted.says(part.text)):
            limit = part.start
            left = "" if meant else _cut(part.text, wanted)
            text = text[: part.start] + left + text[end:] if left else _without_part(text, part)
    return without_lines(text, wanted)


def without_lines(text: str, wanted: Wanted, seen: str = "") -> str:
    """Return a text without lines that say it; `seen` has other lines in the place of some."""
    pairs = zip(text.split("\n"), (seen or text).split("\n"), strict=True)
    return "\n".join(line for line, shown in pairs if not wanted.says(shown))


def without_properties(text: str, wanted: Wanted) -> str:
    """Return a text whose front matter does not say it: items of lists go, or the property."""
    found = front_matter(text)
    if found is None or found.fault:  # broken front matter: its lines go one by one
        return text
    for key, value in found.properties.items():
        if wanted.says(_said(value)):
            items = value if isinstance(value, list) else []
            kept = [str(one) for one in items if not wanted.says(_said(one))]
            left = [] if wanted.says(_said(kept)) else kept
            none = ERASED_SOURCE if key == "source" else None
            with suppress(BadArgument):  # a name that cannot be written
                text = set_property(text, key, left if isinstance(value, list) else none)
    return text


def _said(value: object) -> str:
    """Return what a property says, on one line."""
    if isinstance(value, str):
        return value
    return re.sub(r"\\[nrt]", " ", json.dumps(value, ensure_ascii=False, default=str))


def _cut(body: str, wanted: Wanted) -> str:
    """Return a part without the sentences that say it; empty if little stays."""
    if body[:1] in (">", "|"):
        left = without_lines(body, wanted)
    else:
        mark, named = MARKER.match(body), BLOCK_AT_END.search(body)
        head, tail = mark.end() if mark else 0, named.start() if named else len(body)
        said = body[head:tail]
        for start, end in reversed(wanted.spans(said)):
            after = said[end:].lstrip()
            said = said[:start] + after if after else said[:start].rstrip()
        left = body[:head] + said + body[tail:]
    shown = without_sources(plain(MARKER.sub("", left, count=1))[0])
    return left if not wanted.says(left) and any(map(str.isalnum, shown)) else ""


def _without_part(text: str, part: Part) -> str:
    """Return the text without a part's lines, its block id below it, and a second blank line."""
    first, stop = line_span(text, part.start, part.start + len(part.text))
    if part.block:
        below = re.compile(_NAMED_BELOW.format(re.escape(part.block))).match(text, stop)
        stop = below.end() if below else stop
    rest = text[stop:]
    if text[:first].endswith(("\n\n", "\n\r\n")):
        rest = re.sub(r"\A\r?\n", "", rest, count=1)
    return text[:first] + rest


# --- kinds of record ----------------------------------------------------------------------


def without_messages(text: str, path: str, wanted: Wanted) -> str:
    """Return a session with a marker in the place of the words of each message that says it.

    The callout with its title, comment and block id stays, all else to the byte; the speaker's
    name goes where it is what is wanted. So do topics, and lines that are no message.
    """
    text = without_properties(text, wanted)
    for placed in reversed(parse_session(text).messages):
        one = placed.message
        if one.text and (wanted.means(path, one.block, one.id) or wanted.says(one.text)):
            marker = erased_line(wanted.today)
            text = text[: placed.text_start] + marker + text[placed.text_end :]
        if one.speaker and wanted.says(one.speaker):
            title = render_message(replace(one, speaker="")).partition("\n")[0]
            text = text[: placed.start] + title + text[text.find("\n", placed.start) :]
    seen = text
    for placed in reversed(parse_session(text).messages):
        lines = "\n" * text.count("\n", placed.start, placed.end)
        seen = seen[: placed.start] + lines + seen[placed.end :]
    return without_lines(text, wanted, seen)


def without_bullets(text: str, path: str, wanted: Wanted) -> str:
    """Return a brain, or Suggestions.md, without each item that says it, and the lines under it."""
    for one in reversed(parse_brain(text).facts):
        if wanted.says(f"{text[one.start : one.end]}\n{one.fact.text}\n{one.fact.quote}"):
            now = next(it for it in parse_brain(text).facts if it.start == one.start)
            text = remove_fact(text, now)
    return without_sentences(text, path, wanted)


def without_values(text: str, path: str, wanted: Wanted) -> str:
    """Return JSON Lines with a marker for each text in them that says it; names stay."""

    def marked(value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, list):
            return [marked(one) for one in value]
        if isinstance(value, dict):
            return {key: one if key in _NAMES else marked(one) for key, one in value.items()}
        is_said = isinstance(value, str) and wanted.says(value)
        return f"{ERASED}{wanted.today})" if is_said else value

    lines = text.split("\n")
    for number, line in enumerate(lines):
        try:
            value = json.loads(line)
            new = marked(value)
        except (ValueError, RecursionError):
            value, new = line, {"erased": wanted.today} if wanted.says(line) else line
        if new != value:
            lines[number] = json.dumps(new, ensure_ascii=False) + "\r" * line.endswith("\r")
    return "\n".join(lines)


def without_all(text: str, path: str, wanted: Wanted) -> str:
    """Return an empty text for one that says it: it is of no use in part."""
    return "" if wanted.says(text) or any(map(wanted.says, text.splitlines())) else text


_OWN = "agents/[^/]+/memory"
_TEMP = re.escape(TEMP_PREFIX)
ERASABLES: tuple[Erasable, ...] = (
    Erasable("messages", rf"{_OWN}/sessions/{SESSION_ID.pattern}\.md", without_messages),
    Erasable("summaries", rf"{_OWN}/(summaries/.*|active_context)\.md", without_sentences),
    Erasable("scheduler runs", r"conversations/.*\.jsonl", without_values),
    Erasable("suggestions", r"(Suggestions|Overview).*\.md", without_bullets),
    Erasable("audit texts", rf"{_OWN}/audit-.*\.jsonl", without_values, last=True),
    Erasable("facts", rf"{_OWN}/brain(_archive)?\.md", without_bullets, last=True),
)
OTHERS = (
    Erasable("leftovers", rf"{_OWN}/(.*/)?{_TEMP}[^/]*", without_all),
    Erasable("copies", rf"{_OWN}/.*(\.(md|txt)|\.damaged-.*)", without_sentences),
    Erasable("copies", rf"{_OWN}/(?!(.*/)?tombstones-).*\.jsonl", without_values),
)
"""What no other kind claims: conflict copies of a sync, files that a person put there, and what
writes that were cut short left behind."""
