"""What Claude Code gets besides the server: rules that keep an agent off the memory, and hooks.

An agent with tools for files and a shell could tick a suggestion, edit a brain or call this
program, which acts as the person. Deny rules in `.claude/settings.local.json` win over every
permission; they match what a call says, so they stop an agent that goes the usual way, not a
program that it writes and runs. Hooks stand there too: for each event a list of groups, each with
a list of commands. Ours are known by what they run, for which vault and which agent.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vaultmind.cli.jsonfile import member, prune
from vaultmind.client.hook import AFTER_FAILURE, AFTER_TOOL, BEFORE_TASK, CLIENT, EVENTS, TASK_TOOLS
from vaultmind.config import Config, user_config_path
from vaultmind.config.links import FOLDER
from vaultmind.errors import ConfigError
from vaultmind.session.uses import TOOLS

OWN_FILE = ".claude.json"
"""The file of Claude Code, in the home folder, that holds a person's own servers by project."""
DENY = ("permissions", "deny")
COMMANDS = ("vaultmind *", "*/bin/vaultmind *", "* -m vaultmind *")
"""The command line, however it is called: it is the person's. An agent has the tools."""
TIMEOUT_SECONDS = 10
"""After which Claude Code ends a hook; ours ends itself long before."""
MATCHERS = {BEFORE_TASK: TASK_TOOLS, AFTER_TOOL: TOOLS, AFTER_FAILURE: ("Bash",)}
"""The tools that an event is about, where it is about tools."""


def settings_file(servers: Path) -> Path:
    """Return where Claude Code keeps a person's own settings for the project of a server."""
    project = Path.cwd() if servers.name == OWN_FILE else servers.parent
    return project / ".claude" / "settings.local.json"


def rules(config: Config, others: Sequence[Path] = ()) -> list[str]:
    """Return the deny rules for a vault: nothing of its memory folder is edited past the gate.

    The others are what all vaults share: the state folder holds what the person allowed; the
    configuration, who may be asked; the links, which folders are read. They are left out where
    `others`, the vaults of other entries of ours, need them, too.
    """
    own = [] if config.vault in others else [_edit(config.vault / config.memory_dir, "/**")]
    if others:
        return own
    mine = user_config_path(os.environ).absolute()
    own += [_edit(config.state_dir.parent, "/**"), _edit(mine), _edit(mine.parent / FOLDER, "/**")]
    return [*own, *(f"Bash({command})" for command in COMMANDS)]


def _edit(path: Path, below: str = "") -> str:
    """Return the rule against editing a path: `//` begins an absolute one, names are globs."""
    plain = re.sub(r"([\\*?\[\]])", r"\\\1", path.as_posix())
    return f"Edit(/{plain}{below})"


def commands(config: Config, server: Mapping[str, Any]) -> dict[str, str]:
    """Return the shell command of each event, made of what starts our server.

    It names vault, agent and state folder, so that a hook need read no configuration.
    """
    words = [str(server["command"]), *map(str, server["args"])]
    if "--state-dir" not in words:
        words += ["--state-dir", str(config.state_dir.parent)]
    at = len(words) - 1 - words[::-1].index("mcp")
    settings = [f"{name}={value}" for name, value in (server.get("env") or {}).items()]
    before = ["env", *settings, *words[:at]] if settings else words[:at]
    after = words[at + 1 :]
    return {event: shlex.join([*before, "hook", CLIENT, event, *after]) for event in EVENTS}


def put_in(
    content: dict[str, Any], config: Config, deny: Sequence[str], ours: Mapping[str, str]
) -> None:
    """Put rules, and hooks (by event) in place of earlier ones of ours, into settings."""
    if deny:
        held = member(content, DENY, [])
        held += [rule for rule in deny if rule not in held]
    if ours and hooks_by_agent(content, config).get(config.agent) != ours:
        take_out(content, config, ())
        for event, command in ours.items():
            matcher = {"matcher": "|".join(MATCHERS[event])} if event in MATCHERS else {}
            inner = {"type": "command", "command": command, "timeout": TIMEOUT_SECONDS}
            member(content, ("hooks", event), []).append({**matcher, "hooks": [inner]})


def take_out(content: dict[str, Any], config: Config, deny: Sequence[str]) -> None:
    """Take rules and our hooks out of settings, and what they leave empty."""
    if deny and "permissions" in content:
        held = member(content, DENY, [])
        held[:] = [rule for rule in held if rule not in deny]
        prune(content, DENY)
    for event, command in hooks_by_agent(content, config).get(config.agent, {}).items():
        groups = content["hooks"][event]
        groups[:] = [group for group in groups if shlex.join(_words(group)) != command]
        prune(content, ("hooks", event))


def hooks_by_agent(content: dict[str, Any], config: Config) -> dict[str, dict[str, str]]:
    """Return the commands of our hooks for a vault, by agent and event."""
    by_event = content.get("hooks", {})
    lists = by_event.values() if isinstance(by_event, dict) else [None]
    if not all(isinstance(one, list) for one in lists):
        raise ConfigError("'hooks' in the settings hold no lists by event.")
    found: dict[str, dict[str, str]] = {}
    for event, groups in by_event.items():
        for words in filter(None, map(_words, groups)):
            if _after("--vault", words) == str(config.vault):
                found.setdefault(_after("--agent", words), {})[event] = shlex.join(words)
    return found


def _words(group: object) -> list[str]:
    """Return the words of a group's command if it runs one of our hooks alone; else nothing."""
    inner = group.get("hooks") if isinstance(group, dict) else None
    alone = inner[0] if isinstance(inner, list) and len(inner) == 1 else None
    try:
        words = shlex.split(str(alone["command"])) if isinstance(alone, dict) else []
    except (KeyError, ValueError):
        return []
    return words if _after("hook", words) == CLIENT else []


def _after(option: str, words: Sequence[str]) -> str:
    """Return the word that follows another; empty where there is none."""
    return words[words.index(option) + 1] if option in words[:-1] else ""
