"""`vaultmind say`: what a person says to their memory, in their own words."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import click

from vaultmind.cli.jsonlines import read_items
from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.output.output import EXIT_OTHER, OUTCOME_EXIT, print_json

BATCH = 200
"""Sentences of a file that go in one call."""


@click.command(cls=VaultCommand)
@click.argument("utterance", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Only tell what was understood.")
@click.option(
    "--utterances",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help='Many at once: JSON Lines of {"id","text"}; a line each comes out. Nothing is done.',
)
@pass_settings
def say(settings: Settings, utterance: tuple[str, ...], file: Path | None, *, dry_run: bool) -> int:
    """Do what UTTERANCE asks of the memory; anything else does nothing.

    Example: vaultmind say "zapamiętaj, że wolę krótkie odpowiedzi"
    """
    if bool(utterance) == bool(file):
        raise click.UsageError("Give an UTTERANCE, or a file with --utterances.")
    if file:
        return _many(settings, file)
    heard = _ask(settings, [" ".join(utterance)], dry_run=dry_run)[0]
    if settings.json:
        names = ("intent", "lang", "payload", "confidence")
        print_json({name: heard[name] for name in names} if dry_run else heard)
    elif dry_run:
        click.echo(f"{heard['intent']} ({heard['lang'] or '-'}): {heard['payload']}")
    else:
        click.echo("\n".join((heard["message"], *(f"- {fact}" for fact in heard["facts"]))))
    return 0 if dry_run else OUTCOME_EXIT.get(heard["outcome"], EXIT_OTHER)


def _ask(settings: Settings, sentences: list[str], *, dry_run: bool) -> list[dict[str, Any]]:
    args = {"utterances": sentences, "dry_run": dry_run} | settings.target
    heard: list[dict[str, Any]] = settings.backend().call("say", args)["heard"]
    return heard


def _many(settings: Settings, file: Path) -> int:
    lines = iter(read_items(file, "text", '{"id": "u1", "text": "remember that …"}'))
    while batch := list(islice(lines, BATCH)):
        heard = _ask(settings, [text for _, text in batch], dry_run=True)
        for (id_, _), one in zip(batch, heard, strict=True):
            names = ("intent", "lang", "payload", "confidence")
            line = {"id": id_} | {name: one[name] for name in names}
            print_json(line, indent=None)
    return 0
