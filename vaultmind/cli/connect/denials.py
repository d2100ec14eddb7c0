"""Deny rules for Claude Code: what an agent there may not do past the gate.

An agent with tools for files and a shell could tick a suggestion, edit a brain or call this
program, which acts as the person. Claude Code lets a person forbid single tool calls in
`.claude/settings.local.json`; a rule there wins over every permission. Rules match what a call
says: they stop an agent that goes the usual way, not a program that it writes and runs.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from vaultmind.cli.connect.jsonfile import Change, parse, read
from vaultmind.cli.connect.jsontext import dumped, with_items, without_items, without_member
from vaultmind.config import Config, state_folder, user_config_path
from vaultmind.config.links import FOLDER
from vaultmind.errors import ConfigError

WAY = ("permissions", "deny")
OWN_FILE = ".claude.json"
"""The file of Claude Code, in the home folder, that holds a person's own servers by project."""
CONFIG_VARIABLE = "VAULTMIND_CONFIG"
STATE_DIR = "--state-dir"
COMMANDS = ("vaultmind *", "*/bin/vaultmind *", "* -m vaultmind *")
"""The command line, however it is called: it is the person's. An agent has the tools."""
_GLOB = re.compile(r"([\\*?\[\]])")


def settings_file(servers: Path) -> Path:
    """Return where Claude Code keeps a person's own settings for the project of a server."""
    return _project(servers) / ".claude" / "settings.local.json"


def shared_settings(servers: Path) -> Path:
    """Return where Claude Code keeps what a team shares; earlier versions wrote there."""
    return _project(servers) / ".claude" / "settings.json"


def _project(servers: Path) -> Path:
    return Path.cwd() if servers.name == OWN_FILE else servers.parent


def own_rules(config: Config) -> tuple[str, ...]:
    """Return the rules for one vault: nothing of its memory folder is edited past the gate."""
    return (_edit(config.vault / config.memory_dir, "/**"),)


def common_rules(config: Config, env: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the rules that all vaults share: state, configuration, the command line.

    The state folder holds what the person allowed; the configuration, who may be asked; the links,
    which folders are read.
    """
    mine = user_config_path(os.environ if env is None else env).absolute()
    links = mine.parent / FOLDER
    files = (_edit(config.state_dir.parent, "/**"), _edit(mine), _edit(links, "/**"))
    return (*files, *(f"Bash({command})" for command in COMMANDS))


def former_rules(
    settings: Iterable[Path], config: Config, entry: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the shared rules that came with a server's entry, and those of today that are there.

    The entry may name another configuration file or state folder than the ones in use now.
    """
    if not entry:
        return ()
    env = {name: one for name, one in os.environ.items() if name != CONFIG_VARIABLE}
    env |= {name: str(one) for name, one in dict(entry.get("env") or {}).items()}
    args = [str(one) for one in entry.get("args") or ()]
    named = args[args.index(STATE_DIR) + 1 :][:1] if STATE_DIR in args else []
    root = Path(named[0]) if named else None
    then = common_rules(replace(config, state_dir=state_folder(config.vault, root)), env)
    there: set[str] = set()
    for path in settings:
        with suppress(ConfigError):
            there.update(denied(path, read(path) or ""))
    now = common_rules(config)
    return (*then, *(rule for rule in now if rule in there and rule not in then))


def by_hand(rules: Sequence[str]) -> str:
    """Return what a person adds to their settings, as JSON."""
    return json.dumps({"permissions": {"deny": list(rules)}}, ensure_ascii=False, indent=2)


def with_rules(path: Path, before: str, rules: Sequence[str]) -> str:
    """Return a settings file's text with rules in it; every other byte stays where it can.

    Raises ConfigError for a text that holds no such settings.
    """
    content = parse(path, before)
    there = _list(path, content)
    new = [rule for rule in rules if rule not in there]
    if not new:
        return before
    permissions = content.get("permissions", {}) | {"deny": [*there, *new]}
    wanted = content | {"permissions": permissions}
    with suppress(ValueError):
        after = with_items(before, WAY, new)
        if parse(path, after) == wanted:
            return after
    return dumped(wanted, before)


def without_rules(path: Path, before: str, rules: Sequence[str]) -> str:
    """Return a settings file's text without rules, and nothing else changed.

    Raises ConfigError for a text that holds no such settings.
    """
    content = parse(path, before)
    there = _list(path, content)
    left = [rule for rule in there if rule not in rules]
    if left == there:
        return before
    permissions = {**content["permissions"], "deny": left}
    way: tuple[str, ...] = ()
    if not left:
        del permissions["deny"]
        way = WAY if permissions else WAY[:1]
    wanted = {**content, "permissions": permissions}
    if not permissions:
        del wanted["permissions"]
    with suppress(ValueError):
        after = without_member(before, way) if way else without_items(before, WAY, rules)
        if parse(path, after) == wanted:
            return after
    return dumped(wanted, before)


def tidy(change: Change) -> None:
    """Remove the folder of a settings file that went, if nothing else is in it."""
    if change.needed and change.after is None:
        with suppress(OSError):
            change.path.parent.rmdir()


def missing_rules(servers: Path, rules: Iterable[str]) -> list[str]:
    """Return those rules that no settings of Claude Code hold, which count for a project."""
    home = shared_settings(Path.home() / ".mcp.json")
    files = (settings_file(servers), shared_settings(servers), home)
    there: set[str] = set()
    for path in files:
        with suppress(ConfigError):
            there |= set(denied(path, read(path) or ""))
    return [rule for rule in rules if rule not in there]


def denied(path: Path, text: str) -> list[str]:
    """Return the deny rules of a settings file's text. Raises ConfigError."""
    return _list(path, parse(path, text))


def _edit(path: Path, below: str = "") -> str:
    """Return the rule against editing a path: `//` begins an absolute one, names are globs."""
    drive, rest = path.drive, path.as_posix()
    if drive:  # C:/Users is matched as /c/Users
        rest = f"/{drive[0].lower()}{rest[len(drive) :]}"
    plain = _GLOB.sub(r"\\\1", rest)
    return f"Edit(/{plain}{below})"


def _list(path: Path, content: Mapping[str, Any]) -> list[str]:
    permissions = content.get("permissions", {})
    rules = permissions.get("deny", []) if isinstance(permissions, dict) else None
    if not isinstance(rules, list):
        raise ConfigError(f"'permissions' in {path} hold no list of 'deny'.")
    return rules
