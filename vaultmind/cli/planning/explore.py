"""`explore`, `delta`, `refresh`: what a source is made of, and what changed in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import click

from vaultmind.cli.options import Settings, VaultCommand, given, pass_settings
from vaultmind.cli.output.bars import progress
from vaultmind.cli.output.output import (
    EXIT_NOT_FOUND,
    aside,
    bold,
    dim,
    odd,
    paragraph,
    place,
    print_json,
    say,
)
from vaultmind.cli.planning.links import source_at
from vaultmind.cli.ready import wait_for_index
from vaultmind.planner.types import TASK_KINDS, Detail, Layer
from vaultmind.plural import counted

WAIT_SECONDS = 120.0
"""How long a person waits for a source that is read for the first time."""


@click.command(cls=VaultCommand)
@click.argument("source", required=False, default="")
@click.option("--query-type", type=click.Choice(TASK_KINDS),
              help="What kind of task it is for.  [default: unknown]")  # fmt: skip
@click.option("--layer", "layers", type=click.Choice(get_args(Layer)), multiple=True,
              help="This layer; may be given several times.")  # fmt: skip
@click.option("--detail", type=click.Choice(get_args(Detail)),
              help="How much of each layer.  [default: compact]")  # fmt: skip
@click.option("--since", metavar="WHEN",
              help="Changes since a time or a revision: yesterday, HEAD~3.")  # fmt: skip
@click.option("--no-wait", is_flag=True, help="Answer at once, however far the reading is.")
@pass_settings
def explore(settings: Settings, source: str, *, no_wait: bool, **options: object) -> int:
    """Show what there is to read in SOURCE: the vault, or a linked folder by name or path.

    Example: vaultmind explore shop --query-type bugfix --since yesterday

    The layers: L0 map, L1 index, L2 relations, L3 surface, L4 manifest, L5 tasks and tests, L6
    changes. A kind of task needs some of them; --layer names others.
    """
    answer = _asked(settings, "explore", source, given(options), no_wait=no_wait)
    return _shown(settings, answer)


@click.command(cls=VaultCommand)
@click.argument("source", required=False, default="")
@click.option("--since", metavar="WHEN",
              help="A time or a revision: yesterday, HEAD~3.  [default: of late]")  # fmt: skip
@click.option("--detail", type=click.Choice(get_args(Detail)),
              help="How much of it.  [default: normal]")  # fmt: skip
@click.option("--no-wait", is_flag=True, help="Answer at once, however far the reading is.")
@pass_settings
def delta(settings: Settings, source: str, *, no_wait: bool, **options: object) -> int:
    """Show what changed in SOURCE: the vault, or a linked folder by name or path.

    Example: vaultmind delta shop --since main
    """
    answer = _asked(settings, "delta", source, given(options), no_wait=no_wait)
    return _shown(settings, answer)


@click.command(cls=VaultCommand)
@click.argument("source", required=False, default="")
@pass_settings
def refresh(settings: Settings, source: str) -> int:
    """Compare SOURCE with the disk now, and read what changed.

    Changes are followed by themselves; this is for a disk whose changes send no events.
    """
    args: dict[str, Any] = {"source": source_at(source), "wait_seconds": WAIT_SECONDS}
    with progress(quiet=settings.json) as report:
        answer = settings.backend().call("refresh", args, report)
    if settings.json:
        print_json(answer)
        return 0
    files = f"{answer['read']:,} of {counted(answer['files'], 'file')}"
    state = "up to date" if answer["complete"] else odd("still being read")
    say(f"{place(answer['source'])} is {state}: {files}, {answer['took_ms']:,.0f} ms.")
    return 0


def _asked(
    settings: Settings, op: str, source: str, args: dict[str, Any], *, no_wait: bool
) -> dict[str, Any]:
    if not no_wait:
        wait_for_index(settings, patient=False)
        args["wait_seconds"] = WAIT_SECONDS
    if source:
        args["source"] = source_at(source)
    with progress(quiet=settings.json) as report:
        answer: dict[str, Any] = settings.backend().call(op, args, report)
    return answer


def _shown(settings: Settings, answer: dict[str, Any]) -> int:
    """Print the layers, headings bold; below them how they came about."""
    if settings.json:
        print_json(answer)
    else:
        for line in _lines(answer["text"]):
            say(line)
        for note in answer["notes"]:
            aside(f"{odd('!')} {paragraph(note, '  ').lstrip()}")
        parts = [answer["source"], answer["freshness"], f"cache {answer['cache_status']}"]
        parts += [counted(answer["tokens"], "token"), f"{answer['took_ms']:,.1f} ms"]
        aside(dim(f"\n{' · '.join(parts)}"))
    empty = all(not _holds(view) for view in answer["views"])
    return EXIT_NOT_FOUND if empty else 0


def _lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        yield bold(line.removeprefix("## ")) if line.startswith("## ") else line


def _holds(view: dict[str, Any]) -> bool:
    """Tell whether there is anything in a layer."""
    return any(isinstance(part, list) and part for part in view.values())
