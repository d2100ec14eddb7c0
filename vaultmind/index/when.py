"""Time in questions and in messages: which stretch of the calendar a piece of text speaks of.

The grammar of when_rules reads six languages; of others, dates in figures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from functools import partial

from vaultmind.errors import BadArgument
from vaultmind.index.when_rules import DAY, LANGUAGES, STEPS, Lexicon, Node, read_words
from vaultmind.index.words import fold

MAX_SPANS = 12
"""Times of one text; a timetable of a hundred days is about none of them."""
_SENTENCE_END = re.compile(r"[.!?\n]\s")
_SENTENCE = 300
_TILL = re.compile(r"\s(?:to|till|until|do|до|по|bis|hasta|à)\s\d")
"""Characters either way in which a time's sentence is looked for."""
WORDS = re.compile(r"[^\W_]+")
MAX_CHARACTERS = 20_000
"""Characters of a text that are read: a longer message is a pasted file."""
OPEN_SCALE = timedelta(days=30)
"""Distance at which a moment outside an open stretch ("since March") is worth one half."""
YEAR = timedelta(days=366)
LATER = timedelta(weeks=52)
"""How much later the same words are read again: a relative date then means another day."""
ALLOWED = "a date such as 2026-02-20, or words of time ('last week', 'w lutym', 'март 2025')"
SMALL = 3
"""Letters of a word in a filter that says no time and is no fault ("z", the article)."""
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_COMES_AGAIN = re.compile(
    r"\b(?:birthdays?|born|bday|anniversary|name ?day|every|each|yearly|annual\w*|"
    r"urodz\w+|imienin\w*|rocznic\w*|co rok\w*|każd\w+|kazd\w+|corocz\w+|"
    r"день рождения|родил\w+|рожден\w+|именин\w*|годовщин\w*|кажд\w+|ежегодн\w+)\b",
    re.IGNORECASE,
)
"""Words beside a date of a day that comes again each year."""
_HOURS = re.compile(r"\b(?:hour|minute|godzin|minut|час|минут)", re.IGNORECASE)
"""Hours are over before anybody reads the fact."""
_NOTED = re.compile(r" \(\d{4}-\d\d(?:-\d\d(?: to \d{4}-\d\d-\d\d)?)?\)")
"""What `with_dates` writes behind a time."""


@dataclass(frozen=True, slots=True)
class Span:
    """What a time expression means: from `start` up to, and without, `end`."""

    start: datetime | None
    """None: it has no beginning ("before Christmas")."""
    end: datetime | None
    """None: it has no end ("since March")."""
    text: str
    """The words that say so, as they stand in the text."""
    explicit: bool
    """Whether nothing was guessed: no year, no weekday's week, no "some", no "late"."""
    at: int = field(default=0, compare=False)
    """Where in the text they begin."""


def spans(
    text: str, language: str, base: datetime, *, told: bool = False, led: bool = False
) -> tuple[Span, ...]:
    """Return the times that a question asks about, in the order of the text.

    `language` is an ISO 639-1 code; empty: the one of LANGUAGES whose words of time it has most.
    `base` is now, where the person is: days begin at its midnight, and the spans have its zone.
    `told`: it is told, not asked; `led`: it is read as if "on" stood first.
    """
    text = text[:MAX_CHARACTERS]
    lexicon, nodes = read_words(text, language)
    nodes = [Node(0, 0, {"at": True}), *nodes] if led and nodes else nodes
    is_ahead = partial(_is_ahead, lexicon, text, told)
    for rules in STEPS if nodes else ():
        nodes = rules.apply(nodes, base.date(), is_ahead)
    found = [_span(nodes, at, text, base) for at, node in enumerate(nodes) if "time" in node.kinds]
    return tuple(dict.fromkeys(found))[:MAX_SPANS]


def _is_ahead(lexicon: Lexicon, text: str, told: bool, start: int, end: int) -> bool:
    """Tell whether a time without a year or a week is one to come.

    People ask about what was. In a message it is said by the sentence: "I will", "I moved".
    One that says neither ("the deadline is 12 May") is of what is to come.
    """
    first = max(0, start - _SENTENCE)
    before = max((one.end() for one in _SENTENCE_END.finditer(text, first, start)), default=first)
    stop = _SENTENCE_END.search(text, end, end + _SENTENCE)
    sentence = text[before : stop.start() if stop else end + _SENTENCE].lower()
    is_future = lexicon.future.search(fold(sentence)) is not None
    lead = fold(text[first:start]).split()
    till = _TILL.search(text, start, end + 8)  # "from 2 to 5 May" is no "since"
    if lead and "since" in lexicon.kinds(lead[-1]) and not till:
        return is_future and lead[-1] != "since"
    return is_future or (told and not lexicon.past.search(sentence))


def _span(nodes: list[Node], at: int, text: str, base: datetime) -> Span:
    """Return what the time of a node means, and its words with the "in" before them."""
    node, before = nodes[at], nodes[max(0, at - 1)]
    first = before if "at" in before.kinds else node
    stretch = node.kinds["time"]
    start, end = (
        day and datetime.combine(day, time(), base.tzinfo) for day in (stretch.start, stretch.end)
    )
    return Span(start, end, text[first.start : node.end], stretch.sure, first.start)


# --- what a question, a message or a filter means ------------------------------------------


def mentioned(text: str, language: str, said: datetime) -> tuple[Span, ...]:
    """Return the times that a message speaks of, seen from the day it was said on.

    Code and addresses are not looked at.
    """
    blanked = _CODE.sub(lambda match: " " * len(match[0]), text[:MAX_CHARACTERS])
    return spans(blanked, language, said, told=True)


def closeness(span: Span, moment: datetime) -> float:
    """Return how near a moment is to a span, in (0, 1]: 1 inside it, half for each scale outside.

    The scale is half of the span's length, a day at least: what is a week away from "in 2023" is
    near, what is a week away from "yesterday" is not.
    """
    start, end, none = span.start, span.end, timedelta(0)
    scale = max(DAY, (end - start) / 2) if start and end else OPEN_SCALE
    away = max(none, start - moment if start else none, moment - end if end else none)
    return float(0.5 ** min(1000.0, away / scale))


def with_dates(text: str, said: datetime) -> str:
    """Return a text with what each relative date in it means: "tomorrow (2026-11-24)".

    Only where it is certain: dates that say their year and those that come again ("I row on
    Tuesday", "on Fridays", "my birthday is 3 May") stay as they are. A day of a month is the one
    that is nearest as the sentence tells it: "the wedding is on 21 June (2026-06-21)".
    """
    comes_again = _COMES_AGAIN.search(text)
    asked = {one.text: one for one in spans(text, "", said)}
    later = mentioned(text, "", said + LATER)
    done, shown = 0, ""
    for told, then in zip(mentioned(text, "", said), later, strict=False):
        end = told.at + len(told.text)
        shown, done = shown + text[done:end], end
        is_title = told.at and told.explicit and told.text[0].isupper()  # the film Yesterday
        is_day = any(map(str.isdigit, told.text))
        is_near = is_day and told.start and abs(told.start - said) < YEAR
        is_certain = told != then and (is_near or asked.get(told.text, told) == told)
        is_noted = text[end:].lstrip().startswith("(")
        stays = is_title or is_noted or (is_day and comes_again) or _HOURS.search(told.text)
        if is_certain and not stays:
            shown += _days_of(told)
    return shown + text[done:]


def _days_of(span: Span) -> str:
    """Return the days that a span means, or the end that it names where it is open."""
    first, last = span.start or span.end, span.end or span.start
    if first is None or last is None or (last - first > 7 * DAY and not span.explicit):
        return ""
    if span.end is None and first.day == 1 and not any(map(str.isdigit, span.text)):
        return f" ({first:%Y-%m})"  # "since October"
    start = first if span.start else first - DAY
    end = last - DAY if span.start and span.end else start
    days = dict.fromkeys(one.date().isoformat() for one in (start, end))
    return f" ({' to '.join(days)})"


def undated(text: str) -> str:
    """Return a text as it was before `with_dates`."""
    return _NOTED.sub("", text)


def redated(text: str, old: str) -> str:
    """Return a corrected text with the dates of those times that the old one had in these words."""
    for told in mentioned(old, "", datetime(2026, 1, 1)):
        words, noted = re.escape(told.text), _NOTED.match(old, told.at + len(told.text))
        text = re.sub(rf"(?<!\w){words}(?!\w)", rf"\g<0>{noted[0]}", text) if noted else text
    return text


def first_day(name: str, text: str, now: datetime) -> str:
    """Return the day that a filter "after" begins with, as ISO: the first of what is meant.

    Raises BadArgument for what is no time, or has no beginning ("before Christmas").
    """
    return _day(name, text, _filter(name, text, now).start, "a beginning")


def last_day(name: str, text: str, now: datetime) -> str:
    """Return the day that a filter "before" ends with, as ISO: the last of what is meant.

    Raises BadArgument for what is no time, or has no end ("since March").
    """
    end = _filter(name, text, now).end
    return _day(name, text, end and end - timedelta(microseconds=1), "an end")


def _day(name: str, text: str, moment: datetime | None, edge: str) -> str:
    if moment is None:
        raise BadArgument(name, text, f"a time with {edge}; {ALLOWED}")
    return moment.date().isoformat()


def _filter(name: str, text: str, now: datetime) -> Span:
    """Return the one time that a filter says, and nothing else."""
    said = WORDS.findall(text.casefold())
    for language in ("", *LANGUAGES):
        found = spans(text, language, now, led=True)
        own = {word for one in found for word in WORDS.findall(one.text.casefold())}
        if len(found) == 1 and all(len(word) <= SMALL or word in own for word in said):
            return found[0]
    raise BadArgument(name, text, ALLOWED)


# --- the time that a question names --------------------------------------------------------

MARGIN = timedelta(days=2)
"""How far from the time that is named a chunk still counts as of it: who tells of a day mostly does
so a little later."""
NOON = timedelta(hours=12)
"""A day without an hour stands at its middle, so that the day after is not the moment after."""


@dataclass(frozen=True, slots=True)
class NamedTime:
    """The times that a query names."""

    spans: tuple[Span, ...]
    now: datetime

    def near(self, time: str) -> float:
        """Return how near the time of a chunk is (ISO, or empty)."""
        try:
            moment = datetime.fromisoformat(time)
        except ValueError:
            return 0.0
        if len(time) == len("2026-02-08"):
            moment += NOON
        moment = moment.replace(tzinfo=self.now.tzinfo)  # the day it was there, as filters have it
        return max(closeness(span, moment) for span in self.spans)

    @property
    def explicit(self) -> bool:
        """Tell whether nothing about them was guessed: then they may filter."""
        return all(span.explicit for span in self.spans)

    @property
    def inside(self) -> float:
        """Return how near a chunk must be to count as of that time."""
        edges = [(span, span.end, MARGIN) for span in self.spans if span.end]
        edges += [(span, span.start, -MARGIN) for span in self.spans if span.start]
        return min(closeness(span, edge + margin) for span, edge, margin in edges)

    @property
    def words(self) -> frozenset[str]:
        """Return the words, folded, that name them: they say when, not what."""
        return frozenset(word for span in self.spans for word in fold(span.text).split())

    @property
    def days(self) -> tuple[str, str]:
        """Return the first and the last day of all of them, ISO; both empty where one is open."""
        starts = [span.start for span in self.spans if span.start]
        ends = [span.end for span in self.spans if span.end]
        if len(starts) < len(self.spans) or len(ends) < len(self.spans):
            return "", ""
        last = max(ends) - timedelta(microseconds=1)
        return min(starts).date().isoformat(), last.date().isoformat()


def named_time(query: str, language: str, now: datetime) -> NamedTime | None:
    """Return the times of a query; None where it names none. `now`: what they are counted from."""
    found = spans(query, language, now)
    return NamedTime(found, now) if found else None
