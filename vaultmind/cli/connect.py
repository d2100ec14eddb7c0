"""`vaultmind connect`: put the memory into a client's configuration, and take it out again."""

from __future__ import annotations

import difflib
from datetime import datetime
from pathlib import Path

import click

from vaultmind.cli import clients
from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.output import bold, print_json, say

RESTART = {
    "claude-desktop": "Quit and reopen Claude Desktop; the tools appear under the slider icon.",
    "claude-code": "Start `claude` in this project; `/mcp` shows the server.",
}

COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(cls=VaultCommand)
@click.argument("client", metavar="CLIENT", type=click.Choice(list(RESTART)))
@click.option("--write", is_flag=True, help="Write the change (a backup is kept).")
@click.option("--remove", is_flag=True, help="Take our entry out again.")
@click.option("--file", "file", type=click.Path(path_type=Path), metavar="FILE",
              help="Another configuration file.")  # fmt: skip
@pass_settings
def connect(
    settings: Settings, client: str, *, write: bool, remove: bool, file: Path | None
) -> None:
    """Connect CLIENT (claude-desktop or claude-code) to this vault's memory.

    Without --write the change is only shown. Everything else in the file stays.
    """
    config = settings.config
    usual = clients.desktop_config() if client == "claude-desktop" else clients.code_config(Path())
    path = (file or usual).absolute()
    name = clients.entry_name(config)
    change = (
        clients.removed(path, name)
        if remove
        else clients.added(path, name, clients.server_entry(config))
    )
    writes = write or remove
    backup = (
        clients.apply(change, datetime.now().astimezone()) if change.needed and writes else None
    )
    if settings.json:
        result = {"path": str(path), "name": name, "changed": change.needed and writes}
        print_json(result | {"backup": str(backup or ""), "content": change.after})
        return
    _show(change, client, backup=backup, written=writes)


def _show(change: clients.Change, client: str, *, backup: Path | None, written: bool) -> None:
    if not change.needed:
        say(f"Nothing to change in {change.path}.")
        return
    lines = difflib.unified_diff(
        change.before.splitlines(), change.after.splitlines(), "now", "then", lineterm="", n=2
    )
    for line in lines:
        say(click.style(line, fg=COLOURS.get(line[:1])))
    if not written:
        say(f"\nThat would change {change.path}. Add --write to do it.")
        return
    say(f"\n{bold('Written:')} {change.path}")
    if backup:
        say(f"As it was before: {backup}")
    say(RESTART[client])
