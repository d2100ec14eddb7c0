"""The time that a query names, and how near to it a chunk is: by its own time and by its words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache

from vaultmind.index.when import Span, closeness, mentioned, spans
from vaultmind.index.words.terms import fold

MARGIN = timedelta(days=2)
"""How far from the time that is named a chunk still counts as of it: who tells of a day mostly does
so a little later."""
NOON = timedelta(hours=12)
"""A day without an hour stands at its middle, so that the day after is not the moment after."""
MAX_LETTERS = 400
"""Of a text, in which times are looked for."""

Near = Callable[[str, str, str], float]
"""How near a chunk is to the time: from its own time (ISO, or empty), its text, its language."""


@dataclass(frozen=True, slots=True)
class Named:
    """The times that a query names."""

    spans: tuple[Span, ...]
    near: Near = field(compare=False)

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


_ASKING = """talk talked talking speak spoke spoken say said tell told happen happened happening do
    did done doing go going went been discuss discussed discussing mention mentioned anything
    something everything conversation conversations chat chats session sessions day new news going
    write wrote written writing note notes noted
    rozmawiać rozmawiałem rozmawiałam rozmawialiśmy rozmawiałyśmy mówić mówiłem mówiłam mówiliśmy
    robić robiłem robiłam robiliśmy robiłyśmy zrobiłem zrobiłam zrobiliśmy działo dzieje wydarzyło
    stało było była były coś rozmowa rozmowy nowego pisać pisałem pisałam napisałem napisałam
    zapisałem zapisałam zanotowałem zanotowałam notatka notatki notatek zapiski
    говорить говорил говорила говорили делать делал делала делали сделал сделала сделали обсуждали
    обсуждать было была были произошло происходило случилось разговор разговоры нового
    писать писал писала написал написала записал записала заметка заметки заметок записи
    gemacht gesprochen geredet passiert geschehen getan besprochen war los neues
    geschrieben schrieb notiert notizen
    hice hicimos hablamos hablé pasó pasado dijimos hecho nuevo
    escribí escribimos escrito anoté notas
    fait parlé passé dit discuté quoi nouveau
    écrit noté notes"""
ASKING = frozenset(fold(word) for word in _ASKING.split())
"""Words, folded, that ask what there was and say nothing of what about."""


def named(query: str, language: str, now: datetime) -> Named | None:
    """Return the times of a query; None where it names none. `now`: what they are counted from."""
    found = spans(query, language, now)
    return Named(found, _near(found, now)) if found else None


def _near(found: tuple[Span, ...], now: datetime) -> Near:
    @cache
    def own(time: str) -> float:
        moment = _moment(time, now)
        return max(closeness(span, moment) for span in found) if moment else 0.0

    def near(time: str, text: str, language: str) -> float:
        best = own(time)
        if best == 1.0:
            return best
        said = _moment(time, now)
        told = mentioned(text[:MAX_LETTERS], language, said or now)
        return max([best, *(_overlap(span, one) for span in found for one in told
                            if said or one.explicit)])  # fmt: skip

    return near


def _overlap(span: Span, told: Span) -> float:
    """Return how near a time that a text tells of is to the one that is asked for."""
    if told.start is None:
        return closeness(span, told.end) if told.end else 0.0
    half = (told.end - told.start) / 2 if told.end else NOON
    return closeness(span, told.start + min(NOON, half))


def _moment(time: str, now: datetime) -> datetime | None:
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    if len(time) == len("2026-02-08"):
        moment += NOON
    return moment.replace(tzinfo=now.tzinfo)  # the day it was where it was said, as filters have it
