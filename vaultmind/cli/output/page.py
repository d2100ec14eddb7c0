"""The gain as one HTML page that needs nothing else: plots, tables, light, dark and on paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from html import escape
from typing import Any

from vaultmind.cli.output.figures import NONE, day, facts, percent, short
from vaultmind.cli.output.pagestyle import STYLE
from vaultmind.cli.output.plots import Plot, Series, before, legend, lines, stacked
from vaultmind.plural import counted

MARK = b'<meta name="generator" content="vaultmind gain">'
"""What a page of ours holds: another file is not overwritten."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Nothing is loaded from anywhere, and no script runs, whatever a name may hold."""
OUTCOMES = {"success": "good", "partial": "part", "failed": "bad", "unknown": "none"}
RATES = {
    "hit_share": ("files used", "one"),
    "first_pass_success_rate": ("all in one plan", "good"),
    "causal_trace_completeness": ("whole chains", "part"),
}
Week = dict[str, Any]


def page_of(answer: dict[str, Any]) -> str:
    """Return the page of a gain, as the operation answers it."""
    total, weeks = answer["total"], answer["weeks"]
    since, until = (date.fromisoformat(answer[key][:10]) for key in ("since", "until"))
    head = f"{counted(total['plans'], 'plan')} in {counted(total['episodes'], 'episode')}"
    body = [
        f"<header><h1>What the memory saved</h1><p>{day(since)} to {day(until)} · {head}</p>"
        "</header>",
        *(f'<p class="note">{escape(note)}</p>' for note in answer["notes"]),
    ]
    if total["episodes"]:
        body += [_tiles(total), f'<div class="plots">{"".join(_plots(weeks))}</div>']
        body += [_sources(answer), _more(total)]
    body.append(_foot(answer))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{MARK.decode()}\n"
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>What the memory saved</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{chr(10).join(body)}\n</main>\n</body>\n</html>\n"
    )


def _tiles(total: dict[str, Any]) -> str:
    """Return the figures that matter most, large."""
    tokens = f"{short(total['offered_tokens'])} offered, {short(total['whole_tokens'])} whole"
    tiles = (
        ("fewer tokens than whole files", percent(total["saved_share"]), tokens),
        ("of the offered files used", percent(total["hit_share"]),
         f"{total['files']:,} files in plans"),
        ("of successes had all in one plan", percent(total["first_pass_success_rate"]), ""),
        ("of episodes tell the whole chain", percent(total["causal_trace_completeness"]), ""),
        ("for half of the plans", _ms(total["plan_context_p50_ms"]),
         f"95 in 100 within {_ms(total['plan_context_p95_ms'])}"),
    )  # fmt: skip
    drawn = (
        f"<div><dt>{escape(words)}</dt><dd>{escape(value)}</dd>"
        f'<dd class="aside">{escape(aside)}</dd></div>'
        for words, value, aside in tiles
    )
    return f'<dl class="tiles">{"".join(drawn)}</dl>'


def _plots(weeks: Sequence[Week]) -> Iterator[str]:
    names = [_week(one["week"]) for one in weeks]
    yield _figure(
        _tokens(names, weeks),
        "What plans offered, before what their files would have taken as a whole.",
        lambda plot: before(plot, [_less(one["figures"]) for one in weeks]),
    )
    yield _figure(
        Plot("rates", "How well it fitted", _about("Shares by week"), names, [
            Series(words, colour, [one["figures"][name] for one in weeks])
            for name, (words, colour) in RATES.items()
        ], percent, most=1.0),
        "Files that were used after a plan offered them, successes whose changes one plan held, "
        "and episodes that tell task, reads, edits and outcome.",
        lines, marks=True,
    )  # fmt: skip
    yield _figure(
        Plot("outcomes", "How episodes came out", _about("Episodes by week and outcome"), names, [
            Series(name, colour, [one["figures"]["outcomes"].get(name, 0) for one in weeks])
            for name, colour in OUTCOMES.items()
        ], lambda value: f"{value:,.0f}", whole=True),
        "An outcome is stated, or unknown.",
        stacked,
    )  # fmt: skip
    yield _figure(
        Plot("times", "What a plan took", _about("Milliseconds by week"), names, [
            Series("half within", "one", [one["figures"]["plan_context_p50_ms"] for one in weeks]),
            Series("95 in 100 within", "bad",
                   [one["figures"]["plan_context_p95_ms"] for one in weeks]),
        ], _ms),
        "Milliseconds from the task to the context.",
        lines, marks=True,
    )  # fmt: skip


def _tokens(names: Sequence[str], weeks: Sequence[Week]) -> Plot:
    figures = [one["figures"] for one in weeks]
    return Plot(
        "tokens",
        "Tokens",
        _about("Tokens by week"),
        names,
        [
            Series("whole files", "two", [one["whole_tokens"] for one in figures]),
            Series("offered", "one", [one["offered_tokens"] for one in figures]),
        ],
        lambda value: short(int(value)),
    )


def _figure(plot: Plot, words: str, draw: Callable[[Plot], str], *, marks: bool = False) -> str:
    """Return a plot with its caption, its legend and the same as numbers."""
    heads = "".join(f'<th scope="col">{escape(one.name)}</th>' for one in plot.series)
    rows = "".join(
        f'<tr><th scope="row">{escape(week)}</th>'
        + "".join(f"<td>{_cell(plot, one.values[at])}</td>" for one in plot.series)
        + "</tr>"
        for at, week in enumerate(plot.weeks)
    )
    numbers = (
        f"<details><summary>As numbers</summary><table><thead><tr>"
        f'<th scope="col">week of</th>{heads}</tr></thead><tbody>{rows}</tbody></table></details>'
    )
    caption = f"<figcaption><h2>{escape(plot.title)}</h2><p>{escape(words)}</p></figcaption>"
    return f"<figure>{caption}{legend(plot.series, marks=marks)}{draw(plot)}{numbers}</figure>"


def _cell(plot: Plot, value: float | None) -> str:
    return escape(NONE if value is None else plot.unit(value))


def _sources(answer: dict[str, Any]) -> str:
    """Return a table with a row for each source and its weeks."""
    heads = ("source, week of", "plans", "offered", "whole", "less", "used", "in one plan",
             "whole chains", "episodes")  # fmt: skip
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    bodies = []
    for source in answer["sources"]:
        rows = [_row(source["source"], source["figures"], "source")]
        rows += [
            _row(_week(one["week"]), one["figures"], "week")
            for one in answer["parts"]
            if one["source"] == source["source"]
        ]
        bodies.append(f"<tbody>{''.join(rows)}</tbody>")
    return (
        '<section class="wide"><h2>By source and week</h2><div class="scroll" tabindex="0" '
        'role="region" aria-label="By source and week"><table>'
        f"<thead><tr>{head}</tr></thead>{''.join(bodies)}</table></div></section>"
    )


def _row(name: str, figures: dict[str, Any], kind: str) -> str:
    cells = (
        f"{figures['plans']:,}",
        short(figures["offered_tokens"]),
        short(figures["whole_tokens"]),
        percent(figures["saved_share"]),
        percent(figures["hit_share"]),
        percent(figures["first_pass_success_rate"]),
        percent(figures["causal_trace_completeness"]),
        f"{figures['episodes']:,}",
    )
    drawn = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f'<tr class="{kind}"><th scope="row">{escape(name)}</th>{drawn}</tr>'


def _more(total: dict[str, Any]) -> str:
    items = "".join(f"<li>{escape(line.strip())}</li>" for line in facts(total))
    return f'<section class="wide"><h2>In words</h2><ul>{items}</ul></section>'


def _foot(answer: dict[str, Any]) -> str:
    return (
        "<footer><p>Counted are the plans of episodes. “Whole” is what the files that a plan chose "
        "would have taken, read from end to end; an agent might have read less, or others besides. "
        "“Used” counts files that were opened or changed after they were offered: what a plan "
        "showed well enough was not opened again. Offers and events are kept for "
        f"{counted(answer['kept_days'], 'day')}.</p></footer>"
    )


def _about(words: str) -> str:
    return f"{words}. The same stands below as numbers."


def _less(figures: dict[str, Any]) -> str:
    return f"−{percent(figures['saved_share'])}" if figures["saved_share"] else ""


def _ms(value: float | None) -> str:
    return NONE if value is None else f"{value:,.0f} ms"


def _week(monday: str) -> str:
    first = date.fromisoformat(monday)
    return f"{first.day} {first:%b}"
