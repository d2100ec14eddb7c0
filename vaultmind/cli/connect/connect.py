"""`vaultmind connect`: put the memory into a client's configuration, and take it out again."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from vaultmind.cli.connect import clients, codesettings, denials, hooks
from vaultmind.cli.connect.jsonfile import Change, apply
from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.output.output import aside, bold, print_json, say
from vaultmind.client.hook import AFTER_FAILURE
from vaultmind.config import Config
from vaultmind.vault.paths import VaultPaths

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
HOOKS = (
    "So that conversations there are written down and Claude is reminded of what it should know, "
    "it runs our hooks (`/hooks` shows them):"
)
BOTH = (
    "Rules, so that an agent there cannot edit the memory or approve in your place; and our hooks, "
    "by which conversations there are written down and Claude is reminded of what it should know "
    "(`/hooks` shows them):"
)
NO_AGENT = (
    "There is no agent {agent!r} in this vault yet: its conversations are kept, but it has no "
    "identity. Make it: {program}"
)
ONLY_CODE = "only claude-code has hooks: leave it out for claude-desktop"

COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@dataclass(frozen=True, slots=True)
class _Deed:
    """The changes of one call, in the order in which they are made, and what came of them."""

    servers: Change | None
    """None where only the hooks go."""
    rules: Change | None
    """Of the person's settings, with rules and hooks. None for a client that has neither."""
    denied: tuple[str, ...]
    removes: bool
    hooks: Mapping[str, str] = field(default_factory=dict)
    """The commands of the hooks that are put in or taken out, by event."""
    shared: tuple[Change, ...] = ()
    """Take what names personal paths out of the files that a team shares."""

    @property
    def changes(self) -> list[Change]:
        """Return what is needed: rules before the server that they guard, and the other way."""
        every = [self.rules, self.servers, *self.shared]
        every = every[::-1] if self.removes else every
        return [one for one in every if one is not None and one.needed]


@click.command(cls=VaultCommand)
@click.argument("client", metavar="CLIENT", type=click.Choice(list(RESTART)))
@click.option("--write", is_flag=True, help="Write the change (a backup is kept).")
@click.option("--remove", is_flag=True, help="Take our entry out again (with --write).")
@click.option("--file", "file", type=click.Path(path_type=Path), metavar="FILE",
              help="Another configuration file.")  # fmt: skip
@click.option("--hooks", "hooked", is_flag=True, help="Claude Code: write conversations down, "
              "remind it; with --remove take only this out.")  # fmt: skip
@pass_settings
def connect(
    settings: Settings, client: str, *, write: bool, remove: bool, file: Path | None, hooked: bool
) -> None:
    """Connect CLIENT (claude-desktop or claude-code) to this vault's memory.

    Without --write the change is only shown. Everything else in the file stays. Claude Code keeps
    your own servers in ~/.claude.json; deny rules, and hooks where they are asked for, come into
    .claude/settings.local.json. No team shares either; with --file .mcp.json the server is shared.
    """
    if hooked and client != "claude-code":
        raise click.BadParameter(ONLY_CODE, param_hint="--hooks")
    usual = clients.desktop_config() if client == "claude-desktop" else clients.code_config()
    path = (file or usual).absolute()
    deed = _deed(settings, client, path, remove=remove, hooked=hooked)
    backups: dict[Path, Path | None] = {}
    if write:
        now = datetime.now().astimezone()
        backups = {change.path: apply(change, now) for change in deed.changes}
        for change in deed.changes if deed.removes else ():
            denials.tidy(change)
    if settings.json:
        print_json(_result(deed, clients.entry_name(settings.config), backups))
        return
    _tell(deed, client, backups)
    if not remove and not _has_agent(settings.config):
        agent = settings.config.agent
        make = ["init"] if agent == "main" else ["agents", "new", agent]
        make += ["--vault", str(settings.config.vault)]
        program = f"{clients.program_words()} {shlex.join(make)}"
        aside(NO_AGENT.format(agent=agent, program=program))


def _has_agent(config: Config) -> bool:
    paths = VaultPaths(config.vault, config.memory_dir)
    return (config.vault / paths.identity(config.agent)).exists()


def _deed(settings: Settings, client: str, path: Path, *, remove: bool, hooked: bool) -> _Deed:
    """Return what is to be changed; raise ConfigError before anything is, if a file is broken."""
    config = settings.config
    name = clients.entry_name(config)
    entry = clients.server_entry(config, settings.values.get("state_dir") or "")
    in_settings, in_shared = denials.settings_file(path), denials.shared_settings(path)
    is_code = client == "claude-code"
    there = {**hooks.commands_in(in_settings, config), **hooks.commands_in(in_shared, config)}
    hooked = hooked or (is_code and not remove and bool(hooks.commands_in(in_shared, config)))
    hears = AFTER_FAILURE in there if remove else hooked and hooks.knows_failures()
    commands = hooks.commands(config, entry, failures=hears) if hooked or remove else {}
    if remove and hooked:
        wanted = codesettings.Wanted(config, (), commands)
        local, old = (codesettings.removed(one, wanted) for one in (in_settings, in_shared))
        return _Deed(None, local, (), remove, commands, (old,))
    servers = clients.removed(path, name) if remove else clients.added(path, name, entry)
    if not is_code:
        return _Deed(servers, None, (), remove)
    team = clients.shared_config(Path.cwd())
    moved = () if path == team else (clients.removed(team, name),)
    others = {one for change in (servers, *moved) for one in clients.other_vaults(change, name)}
    entries = (clients.entry_before(change, name) for change in (servers, *moved))
    before = next(filter(None, entries), {})
    former = denials.former_rules((in_settings, in_shared), config, before)
    rules = _rules(config, others if remove else (), former if remove else ())
    stale = () if remove or others else tuple(one for one in former if one not in rules)
    wanted = codesettings.Wanted(config, rules, commands, stale)
    change = codesettings.removed if remove else codesettings.added
    ours = codesettings.Wanted(config, (*rules, *stale), commands)
    shared = (codesettings.removed(in_shared, ours), *moved)
    return _Deed(servers, change(in_settings, wanted), rules, remove, commands, shared)


def _rules(config: Config, others: Collection[Path], former: Sequence[str]) -> tuple[str, ...]:
    """Return the rules that an entry brings, or takes with it: not what other entries need.

    It takes with it what it brought, which may not be what it would bring now (`former`).
    """
    own = () if config.vault in others else denials.own_rules(config)
    return own if others else (*own, *(former or denials.common_rules(config)))


def _result(deed: _Deed, name: str, backups: dict[Path, Path | None]) -> dict[str, Any]:
    def of(change: Change) -> dict[str, Any]:
        return {
            "path": str(change.path),
            "changed": change.path in backups,
            "backup": str(backups.get(change.path) or ""),
            "content": change.after or "",
        }

    rules = {**of(deed.rules), "deny": list(deed.denied)} if deed.rules else None
    servers = of(deed.servers) if deed.servers else {}
    return {"name": name, **servers, "rules": rules, "hooks": dict(deed.hooks)}


def _tell(deed: _Deed, client: str, backups: dict[Path, Path | None]) -> None:
    shared = [change for change in deed.shared if change.needed]
    for change in filter(None, (deed.servers, deed.rules, *shared)):
        if change is deed.rules and change.needed and not deed.removes:
            say(f"\n{_lead(deed, change)}")
        _show(change)
    if deed.changes and not backups:
        deeds = [f"{_verb(one)} {one.path}" for one in deed.changes]
        say(f"\nThat would {' and '.join(deeds)}. Add --write to do it.")
    for change in deed.changes if backups else ():
        say(f"\n{bold('Written:' if change.after else 'Removed:')} {change.path}")
        if backup := backups[change.path]:
            say(f"As it was before: {backup}")
    if backups and deed.servers is not None:
        say((GONE if deed.removes else RESTART)[client])
    if deed.rules is None and not deed.removes:
        aside(NO_RULES)


def _lead(deed: _Deed, change: Change) -> str:
    """Return what a change of the settings is for, of the two things that it may be."""
    there = denials.denied(change.path, change.before or "")
    if not deed.hooks:
        return RULES
    return HOOKS if set(deed.denied) <= set(there) else BOTH


def _verb(change: Change) -> str:
    """Return what would be done to a file."""
    if change.after is None:
        return "remove"
    return "change" if change.before is not None else "make"


def _show(change: Change) -> None:
    if not change.needed:
        say(f"Nothing to change in {change.path}.")
        return
    before, after = (change.before or "").splitlines(), (change.after or "").splitlines()
    now, then = f"{change.path} now", f"{change.path} then"
    for line in difflib.unified_diff(before, after, now, then, lineterm="", n=2):
        say(click.style(line, fg=COLOURS.get(line[:1])))
