"""`vaultmind connect`: put the memory into a client's configuration, and take it out again."""

from __future__ import annotations

import difflib
import json
import shlex
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from vaultmind.cli.connect import claude_code, clients
from vaultmind.cli.connect.clients import CLIENTS, Client
from vaultmind.cli.connect.jsonfile import Change, apply, changed, member, prune, read
from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.output.output import aside, bold, print_json, say
from vaultmind.config import Config
from vaultmind.vault.paths import VaultPaths

NO_RULES = (
    "{title} has no deny rules: if you also give it tools that edit files or run commands, "
    "they can change the memory past VaultMind, and approve in your place."
)
RULES = "So that an agent there cannot edit the memory or approve in your place{hooks}:"
HOOKS = ", and that conversations there are written down (`/hooks` shows the hooks)"
NO_AGENT = (
    "There is no agent {agent!r} in this vault yet: its conversations are kept, but it has no "
    "identity. Make it: {program}"
)
COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(cls=VaultCommand)
@click.argument("client", metavar="CLIENT", type=click.Choice(list(CLIENTS)))
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
    """Connect CLIENT to this vault's memory.

    CLIENT is claude-desktop, claude-code, cursor, vscode, windsurf, zed, codex or gemini-cli.
    Without --write the change is only shown. Everything else in the file stays. Claude Code keeps
    your own servers in ~/.claude.json; deny rules, and hooks where they are asked for, come into
    .claude/settings.local.json. No team shares either; with --file .mcp.json the server is shared.
    """
    if hooked and client != "claude-code":
        raise click.BadParameter(f"only claude-code has hooks: leave it out for {client}",
                                 param_hint="--hooks")  # fmt: skip
    kind, config = CLIENTS[client], settings.config
    path = (file or clients.config_file(kind)).absolute()
    entry = clients.server_entry(config, settings.values.get("state_dir") or "")
    if path.suffix == ".toml":
        _show_lines(settings, path, entry, remove=remove)
        return
    is_code = client == "claude-code"
    server = None if remove and hooked else _server_change(kind, path, config, entry, remove=remove)
    code = _code_change(server, path, config, remove=remove,
                        entry=entry if hooked else None) if is_code else None  # fmt: skip
    both = [one for one in (code.change if code else None, server) if one is not None]
    changes = [one for one in both if one.needed]
    now = datetime.now().astimezone()
    backups = {one.path: apply(one, now) for one in changes} if write else {}
    if settings.json:
        print_json(_result(server, code, clients.entry_name(config), backups))
        return
    if code and code.change.after:
        say(RULES.format(hooks=HOOKS if code.hooks else ""))
    for change in both:
        _show(change)
    _tell(changes, backups)
    if remove:
        return
    if not is_code:
        aside(NO_RULES.format(title=kind.title))
    identity = VaultPaths(config.vault, config.memory_dir).identity(config.agent)
    if not (config.vault / identity).exists():
        make = ["init"] if config.agent == "main" else ["agents", "new", config.agent]
        program = shlex.join([*make, "--vault", str(config.vault)])
        aside(NO_AGENT.format(agent=config.agent, program=f"{clients.program_words()} {program}"))


def _server_change(
    client: Client, path: Path, config: Config, entry: dict[str, Any], *, remove: bool
) -> Change:
    """Return the change that puts our entry in or takes it out; raise ConfigError if it cannot."""
    name, way = clients.entry_name(config), clients.way(client, path)

    def edit(content: dict[str, Any]) -> None:
        servers = member(content, way, {})
        if remove:
            servers.pop(name, None)
            prune(content, way)
        else:
            servers[name] = {**client.more, **entry}

    return changed(path, edit)


@dataclass(frozen=True, slots=True)
class _Code:
    """What is done to the settings of Claude Code."""

    change: Change
    rules: list[str]
    hooks: dict[str, str]
    """The commands of the hooks that are put in or taken out, by event."""


def _code_change(
    server: Change | None, path: Path, config: Config, *, remove: bool, entry: dict[str, Any] | None
) -> _Code:
    """Return what is to be done to the settings of Claude Code: its rules, and hooks if wanted."""
    target = claude_code.settings_file(path)
    hooks: dict[str, str] = {}
    rules: list[str] = []
    if remove:
        hooks = claude_code.our_hooks(read(target)[1], config)
    elif entry:
        hooks = claude_code.commands(config, entry, failures=claude_code.knows_failures())
    if server is not None:  # what other entries of ours need stays when this one goes
        left = json.loads(server.after or "{}") if remove else {}
        others = clients.our_vaults(CLIENTS["claude-code"], path, left).values()
        rules = [] if config.vault in others else claude_code.own_rules(config)
        rules += [] if others else claude_code.common_rules(config)

    def edit(content: dict[str, Any]) -> None:
        if remove:
            claude_code.take_out(content, config, rules)
        else:
            claude_code.put_in(content, config, rules, hooks)

    return _Code(changed(target, edit), rules, hooks)


def _show_lines(settings: Settings, path: Path, entry: dict[str, Any], *, remove: bool) -> None:
    """Show the lines of a TOML file, which the person puts in or takes out: we edit none."""
    name = clients.entry_name(settings.config)
    quoted = {key: json.dumps(entry[key], ensure_ascii=False) for key in ("command", "args")}
    lines = [f"[mcp_servers.{name}]", *(f"{key} = {value}" for key, value in quoted.items())]
    env = [f"{key} = {json.dumps(value)}" for key, value in entry.get("env", {}).items()]
    lines += [f"env = {{ {', '.join(env)} }}"] if env else []
    text = "\n".join(lines) + "\n"
    if settings.json:
        same = {"changed": False, "backup": "", "rules": None, "hooks": {}}
        print_json({"path": str(path), "name": name, "content": text, **same})
    else:
        say(f"{'Take these lines out of' if remove else 'Add these lines to'} {path}:\n\n{text}")


def _result(
    server: Change | None, code: _Code | None, name: str, backups: dict[Path, Path | None]
) -> dict[str, Any]:
    def of(change: Change) -> dict[str, Any]:
        return {
            "path": str(change.path),
            "changed": change.path in backups,
            "backup": str(backups.get(change.path) or ""),
            "content": change.after or "",
        }

    rules = {**of(code.change), "deny": code.rules} if code else None
    return {"name": name, **(of(server) if server else {}), "rules": rules,
            "hooks": code.hooks if code else {}}  # fmt: skip


def _tell(changes: list[Change], backups: dict[Path, Path | None]) -> None:
    if changes and not backups:
        deeds = [f"{'change' if one.after else 'remove'} {one.path}" for one in changes]
        say(f"\nThat would {' and '.join(deeds)}. Add --write to do it.")
    for path, backup in backups.items():
        was = f"; as it was before: {backup}" if backup else ""
        say(f"\n{bold('Written:' if path.exists() else 'Removed:')} {path}{was}")
    if backups:
        say("Restart the client.")


def _show(change: Change) -> None:
    if not change.needed:
        say(f"Nothing to change in {change.path}.")
        return
    before, after = (change.before or "").splitlines(), (change.after or "").splitlines()
    now, then = f"{change.path} now", f"{change.path} then"
    for line in difflib.unified_diff(before, after, now, then, lineterm="", n=2):
        say(click.style(line, fg=COLOURS.get(line[:1])))
