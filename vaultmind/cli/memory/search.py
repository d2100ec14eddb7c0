"""Commands that find and read: search, fetch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click

from vaultmind.cli.jsonlines import read_items
from vaultmind.cli.options import Settings, VaultCommand, given, pass_settings
from vaultmind.cli.output.bars import progress
from vaultmind.cli.output.output import (
    EXIT_NOT_FOUND,
    EXIT_OTHER,
    EXIT_USAGE,
    aside,
    dim,
    print_json,
    say,
)
from vaultmind.cli.ready import wait_for_index
from vaultmind.types import KINDS

BATCH = 50
"""Queries of a file that go in one call, so that answers appear as they come."""
SOURCE_FILTERS = ("limit", "folder", "per_note", "max_tokens", "offset")
SOURCE_SECONDS = 600.0
"""How long a question to a linked folder waits for its texts."""
ANSWER_EXIT = {"found": 0, "nothing_found": EXIT_NOT_FOUND, "no_query": EXIT_USAGE}
"""Exit codes of answers; any other, `indexing`, is no answer yet."""


@click.command(cls=VaultCommand)
@click.argument("query", nargs=-1)
@click.option("--limit", type=int, metavar="N", help="How many hits at most.")
@click.option("--kind", "kinds", type=click.Choice(KINDS), multiple=True,
              help="Only these; may be given several times.")  # fmt: skip
@click.option("--source", metavar="NAME", help="In a linked folder, not in the vault.")
@click.option("--folder", metavar="DIR", help="Only below this folder of the vault.")
@click.option("--tag", metavar="TAG", help="Only notes with this tag (or one nested in it).")
@click.option("--after", metavar="DAY", help='From this day on: 2026-02-20, "last week".')
@click.option("--before", metavar="DAY", help="Up to this day; of a week, its last.")
@click.option("--per-note", type=int, metavar="N", help="Hits of one note or session at most.")
@click.option("--max-tokens", type=int, metavar="N", help="Budget for the answer's text.")
@click.option("--offset", type=int, metavar="N", help="Where to go on; an answer names it.")
@click.option("--explain", is_flag=True, help="Show why each hit is there.")
@click.option("--no-wait", is_flag=True, help="Answer at once, however far the index is.")
@click.option(
    "--queries",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, readable=True),
    help='Many at once: JSON Lines {"id","query"} in, {"id","hits"} out.',
)
@pass_settings
def search(
    settings: Settings,
    query: tuple[str, ...],
    queries: Path | None,
    *,
    source: str | None,
    explain: bool,
    no_wait: bool,
    **filters: object,
) -> int:
    """Search notes and memory by words and by meaning, in any language.

    Example: vaultmind search "what did we decide about the oven?" --kind note

    It waits until all text is in the index, some seconds at most for what changes just now, and
    a second at most for the vectors, which follow; with --queries until everything is.
    """
    if bool(query) == bool(queries):
        raise click.UsageError("Give a QUERY, or a file with --queries.")
    if source:
        return _search_source(settings, " ".join(query), source, given(filters), (explain, no_wait))
    args = given(filters) | settings.target
    lines = iter(_read_queries(queries)) if queries else None
    if not no_wait:
        wait_for_index(settings, patient=bool(queries))
    if lines is not None:
        return _search_many(settings, lines, args)
    answer = settings.backend().call("memory_search", args | {"query": " ".join(query)})
    return _shown(settings, answer, args.get("offset", 0), explain=explain)


@click.command(cls=VaultCommand)
@click.argument("id")
@click.option("--max-tokens", type=int, metavar="N", help="How much of it at most.")
@click.option("--offset", type=int, metavar="N", help="Where to go on; an answer names it.")
@click.option("--source", metavar="NAME", help="Of a linked folder, not of the vault.")
@pass_settings
def fetch(settings: Settings, id: str, **options: object) -> int:
    """Print the whole text of a hit's ID, a vault-relative PATH or PATH#Heading."""
    op = "source_fetch" if options.get("source") else "memory_fetch"
    fetched = settings.backend().call(op, {"id": id} | given(options))
    if settings.json:
        print_json(fetched)
        return 0
    if not fetched["text"]:
        aside(dim(f"{fetched['path']}{fetched['anchor']} is there and empty."))
        return 0
    say(fetched["text"])
    if fetched["next_offset"] is not None:
        aside(dim(f"There is more: --offset {fetched['next_offset']}"))
    return 0


def _search_source(
    settings: Settings, query: str, source: str, filters: dict[str, Any], how: tuple[bool, bool]
) -> int:
    """Search in a linked folder, whose index has no kinds, tags or days."""
    explain, no_wait = how
    unknown = [f"--{name.rstrip('s')}" for name in filters if name not in SOURCE_FILTERS]
    if unknown or not query:
        what = f"--source goes without {', '.join(unknown)}." if unknown else "Give a QUERY."
        raise click.UsageError(what)
    wait = {} if no_wait else {"wait_seconds": SOURCE_SECONDS}
    args = filters | wait | {"source": source, "query": query}
    with progress(quiet=settings.json) as report:
        answer = settings.backend().call("source_search", args, report)
    return _shown(settings, answer, filters.get("offset", 0), explain=explain)


def _shown(settings: Settings, answer: dict[str, Any], offset: int, *, explain: bool) -> int:
    if settings.json:
        print_json(answer)
    else:
        from vaultmind.cli.output.tables import show_hits

        show_hits(answer, first=1 + offset, explain=explain)
        if answer["next_offset"] is not None:
            aside(dim(f"There are more: --offset {answer['next_offset']}"))
    return ANSWER_EXIT.get(answer["answer"], EXIT_OTHER)


def _search_many(settings: Settings, lines: Iterator[dict[str, Any]], args: dict[str, Any]) -> int:
    """Print the hits of each query under its id, which comes back as it was given."""
    while batch := list(islice(lines, BATCH)):
        queries = [{"id": str(one["id"]), "query": one["query"]} for one in batch]
        answer = settings.backend().call("search_many", args | {"queries": queries})
        for asked, result in zip(batch, answer["results"], strict=True):
            print_json(result | {"id": asked["id"]}, indent=None)
    return 0


def _read_queries(path: Path) -> list[dict[str, Any]]:
    items = read_items(path, "query", '{"id": "q1", "query": "bread oven"}')
    return [{"id": id_, "query": query} for id_, query in items]
