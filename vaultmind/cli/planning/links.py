"""`link`, `unlink`, `links`: folders beside the vault that are read, indexed and never written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.output.bars import progress
from vaultmind.cli.output.output import (
    EXIT_OTHER,
    bold,
    dim,
    good,
    odd,
    paragraph,
    place,
    print_json,
    say,
)
from vaultmind.errors import NotFound
from vaultmind.vault.oneline import one_line

SHOWN_FAULTS = 10
"""Files that are named; the rest is a number."""


@click.command(cls=VaultCommand)
@click.argument("folder", metavar="FOLDER")
@click.option("--as", "name", metavar="NAME", default="",
              help="What to call it.  [default: after the folder]")  # fmt: skip
@pass_settings
def link(settings: Settings, folder: str, name: str) -> int:
    """Link FOLDER to the vault: its code and documents are indexed, and it is never written.

    Example: vaultmind link ~/code/shop --as shop

    What git ignores and what looks like a secret is left out. Agents may be shown the rest.
    """
    # not resolved: a link in the path is the daemon's to follow and to refuse
    path = Path(folder).expanduser().absolute()
    linked = settings.backend().call("link", {"path": str(path), "name": name})
    if settings.json:
        print_json(linked)
        return 0
    say(f"{good('✓')} {place(linked['root'])} is linked as {bold(linked['name'])}.")
    say(dim("It is being indexed; `vaultmind links` tells how far it is."))
    say(f"Next: {bold('vaultmind plan ' + linked['name'] + ' --task TEXT')}")
    return 0


@click.command(cls=VaultCommand)
@click.argument("name", metavar="NAME")
@pass_settings
def unlink(settings: Settings, name: str) -> int:
    """Unlink the folder NAME (or its path) and drop its index; the folder is not touched."""
    path = Path(name).expanduser()
    wanted = str(path.absolute()) if "/" in name or name.startswith("~") else name
    gone = settings.backend().call("unlink", {"name": wanted})
    if settings.json:
        print_json(gone)
        return 0
    say(f"{good('✓')} {bold(gone['name'])} is no longer linked; its index is gone.")
    say(dim(f"{gone['root']} is as it was."))
    return 0


@click.command(cls=VaultCommand)
@click.option("--wait", is_flag=True, help="Wait until all text is searchable.")
@pass_settings
def links(settings: Settings, *, wait: bool) -> int:
    """List the vault and the folders that are linked to it, and how far the index of each is.

    Exit code 1 when one of them cannot be used.
    """
    found = settings.backend().call("links", {})["sources"]
    if wait:
        with progress(quiet=settings.json) as report:
            settings.backend().call("index", {"vectors": False}, report)
            for one in found:
                args = {"source": one["name"], "query": "", "wait_seconds": 3600.0}
                if one["kind"] == "linked" and one["there"]:
                    settings.backend().call("source_search", args, report)
        found = settings.backend().call("links", {})["sources"]
    if settings.json:
        print_json({"sources": found})
    elif len(found) == 1:
        say("No folder is linked. To link one: vaultmind link ~/code/shop --as shop")
    else:
        for one in found:
            show_source(one)
    failed = any(not one["there"] or one["phase"] == "failed" for one in found)
    return EXIT_OTHER if failed else 0


def source_at(source: str) -> str:
    """Return a source as the daemon knows it: a path is made absolute, a name stays.

    Raises NotFound for a path that leads nowhere: the daemon would take it for a part of the
    source that it would lie in.
    """
    if source not in (".", "..") and not source.startswith("~") and "/" not in source:
        return source
    path = Path(source).expanduser().resolve()
    if not path.exists():
        raise NotFound(f"There is no folder {path}.")
    return str(path)


def show_source(one: dict[str, Any]) -> None:
    """Show a source in a line or two, and what is missing."""
    kind = dim(" (the vault)") if one["kind"] == "vault" else ""
    say(f"{bold(one['name'])}{kind}  {place(one['root'])}")
    say(f"  {one['words']}")
    if one["kind"] == "vault":  # `status` tells what is wrong with it
        return
    for note in one["notes"]:
        say(f"  {odd('!')} {note}")
    for fault in one["faults"][:SHOWN_FAULTS]:
        say(paragraph(one_line(f"{fault['path']}: {fault['reason']}"), "    "))
    if (more := one["fault_count"] - SHOWN_FAULTS) > 0:
        say(dim(f"    … and {more:,} more; --json names {len(one['faults']):,}"))
