"""Commands that find and read: search, fetch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click

from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.output import (
    EXIT_NOT_FOUND,
    err,
    print_json,
    print_json_line,
    progress,
)
from vaultmind.errors import BadArgument
from vaultmind.types import KINDS

BATCH = 50
"""Queries of a file that go in one call, so that answers appear as they come."""


@click.command(cls=VaultCommand)
@click.argument("query", nargs=-1)
@click.option("--limit", type=int, help="How many hits at most.")
@click.option("--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="Only these kinds.")
@click.option("--folder", help="Only below this folder of the vault.")
@click.option("--tag", help="Only notes with this tag (or one nested in it).")
@click.option("--after", metavar="DATE", help="From this date on (2026-02-20).")
@click.option("--before", metavar="DATE", help="Up to this date.")
@click.option("--per-note", type=int, help="At most so many hits of one note or session.")
@click.option("--max-tokens", type=int, help="Budget for the answer's text.")
@click.option("--no-wait", is_flag=True, help="Do not wait for the index to be complete.")
@click.option(
    "--queries",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help='Many at once: a file of JSON Lines {"id","query"}; one line each comes out.',
)
@pass_settings
def search(
    settings: Settings,
    query: tuple[str, ...],
    queries: Path | None,
    *,
    no_wait: bool,
    **filters: object,
) -> int:
    """Search notes and memory by words and by meaning, in any language.

    Example: vaultmind search "what did we decide about the oven?" --kind note
    """
    if bool(query) == bool(queries):
        raise click.UsageError("Give a QUERY, or a file with --queries.")
    args: dict[str, Any] = {n: value for n, value in filters.items() if value not in (None, ())}
    if settings.target:
        args["agent"] = settings.target
    if not no_wait:
        _wait(settings)
    if queries:
        return _search_many(settings, queries, args)
    answer = settings.backend().call("memory_search", args | {"query": " ".join(query)})
    if settings.json:
        print_json(answer)
    else:
        from vaultmind.cli.tables import show_hits

        show_hits(answer)
    return 0 if answer["hits"] else EXIT_NOT_FOUND


@click.command(cls=VaultCommand)
@click.argument("id")
@click.option("--max-tokens", type=int, help="How much of it at most.")
@click.option("--offset", type=int, help="Continue from here (an answer names the next offset).")
@pass_settings
def fetch(settings: Settings, id: str, **options: object) -> int:
    """Print the whole text of a hit's ID, a vault-relative PATH or PATH#Heading."""
    args: dict[str, Any] = {n: value for n, value in options.items() if value is not None}
    if settings.target:
        args["agent"] = settings.target
    fetched = settings.backend().call("memory_fetch", {"id": id} | args)
    if settings.json:
        print_json(fetched)
        return 0
    click.echo(fetched["text"])
    if fetched.get("next_offset"):
        err.print(f"[dim]There is more: add --offset {fetched['next_offset']}[/]")
    return 0


def _search_many(settings: Settings, path: Path, args: dict[str, Any]) -> int:
    lines = _read_queries(path)
    while batch := list(islice(lines, BATCH)):
        answer = settings.backend().call("search_many", args | {"queries": batch})
        for result in answer["results"]:
            print_json_line(result)
    return 0


def _read_queries(path: Path) -> Iterator[dict[str, str]]:
    wanted = 'a line of JSON like {"id": "q1", "query": "bread oven"}'
    with path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                item = json.loads(line)
                yield {"id": str(item["id"]), "query": str(item["query"])}
            except (ValueError, KeyError, TypeError) as error:
                raise BadArgument(f"{path.name} line {number}", line.strip(), wanted) from error


def _wait(settings: Settings) -> None:
    """Wait until all text and vectors are searchable, with a bar on a terminal."""
    with progress(quiet=settings.json) as report:
        settings.backend().call("index", {}, report)
