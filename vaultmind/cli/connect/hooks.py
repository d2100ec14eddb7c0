"""Hooks for Claude Code: what it runs at certain moments, so that a conversation is remembered.

They stand in `.claude/settings.local.json` as `hooks`: for each event a list of groups, each with a
list of commands. Ours are known by what they run, for which vault and which agent; a person's own
are never touched.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaultmind.cli.connect.jsonfile import parse, read
from vaultmind.cli.connect.jsontext import dumped, with_element, without_elements, without_member
from vaultmind.client.hook import AFTER_FAILURE, AFTER_TOOL, BEFORE_TASK, CLIENT, EVENTS, TASK_TOOLS
from vaultmind.config import Config
from vaultmind.errors import ConfigError
from vaultmind.session.capture.uses import TOOLS

HOOKS = "hooks"
TIMEOUT_SECONDS = 10
"""After which Claude Code ends a hook; ours ends itself long before."""
STATE_DIR = "--state-dir"
MATCHERS = {BEFORE_TASK: TASK_TOOLS, AFTER_TOOL: TOOLS, AFTER_FAILURE: ("Bash",)}
"""The tools that an event is about, where it is about tools."""
KNOWS_FAILURES = (2, 1, 20)
"""The version of Claude Code from which on it surely knows the event of a tool that failed. One
that does not know an event skips the whole settings file, deny rules and all."""
VERSION_SECONDS = 10.0
Groups = dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class _Hook:
    """What a command of ours does."""

    vault: Path
    agent: str
    program: str
    state_dir: str
    """As it is written; empty where none is named."""


def commands(
    config: Config, server: Mapping[str, Any], *, failures: bool = False
) -> dict[str, str]:
    """Return the shell command of each event, made of what starts our server.

    It names vault, agent and state folder, so that a hook need read no configuration. `failures`
    says that the event of a tool that failed is known to the host.
    """
    words = [str(server["command"]), *map(str, server["args"])]
    if STATE_DIR not in words:
        words += [STATE_DIR, str(config.state_dir.parent)]
    at = len(words) - 1 - words[::-1].index("mcp")
    settings = [f"{name}={value}" for name, value in (server.get("env") or {}).items()]
    before = ["env", *settings] if settings else []
    return {
        event: shlex.join([*before, *words[:at], "hook", CLIENT, event, *words[at + 1 :]])
        for event in EVENTS
        if failures or event != AFTER_FAILURE
    }


def knows_failures() -> bool:
    """Tell whether the Claude Code that is installed here knows the event of a tool that failed."""
    program = shutil.which("claude")
    if program is None:
        return False
    try:
        done = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=VERSION_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError):
        return False
    found = re.match(r"\s*(\d+)\.(\d+)\.(\d+)", done.stdout)
    return found is not None and tuple(map(int, found.groups())) >= KNOWS_FAILURES


def with_hooks(path: Path, text: str, ours: Mapping[str, str], config: Config) -> str:
    """Return a settings file's text with our hooks in it, in the place of earlier ones of ours.

    Raises ConfigError for a text that holds no such settings.
    """
    if _present(path, text, config) == dict(ours):
        return text
    text = without_hooks(path, text, config)
    for event, command in ours.items():
        group = _group(event, command)
        content = parse(path, text)
        groups = _groups(path, content)
        wanted = content | {HOOKS: groups | {event: [*groups.get(event, []), group]}}
        after = dumped(wanted, text)
        with suppress(ValueError):
            edited = with_element(text, (HOOKS, event), group)
            after = edited if parse(path, edited) == wanted else after
        text = after
    return text


def without_hooks(path: Path, text: str, config: Config) -> str:
    """Return a settings file's text without our hooks for a vault and an agent.

    Raises ConfigError for a text that holds no such settings.
    """
    for event in list(_groups(path, parse(path, text))):
        groups = _groups(path, parse(path, text))[event]
        places = [n for n, group in enumerate(groups) if _is_ours(group, config)]
        if places:
            text = _without(path, text, event, places)
    return text


def by_hand(ours: Mapping[str, str]) -> str:
    """Return what a person adds to their settings, as JSON."""
    hooks = {event: [_group(event, command)] for event, command in ours.items()}
    return json.dumps({HOOKS: hooks}, ensure_ascii=False, indent=2)


def is_hooked(path: Path, text: str, config: Config) -> bool:
    """Tell whether our hooks for a vault and an agent are in a settings file's text."""
    return bool(_present(path, text, config))


def served(path: Path, text: str, config: Config) -> tuple[set[str], set[str], set[str]]:
    """Return the agents whose hooks for a vault a text holds, and what is not as it should be.

    That is the programs that are not to be found, and the state folders that are not the vault's.
    """
    everything = (
        _hook(command)
        for groups in _groups(path, parse(path, text)).values()
        for group in groups
        for command in _commands(group)
    )
    ours = [one for one in everything if one is not None and one.vault == config.vault]
    gone = {one.program for one in ours if shutil.which(one.program) is None}
    roots = {one.state_dir for one in ours if one.state_dir}
    moved = {one for one in roots if Path(one).expanduser() != config.state_dir.parent}
    return {one.agent for one in ours}, gone, moved


def commands_in(path: Path, config: Config) -> dict[str, str]:
    """Return the commands of our hooks in a settings file; none where it cannot be read."""
    with suppress(ConfigError):
        return _present(path, read(path) or "", config)
    return {}


def lacking(path: Path, text: str, config: Config) -> tuple[str, ...]:
    """Return the events for which a text holds no hook of ours, where it holds any."""
    there = _present(path, text, config)
    needed = (event for event in EVENTS if event != AFTER_FAILURE)
    return tuple(event for event in needed if there and event not in there)


def _group(event: str, command: str) -> dict[str, Any]:
    """Return the group of one event, for the tools that it is about."""
    matcher = {"matcher": "|".join(MATCHERS[event])} if event in MATCHERS else {}
    inner = [{"type": "command", "command": command, "timeout": TIMEOUT_SECONDS}]
    return {**matcher, "hooks": inner}


def _present(path: Path, text: str, config: Config) -> dict[str, str]:
    """Return the commands of our hooks that a text holds, by event."""
    return {
        event: command
        for event, groups in _groups(path, parse(path, text)).items()
        for group in groups
        if _is_ours(group, config)
        for command in _commands(group)
    }


def _without(path: Path, text: str, event: str, places: list[int]) -> str:
    """Return a text without some groups of an event, and without what they leave empty."""
    content = parse(path, text)
    groups = _groups(path, content)
    left = [group for n, group in enumerate(groups[event]) if n not in places]
    hooks = groups | {event: left}
    way: tuple[str, ...] = ()
    if not left:
        del hooks[event]
        way = (HOOKS, event) if hooks else (HOOKS,)
    wanted = content | {HOOKS: hooks}
    if not hooks:
        del wanted[HOOKS]
    with suppress(ValueError):
        key = (HOOKS, event)
        after = without_member(text, way) if way else without_elements(text, key, places)
        if parse(path, after) == wanted:
            return after
    return dumped(wanted, text)


def _groups(path: Path, content: Mapping[str, Any]) -> Groups:
    hooks = content.get(HOOKS, {})
    if not isinstance(hooks, dict) or not all(isinstance(one, list) for one in hooks.values()):
        raise ConfigError(f"{HOOKS!r} in {path} hold no lists by event.")
    return hooks


def _is_ours(group: object, config: Config) -> bool:
    """Tell whether a group runs nothing but our hook for this vault and agent."""
    found = list(_commands(group))
    return bool(found) and all(_serves(command, config) for command in found)


def _commands(group: object) -> Iterator[str]:
    inner = group.get("hooks") if isinstance(group, dict) else None
    for one in inner if isinstance(inner, list) else ():
        yield str(one.get("command") or "") if isinstance(one, dict) else ""


def _serves(command: str, config: Config) -> bool:
    found = _hook(command)
    return found is not None and (found.vault, found.agent) == (config.vault, config.agent)


def _hook(command: str) -> _Hook | None:
    """Return what a command of ours does; None for any other."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if not {"hook", CLIENT, "--vault", "--agent"} <= set(words[:-1]):
        return None
    vault, agent = (words[words.index(name) + 1] for name in ("--vault", "--agent"))
    program = next(one for one in words if one != "env" and "=" not in one)
    named = words[words.index(STATE_DIR) + 1] if STATE_DIR in words[:-1] else ""
    return _Hook(Path(vault).expanduser().resolve(), agent, program, named)
