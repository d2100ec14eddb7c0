"""Plots as SVG: columns and lines over weeks, drawn in the page's own colours. Pure.

Every text is escaped here; colours are classes, so that a page can be light, dark or printed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 520, 240
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 26, 30
"""Margins of the plot's area: for the scale, and for the weeks below it."""
LINES = 5
"""Lines of the scale at most, besides the ground."""
STEPS = (1, 2, 2.5, 5, 10)
"""Times a power of ten: what the lines of a scale are apart."""
LABELS = 8
"""Weeks that are named at most: more would run into each other."""
COLUMN, SLIM = 0.68, 0.36
"""How much of its week a column takes, and one that stands before another."""
WIDEST = 64
CHARACTER = 6.2
"""What a letter of the scale takes."""
ROOM = 30
"""Below so much room a column has no number above it."""


@dataclass(frozen=True, slots=True)
class Series:
    """Values over the weeks; None where there is nothing to tell."""

    name: str
    colour: str
    """A class of the page."""
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Plot:
    """What a plot shows."""

    name: str
    """Its id on the page: letters."""
    title: str
    about: str
    """What it shows, for somebody who does not see it."""
    weeks: Sequence[str]
    series: Sequence[Series]
    unit: Callable[[float], str]
    """Says a value in words."""
    most: float | None = None
    """The top of the scale; else the largest value."""
    whole: bool = False
    """Whether its values count something: no line of the scale is between two numbers."""


def stacked(plot: Plot) -> str:
    """Return columns that stand on top of each other."""
    sums = [sum(one.values[at] or 0 for one in plot.series) for at in range(len(plot.weeks))]
    top = ceiling(plot, max(sums, default=0))
    return _svg(plot, top, _stacks(plot, top, sums))


def before(plot: Plot, labels: Sequence[str]) -> str:
    """Return slim columns of the second series before wide ones of the first, labels above."""
    values = [value or 0 for one in plot.series for value in one.values]
    top = ceiling(plot, max(values, default=0))
    return _svg(plot, top, _pairs(plot, top, labels))


def lines(plot: Plot) -> str:
    """Return lines with a mark for each value; where there is none, the line has a gap."""
    values = [value or 0 for one in plot.series for value in one.values]
    top = ceiling(plot, max(values, default=0))
    return _svg(plot, top, (_line(plot, top, one, at) for at, one in enumerate(plot.series)))


def legend(series: Sequence[Series], *, marks: bool = False) -> str:
    """Return what each colour means; with the marks of lines, where it is of lines."""
    items = []
    for at, one in enumerate(series):
        shape = _mark(at, 7, 7) if marks else '<rect x="1" y="1" width="12" height="12" rx="2"/>'
        swatch = f'<svg class="{one.colour}" viewBox="0 0 14 14" aria-hidden="true">{shape}</svg>'
        items.append(f"<li>{swatch}{escape(one.name)}</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def step_of(plot: Plot, most: float) -> float:
    """Return what the lines of a scale are apart, so that few reach its largest value."""
    least = (plot.most or most or 1.0) / LINES
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * one for one in STEPS if power * one >= least * 0.999)
    return max(1.0, float(math.ceil(step))) if plot.whole else step


def ceiling(plot: Plot, most: float) -> float:
    """Return the top of a scale: the first of its lines that no value is above."""
    step = step_of(plot, most)
    return step * max(1, math.ceil((plot.most or most) / step - 1e-9))


def _svg(plot: Plot, top: float, drawn: Iterator[str]) -> str:
    title, about = f"{plot.name}-title", f"{plot.name}-about"
    return (
        f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="{title} {about}">'
        f'<title id="{title}">{escape(plot.title)}</title>'
        f'<desc id="{about}">{escape(plot.about)}</desc>'
        f"{''.join(_scale(plot, top))}{''.join(drawn)}{''.join(_names(plot))}</svg>"
    )


def _scale(plot: Plot, top: float) -> Iterator[str]:
    """Yield the lines across and what they stand for."""
    step = step_of(plot, top)
    for at in range(round(top / step) + 1):
        value = step * at
        y = _y(value, top)
        kind = "ground" if at == 0 else "grid"
        yield f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        said = escape(plot.unit(value))
        yield f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{said}</text>'


def _names(plot: Plot) -> Iterator[str]:
    """Yield the weeks below the ground, so many as have room; the last one always."""
    count = len(plot.weeks)
    every = max(1, math.ceil(count / LABELS))
    for at, week in enumerate(plot.weeks):
        if (count - 1 - at) % every == 0:
            yield _text(_middle(at, count), HEIGHT - BOTTOM + 18, week, "tick")


def _stacks(plot: Plot, top: float, sums: Sequence[float]) -> Iterator[str]:
    count = len(plot.weeks)
    width = min(WIDEST, _step(count) * COLUMN)
    for at, week in enumerate(plot.weeks):
        x, base, told = _middle(at, count), 0.0, []
        drawn = ""
        for one in plot.series:
            value = one.values[at] or 0
            if value:
                drawn += _column(x, width, (base, base + value), top, one.colour)
                told.append(f"{one.name} {plot.unit(value)}")
                base += value
        yield f"<g><title>{escape(f'{week}: ' + (', '.join(told) or 'nothing'))}</title>{drawn}</g>"
        if sums[at] and width >= ROOM / 2:
            yield _text(x, _y(sums[at], top) - 6, plot.unit(sums[at]), "value")


def _pairs(plot: Plot, top: float, labels: Sequence[str]) -> Iterator[str]:
    count, (wide, slim) = len(plot.weeks), plot.series
    width = min(WIDEST, _step(count) * COLUMN)
    for at, week in enumerate(plot.weeks):
        x, values = _middle(at, count), (wide.values[at] or 0, slim.values[at] or 0)
        told = f"{week}: {plot.unit(values[1])} {slim.name}, {plot.unit(values[0])} {wide.name}"
        drawn = _column(x, width, (0, values[0]), top, wide.colour)
        drawn += _column(x, width * SLIM / COLUMN, (0, values[1]), top, slim.colour)
        yield f"<g><title>{escape(told)}</title>{drawn}</g>"
        if any(values) and _step(count) >= ROOM:
            yield _text(x, _y(max(values), top) - 6, labels[at], "value")


def _line(plot: Plot, top: float, one: Series, number: int) -> str:
    count, path, marks, is_on = len(plot.weeks), "", "", False
    for at, value in enumerate(one.values):
        if value is None:
            is_on = False
            continue
        x, y = _middle(at, count), _y(value, top)
        path += f"{'L' if is_on else 'M'}{x:.1f} {y:.1f}"
        is_on = True
        told = escape(f"{plot.weeks[at]}: {one.name} {plot.unit(value)}")
        marks += f"<g><title>{told}</title>{_mark(number, x, y)}</g>"
    drawn = f'<path class="line" d="{path}"/>' if path else ""
    return f'<g class="{one.colour}">{drawn}{marks}</g>'


def _mark(number: int, x: float, y: float) -> str:
    """Return a mark: each series has its own shape, so that colour alone tells nothing."""
    if number % 3 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>'
    side = 8.0
    turn = f' transform="rotate(45 {x:.1f} {y:.1f})"' if number % 3 == 2 else ""  # noqa: PLR2004
    at = f'x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" width="{side}" height="{side}"'
    return f"<rect {at}{turn}/>"


def _column(x: float, width: float, between: tuple[float, float], top: float, colour: str) -> str:
    low, high = _y(between[0], top), _y(between[1], top)
    place = f'x="{x - width / 2:.1f}" y="{high:.1f}" width="{width:.1f}"'
    return f'<rect class="{colour}" {place} height="{max(0.0, low - high):.1f}"/>'


def _text(x: float, y: float, words: str, kind: str) -> str:
    """Return words around a place, moved so far that none is cut off."""
    half = len(words) * CHARACTER / 2
    x = min(max(x, half), WIDTH - half)
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(words)}</text>'
    )


def _y(value: float, top: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(1.0, value / top))


def _step(count: int) -> float:
    return (WIDTH - LEFT - RIGHT) / max(1, count)


def _middle(at: int, count: int) -> float:
    return LEFT + _step(count) * (at + 0.5)
