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
GONE = {
    "claude-desktop": "Quit and reopen Claude Desktop; the tools are gone then. "
    "The memory itself stays in your vault.",
    "claude-code": "From the next `claude` in this project the server is gone. "
    "The memory itself stays in your vault.",
}
"""What to do after a removal."""

COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(cls=VaultCommand)
@click.argument("client", metavar="CLIENT", type=click.Choice(list(RESTART)))
@click.option("--write", is_flag=True, help="Write the change (a backup is kept).")
@click.option("--remove", is_flag=True, help="Take our entry out again (with --write).")
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
    if remove:
        change = clients.removed(path, name)
    else:
        entry = clients.server_entry(config, settings.values.get("state_dir") or "")
        change = clients.added(path, name, entry)
    written = change.needed and write
    backup = clients.apply(change, datetime.now().astimezone()) if written else None
    if settings.json:
        result = {"path": str(path), "name": name, "changed": written}
        print_json(result | {"backup": str(backup or ""), "content": change.after or ""})
        return
    _show(change)
    if change.needed and not written:
        deed = "remove" if change.after is None else "change"
        say(f"\nThat would {deed} {path}. Add --write to do it.")
    elif written:
        say(f"\n{bold('Removed:' if change.after is None else 'Written:')} {path}")
        if backup:
            say(f"As it was before: {backup}")
        say((GONE if remove else RESTART)[client])


def _show(change: clients.Change) -> None:
    if not change.needed:
        say(f"Nothing to change in {change.path}.")
        return
    before, after = (change.before or "").splitlines(), (change.after or "").splitlines()
    for line in difflib.unified_diff(before, after, "now", "then", lineterm="", n=2):
        say(click.style(line, fg=COLOURS.get(line[:1])))
