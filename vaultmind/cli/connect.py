"""`vaultmind connect`: put the memory into a client's configuration, and take it out again."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from vaultmind.cli import clients, denials
from vaultmind.cli.jsonfile import Change, apply
from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.output import aside, bold, print_json, say
from vaultmind.config import Config

RESTART = {
    "claude-desktop": "Quit and reopen Claude Desktop; the tools appear under the slider icon.",
    "claude-code": "Start `claude` in this project; `/mcp` shows the server and `/permissions` "
    "the rules.",
}
GONE = {
    "claude-desktop": "Quit and reopen Claude Desktop; the tools are gone then. "
    "The memory itself stays in your vault.",
    "claude-code": "From the next `claude` in this project the server is gone. "
    "The memory itself stays in your vault.",
}
"""What to do after a removal."""
NO_RULES = (
    "Claude Desktop has no deny rules: if you also give it tools that edit files or run commands, "
    "they can change the memory past VaultMind, and approve in your place."
)
RULES = "So that an agent there cannot edit the memory or approve in your place:"

COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@dataclass(frozen=True, slots=True)
class _Deed:
    """The changes of one call, in the order in which they are made, and what came of them."""

    servers: Change
    rules: Change | None
    """None for a client that has no rules."""
    denied: tuple[str, ...]
    removes: bool

    @property
    def changes(self) -> list[Change]:
        """Return what is needed: rules before the server that they guard, and the other way."""
        both = [self.rules, self.servers] if not self.removes else [self.servers, self.rules]
        return [one for one in both if one is not None and one.needed]


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

    Without --write the change is only shown. Everything else in the file stays. Claude Code also
    gets deny rules, in .claude/settings.json beside its servers.
    """
    usual = clients.desktop_config() if client == "claude-desktop" else clients.code_config(Path())
    path = (file or usual).absolute()
    deed = _deed(settings, client, path, remove=remove)
    backups: dict[Path, Path | None] = {}
    if write:
        now = datetime.now().astimezone()
        backups = {change.path: apply(change, now) for change in deed.changes}
        if deed.removes and deed.rules:
            denials.tidy(deed.rules)
    if settings.json:
        print_json(_result(deed, clients.entry_name(settings.config), backups))
        return
    _tell(deed, client, backups)


def _deed(settings: Settings, client: str, path: Path, *, remove: bool) -> _Deed:
    """Return what is to be changed; raise ConfigError before anything is, if a file is broken."""
    config = settings.config
    name = clients.entry_name(config)
    if remove:
        servers = clients.removed(path, name)
    else:
        entry = clients.server_entry(config, settings.values.get("state_dir") or "")
        servers = clients.added(path, name, entry)
    if client != "claude-code":
        return _Deed(servers, None, (), remove)
    rules = _rules(config, clients.other_vaults(servers, name) if remove else ())
    change = denials.without_rules if remove else denials.with_rules
    return _Deed(servers, change(denials.settings_file(path), rules), rules, remove)


def _rules(config: Config, others: Sequence[Path]) -> tuple[str, ...]:
    """Return the rules that an entry brings, or takes with it: not what other entries need."""
    own = () if config.vault in others else denials.own_rules(config)
    return own if others else (*own, *denials.common_rules(config))


def _result(deed: _Deed, name: str, backups: dict[Path, Path | None]) -> dict[str, Any]:
    def of(change: Change) -> dict[str, Any]:
        return {
            "path": str(change.path),
            "changed": change.path in backups,
            "backup": str(backups.get(change.path) or ""),
            "content": change.after or "",
        }

    rules = {**of(deed.rules), "deny": list(deed.denied)} if deed.rules else None
    return {"name": name, **of(deed.servers), "rules": rules}


def _tell(deed: _Deed, client: str, backups: dict[Path, Path | None]) -> None:
    for change in filter(None, (deed.servers, deed.rules)):
        if change is deed.rules and change.needed and not deed.removes:
            say(f"\n{RULES}")
        _show(change)
    if deed.changes and not backups:
        deeds = [f"{'change' if one.after else 'remove'} {one.path}" for one in deed.changes]
        say(f"\nThat would {' and '.join(deeds)}. Add --write to do it.")
    for change in deed.changes if backups else ():
        say(f"\n{bold('Written:' if change.after else 'Removed:')} {change.path}")
        if backup := backups[change.path]:
            say(f"As it was before: {backup}")
    if backups:
        say((GONE if deed.removes else RESTART)[client])
    if deed.rules is None and not deed.removes:
        aside(NO_RULES)


def _show(change: Change) -> None:
    if not change.needed:
        say(f"Nothing to change in {change.path}.")
        return
    before, after = (change.before or "").splitlines(), (change.after or "").splitlines()
    now, then = f"{change.path} now", f"{change.path} then"
    for line in difflib.unified_diff(before, after, now, then, lineterm="", n=2):
        say(click.style(line, fg=COLOURS.get(line[:1])))
