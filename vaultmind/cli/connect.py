"""`vaultmind connect`: put the memory into a client's configuration, and take it out again.

A client's JSON file is read, edited as an object and written with a backup. Claude Code gets more:
an agent with tools for files and a shell could tick a suggestion, edit a brain or call this
program, which acts as the person. Deny rules in `.claude/settings.local.json` win over every
permission; they match what a call says, so they stop an agent that goes the usual way, not a
program that it writes and runs. Hooks stand there too: for each event a list of groups, each with
a list of commands. Ours are known by what they run, for which vault and which agent.
"""

from __future__ import annotations

import copy
import difflib
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.terminal import aside, bold, print_json, say
from vaultmind.client.hook import (
    AFTER_FAILURE,
    AFTER_TOOL,
    BEFORE_TASK,
    CLIENT,
    EVENTS,
    LOG,
    TASK_TOOLS,
)
from vaultmind.config import Config, user_config_path
from vaultmind.config.links import FOLDER
from vaultmind.errors import ConfigError
from vaultmind.plural import counted
from vaultmind.session import spool
from vaultmind.session.uses import TOOLS
from vaultmind.vault.paths import VaultPaths

BACKUP = ".vaultmind-backup-"


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after; empty where there is none, or where it goes."""

    path: Path
    before: str
    after: str

    def write(self) -> Path | None:
        """Write it; return the backup of what was there, if anything was."""
        backup = None
        if self.before:
            now = f"{datetime.now().astimezone():%Y%m%d-%H%M%S-%f}"
            backup = self.path.with_name(f"{self.path.name}{BACKUP}{now}")
            shutil.copy2(self.path, backup)
        if self.after:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(self.after, "utf-8")  # through a dotfiles user's link
        else:
            self.path.resolve().unlink()
        return backup


def read(path: Path) -> tuple[str, dict[str, Any]]:
    """Return a file's text and the object in it, both empty where there is no file.

    Raises ConfigError for a file that holds no JSON object.
    """
    try:
        text = path.read_text("utf-8-sig")
        content = json.loads(text) if text.strip() else {}
    except FileNotFoundError:
        return "", {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} is not valid JSON: {error}.") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path} does not hold a JSON object.")
    return text, content


def changed(path: Path, edit: Callable[[dict[str, Any]], None]) -> Change:
    """Return the change that an edit of the object in a file makes; emptied, the file goes.

    Raises ConfigError for a file that cannot be edited, with what the edit would have put in.
    """
    try:
        before, content = read(path)
        after = copy.deepcopy(content)
        edit(after)
    except ConfigError as error:
        alone: dict[str, Any] = {}
        edit(alone)
        snippet = json.dumps(alone, ensure_ascii=False, indent=2)
        wanted = f"or add this by hand:\n{snippet}" if alone else "or take it out by hand."
        error.hint = f"It was left as it is. Mend it, {wanted}"
        raise
    if after == content:
        return Change(path, before, before)
    found = re.match(r"[\[{]\s*?\n([ \t]+)\S", before)
    text = json.dumps(after, ensure_ascii=False, indent=found[1] if found else 2)
    return Change(path, before, f"{text}\n" if after else "")


def member(content: dict[str, Any], way: Sequence[str], empty: Any) -> Any:  # noqa: ANN401
    """Return the object or list at the end of a way of keys, made (as `empty`) where it is missing.

    Raises ConfigError where something else stands there.
    """
    found: Any = content
    for number, key in enumerate(way, 1):
        kind = type(empty) if number == len(way) else dict
        found = found.setdefault(key, kind())
        if not isinstance(found, kind):
            raise ConfigError(f"{'.'.join(way[:number])!r} holds something else than expected.")
    return found


def prune(content: dict[str, Any], way: Sequence[str]) -> None:
    """Take out what is empty along a way of keys."""
    inner = content.get(way[0])
    if len(way) > 1 and isinstance(inner, dict):
        prune(inner, way[1:])
    if inner in ({}, []):
        del content[way[0]]


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


def deny_rules(config: Config, others: Sequence[Path] = ()) -> list[str]:
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


def hook_commands(config: Config, server: Mapping[str, Any]) -> dict[str, str]:
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


NO_RULES = (
    "{title} has no deny rules: if you also give it tools that edit files or run commands, "
    "they can change the memory past VaultMind, and approve in your place."
)
NO_AGENT = (
    "There is no agent {agent!r} in this vault yet: its conversations are kept, but it has no "
    "identity. Make it: {program}"
)
SERVERS = "mcpServers"
Check = dict[str, str]
"""`name`, `result` (ok, warn, fail), `what`, `mend`, as the doctor's JSON has them."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client and its configuration file."""

    title: str
    path: str
    """Its file: `~`, `{config}` (where this system keeps settings) or `{xdg}` and what follows."""
    key: str = SERVERS
    """The object in that file which holds the servers by name."""
    more: Mapping[str, str] = field(default_factory=dict)
    """What an entry needs besides command, arguments and environment."""
    home: tuple[str, str] = ("", "")
    """An environment variable that names another folder for the file, and the usual one."""


CLIENTS = {
    "claude-desktop": Client("Claude Desktop", "{config}/Claude/claude_desktop_config.json"),
    "claude-code": Client("Claude Code", f"~/{OWN_FILE}", home=("CLAUDE_CONFIG_DIR", "~")),
    "cursor": Client("Cursor", "~/.cursor/mcp.json"),
    "vscode": Client("VS Code", "{config}/Code/User/mcp.json", "servers", {"type": "stdio"}),
    "windsurf": Client("Windsurf", "~/.codeium/windsurf/mcp_config.json"),
    "zed": Client("Zed", "{xdg}/zed/settings.json", "context_servers", {"source": "custom"}),
    "codex": Client("Codex", "~/.codex/config.toml", home=("CODEX_HOME", "~/.codex")),
    "gemini-cli": Client("Gemini CLI", "~/.gemini/settings.json"),
}


def config_file(client: Client, platform: str = sys.platform) -> Path:
    """Return where a client keeps its servers on this system."""
    variable, usual = client.home
    if named := os.environ.get(variable):
        return Path(client.path.replace(usual, named, 1)).absolute()
    xdg = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    config = "~/Library/Application Support" if platform == "darwin" else xdg
    return Path(client.path.format(config=config, xdg=xdg)).expanduser()


def server_entry(
    config: Config, state_dir: str = "", env: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return what starts our pipe for this vault and agent, with absolute paths.

    A client has neither this shell's flags nor its environment: a state folder or configuration
    file that was named here (`state_dir`, VAULTMIND_STATE_DIR, VAULTMIND_CONFIG) goes along, or
    the client would start a second daemon on the vault.
    """
    env = os.environ if env is None else env
    args = ["mcp", "--vault", str(config.vault), "--agent", config.agent]
    if state_dir or env.get("VAULTMIND_STATE_DIR"):
        args += ["--state-dir", str(config.state_dir.parent)]
    command, *before = our_program()
    entry: dict[str, Any] = {"command": command, "args": [*before, *args]}
    if file := env.get("VAULTMIND_CONFIG"):
        entry["env"] = {"VAULTMIND_CONFIG": str(Path(file).expanduser().absolute())}
    return entry


def our_program() -> list[str]:
    """Return the words that run this program from anywhere."""
    script = Path(sys.executable).with_name("vaultmind")
    found = str(script) if script.exists() else shutil.which("vaultmind")
    return [found] if found else [sys.executable, "-m", "vaultmind"]


def program_words() -> str:
    """Return how a person calls this program from here: by name only where the shell finds it."""
    words, found = our_program(), shutil.which("vaultmind")
    if found and len(words) == 1 and Path(found).resolve() == Path(words[0]).resolve():
        return "vaultmind"
    return shlex.join(words)


def way(client: Client, path: Path) -> tuple[str, ...]:
    """Return the keys that lead to the servers in a file; Claude Code's own stand by project."""
    if path.name == OWN_FILE:
        return "projects", str(Path.cwd()), SERVERS
    return (client.key,)


def our_vaults(client: Client, path: Path, content: dict[str, Any]) -> dict[str, Path]:
    """Return the vault of each of our entries in a client's file, by the entry's name."""
    servers = member(content, way(client, path), {})
    lists = {name: entry.get("args") for name, entry in servers.items() if isinstance(entry, dict)}
    return {
        name: Path(str(args[args.index("--vault") + 1])).expanduser().resolve()
        for name, args in lists.items()
        if isinstance(args, list) and "mcp" in args and "--vault" in args[:-1]
    }


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
    path = (file or config_file(kind)).absolute()
    name = "vaultmind" if config.agent == "main" else f"vaultmind-{config.agent}"
    entry = server_entry(config, settings.named["state_dir"])
    if path.suffix == ".toml":
        _show_toml(settings, path, name, entry)
        return

    def edit(content: dict[str, Any]) -> None:
        servers = member(content, way(kind, path), {})
        if remove:
            servers.pop(name, None)
            prune(content, way(kind, path))
        else:
            servers[name] = {**kind.more, **entry}

    changes = [] if remove and hooked else [changed(path, edit)]
    more: dict[str, Any] = {"rules": None, "hooks": {}}
    if client == "claude-code":
        left = json.loads(changes[0].after or "{}") if remove and changes else {}
        others = list(our_vaults(kind, path, left).values())
        rules = deny_rules(config, others) if changes else []
        hooks, code = _code_change(path, config, rules, entry if hooked else None, remove=remove)
        changes.insert(0, code)
        more = {"rules": {"path": str(code.path), "deny": rules}, "hooks": hooks}
    wanted = [one for one in changes if one.before != one.after]
    backups = {one.path: one.write() for one in wanted} if write else {}
    if settings.json:
        content = {str(one.path): one.after for one in changes}
        saved = {str(one): str(backup or "") for one, backup in backups.items()}
        print_json({"name": name, "path": str(path), "content": content, "written": saved} | more)
        return
    _tell(changes, backups, write=write)
    if not remove:
        _warn(kind, config)


def _code_change(
    path: Path, config: Config, rules: list[str], entry: dict[str, Any] | None, *, remove: bool
) -> tuple[dict[str, str], Change]:
    """Return our hooks, put in for an entry or taken out, and the change of the settings."""
    target = settings_file(path)
    if remove:
        hooks = hooks_by_agent(read(target)[1], config).get(config.agent, {})
        return hooks, changed(target, lambda held: take_out(held, config, rules))
    hooks = hook_commands(config, entry) if entry else {}
    return hooks, changed(target, lambda held: put_in(held, config, rules, hooks))


def _warn(client: Client, config: Config) -> None:
    """Say what the client cannot do, and that an agent of its name is not there."""
    if client is not CLIENTS["claude-code"]:
        aside(NO_RULES.format(title=client.title))
    identity = VaultPaths(config.vault, config.memory_dir).identity(config.agent)
    if not (config.vault / identity).exists():
        make = ["init"] if config.agent == "main" else ["agents", "new", config.agent]
        program = f"{program_words()} {shlex.join([*make, '--vault', str(config.vault)])}"
        aside(NO_AGENT.format(agent=config.agent, program=program))


def _show_toml(settings: Settings, path: Path, name: str, entry: dict[str, Any]) -> None:
    """Show an entry as the lines of a TOML file, which the person edits: we edit none."""
    env = ", ".join(f"{key} = {json.dumps(one)}" for key, one in entry.get("env", {}).items())
    named = {key: json.dumps(entry[key], ensure_ascii=False) for key in ("command", "args")}
    named |= {"env": f"{{ {env} }}"} if env else {}
    lines = "\n".join([f"[mcp_servers.{name}]", *(f"{key} = {one}" for key, one in named.items())])
    if settings.json:
        print_json({"name": name, "path": str(path), "content": {str(path): lines}})
    else:
        say(f"These lines connect it, in {path}:\n\n{lines}")


def _tell(changes: list[Change], backups: dict[Path, Path | None], *, write: bool) -> None:
    for one in changes:
        now, then = f"{one.path} now", f"{one.path} then"
        texts = one.before.splitlines(), one.after.splitlines()
        lines = list(difflib.unified_diff(*texts, now, then, lineterm="", n=2))
        say("\n".join(lines) if lines else f"Nothing to change in {one.path}.")
    for path, backup in backups.items():
        was = f"; as it was before: {backup}" if backup else ""
        say(f"\n{bold('Written:' if path.exists() else 'Removed:')} {path}{was}")
    if any(one.before != one.after for one in changes):
        say("Restart the client." if write else "Add --write to do it.")


# --- what the doctor says of the clients --------------------------------------------------


def check_clients(config: Config) -> list[Check]:
    """Return the doctor's checks of the clients' configurations, and of what hooks left."""
    told: list[tuple[str, ...]] = []
    for name, client in CLIENTS.items():
        path = config_file(client)
        try:
            told += _look(name, client, path, config) if path.suffix == ".json" else ()
        except ConfigError as error:
            told.append((name, "warn", error.message, "Mend it by hand."))
    if not told:
        what, mend = "No client is connected to this vault.", "To connect one: vaultmind connect"
        told = [("clients", "ok", what, mend)]
    state = config.state_dir
    if waiting := spool.waiting(str(state)):
        what = f"{counted(len(waiting), 'event')} could not be told to the daemon in time."
        mend = f"The next hook makes up for it; {state / spool.NAME} holds what waits."
        told.append(("claude-code hooks", "warn", what, mend))
    log = state / LOG
    if failed := log.read_text("utf-8", "replace").splitlines() if log.exists() else []:
        what = f"{counted(len(failed), 'failure')} in {log}, the last: {failed[-1]}"
        mend = "Remove the file once you have seen to it."
        told.append(("claude-code hooks", "warn", what, mend))
    return [dict(zip(("name", "result", "what", "mend"), one, strict=True)) for one in told]


def _look(name: str, client: Client, path: Path, config: Config) -> Iterator[tuple[str, ...]]:
    """Yield whether a client is connected and finds our program, and what its hooks lack."""
    content, again = read(path)[1], f"Run `vaultmind connect {name} --write` again"
    vaults, servers = our_vaults(client, path, content), member(content, way(client, path), {})
    ours = [one for one, vault in vaults.items() if vault == config.vault]
    commands = [str(servers[one].get("command") or "") for one in ours]
    if gone := [one for one in commands if shutil.which(one) is None]:
        yield name, "fail", f"{path} starts what is not there ({', '.join(gone)}).", f"{again}."
    elif ours:
        yield name, "ok", f"Connected as {', '.join(ours)} in {path}.", ""
    if name != "claude-code":
        return
    own = settings_file(path)
    settings = read(own)[1]
    denied = member(settings, DENY, [])
    missing = ", ".join(rule for rule in deny_rules(config) if rule not in denied)
    if missing and ours:
        what = f"Claude Code may edit the memory past VaultMind: no {missing}."
        yield f"{name} rules", "warn", what, f"{again}, or leave it so."
    for agent, hooks in hooks_by_agent(settings, config).items():
        lacking = [one for one in EVENTS if one not in hooks and one != AFTER_FAILURE]
        wrong = f"has no hook for {', '.join(lacking)}" if lacking else ""
        mend = f"{again} with --hooks --agent {agent}."
        well = f"Conversations here are written down for {agent}."
        yield f"{name} hooks", *(("fail", f"{own} {wrong}.", mend) if wrong else ("ok", well, ""))
