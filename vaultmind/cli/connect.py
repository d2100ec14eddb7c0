"""`vaultmind connect`: put the memory into a client's configuration, and take it out again.

A client's JSON file is read, edited as an object and written with a backup. Claude Code gets more:
an agent with tools for files and a shell could tick a suggestion, edit a brain or call this
program, which acts as the person. Deny rules in `.claude/settings.local.json` win over every
permission; they match what a call says, so they stop an agent that goes the usual way, not a
program that it writes and runs. Hooks stand there too: for each event a list of groups, each with
a list of commands. Ours are known by what they run, for which vault and which agent.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import click

from vaultmind.cli.options import Answer, Settings, aside, bold, pass_settings
from vaultmind.client import hook
from vaultmind.config import Config, user_config_path
from vaultmind.config.links import FOLDER
from vaultmind.errors import ConfigError
from vaultmind.jsonfile import Content, change, member, prune, read
from vaultmind.session.uses import TOOLS

SERVERS = "mcpServers"
OWN_FILE = ".claude.json"
"""The file of Claude Code, in the home folder, that holds a person's own servers by project."""
LOCAL = ".claude/settings.local.json"
"""A person's own settings of Claude Code for a project."""
DENY = ("permissions", "deny")
COMMANDS = ("vaultmind *", "*/bin/vaultmind *", "* -m vaultmind *")
"""The command line, however it is called: it is the person's. An agent has the tools."""
TIMEOUT_SECONDS = 10
"""After which Claude Code ends a hook; ours ends itself long before."""
MATCHERS = {
    hook.BEFORE_TASK: hook.TASK_TOOLS, hook.AFTER_TOOL: TOOLS, hook.AFTER_FAILURE: ("Bash",)
}  # fmt: skip
"""The tools that an event is about, where it is about tools."""
NO_RULES = """\
{title} has no deny rules: tools that edit files or run commands could change the memory directly
and approve suggestions in your place."""


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

    def way(self, path: Path) -> tuple[str, ...]:
        """Return the keys that lead to the servers in a file; Claude Code's stand by project."""
        return ("projects", str(Path.cwd()), SERVERS) if path.name == OWN_FILE else (self.key,)


CLIENTS = {
    "claude-desktop": Client("Claude Desktop", "{config}/Claude/claude_desktop_config.json"),
    "claude-code": Client("Claude Code", f"~/{OWN_FILE}"),
    "cursor": Client("Cursor", "~/.cursor/mcp.json"),
    "vscode": Client("VS Code", "{config}/Code/User/mcp.json", "servers", {"type": "stdio"}),
    "windsurf": Client("Windsurf", "~/.codeium/windsurf/mcp_config.json"),
    "zed": Client("Zed", "{xdg}/zed/settings.json", "context_servers", {"source": "custom"}),
    "codex": Client("Codex", "~/.codex/config.toml"),
    "gemini-cli": Client("Gemini CLI", "~/.gemini/settings.json"),
}


def config_file(client: Client, platform: str = sys.platform) -> Path:
    """Return where a client keeps its servers on this system."""
    xdg = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    config = "~/Library/Application Support" if platform == "darwin" else xdg
    return Path(client.path.format(config=config, xdg=xdg)).expanduser()


# --- our entry ----------------------------------------------------------------------------


def our_program() -> list[str]:
    """Return the words that run this program from anywhere."""
    script = Path(sys.executable).with_name("vaultmind")
    found = str(script) if script.exists() else shutil.which("vaultmind")
    return [found] if found else [sys.executable, "-m", "vaultmind"]


def program_words() -> str:
    """Return how a person calls this program from here: by name only where the shell finds it."""
    words = our_program()
    return "vaultmind" if shutil.which("vaultmind") == words[0] else shlex.join(words)


def server_entry(config: Config, state_dir: str = "") -> Content:
    """Return what starts our pipe for this vault and agent, with absolute paths.

    A client has neither this shell's flags nor its environment: a state folder or configuration
    file that was named here (`state_dir`, VAULTMIND_STATE_DIR, VAULTMIND_CONFIG) goes along, or
    the client would start a second daemon on the vault.
    """
    command, *args = our_program()
    args += ["mcp", "--vault", str(config.vault), "--agent", config.agent]
    if state_dir or os.environ.get("VAULTMIND_STATE_DIR"):
        args += ["--state-dir", str(config.state_dir.parent)]
    entry: Content = {"command": command, "args": args}
    if file := os.environ.get("VAULTMIND_CONFIG"):
        entry["env"] = {"VAULTMIND_CONFIG": str(Path(file).expanduser().absolute())}
    return entry


def our_vaults(servers: Content) -> dict[str, Path]:
    """Return the vault of each of our entries among a client's servers, by the entry's name."""
    found = {}
    for name, entry in servers.items():
        args = entry.get("args") if isinstance(entry, dict) else None
        if isinstance(args, list) and "mcp" in args and "--vault" in args[:-1]:
            vault = str(args[args.index("--vault") + 1])
            found[name] = Path(vault).expanduser().resolve()
    return found


# --- what Claude Code gets besides --------------------------------------------------------


def _kept_from_git(project: Path) -> None:
    """Have git overlook a project's local settings, in the list that is never shared."""
    exclude, line = project / ".git" / "info" / "exclude", f"{LOCAL}*"
    if (project / ".git").is_dir():
        before = exclude.read_text("utf-8") if exclude.is_file() else ""
        if line not in before.splitlines():
            exclude.parent.mkdir(exist_ok=True)
            exclude.write_text(f"{before.rstrip()}\n{line}\n".lstrip(), "utf-8")


def settings_file(servers: Path) -> Path:
    """Return where Claude Code keeps a person's own settings for the project of a server."""
    project = Path.cwd() if servers.name == OWN_FILE else servers.parent
    return project / LOCAL


def deny_rules(config: Config) -> list[str]:
    """Return the deny rules for a vault: nothing of its memory folder is edited past the gate.

    Nor what all vaults share: the state folder holds what the person allowed; the configuration,
    who may be asked; the links, which folders are read.
    """
    mine = user_config_path(os.environ).absolute()
    memory, state = config.vault / config.memory_dir, config.state_dir.parent
    own = [memory / "**", state / "**", mine, mine.parent / FOLDER / "**"]
    # `//` begins an absolute path, and the names in it are globs
    plain = [re.sub(r"([\\?\[\]]|\*(?!\*?$))", r"\\\1", path.as_posix()) for path in own]
    return [f"Edit(/{path})" for path in plain] + [f"Bash({command})" for command in COMMANDS]


def hook_commands(config: Config, server: Content) -> dict[str, str]:
    """Return the shell command of each event, made of what starts our server.

    It names vault, agent and state folder, so that a hook need read no configuration.
    """
    words = [server["command"], *server["args"]]
    if "--state-dir" not in words:
        words += ["--state-dir", str(config.state_dir.parent)]
    at = words.index("mcp")
    settings = [f"{name}={value}" for name, value in server.get("env", {}).items()]
    before = [*(["env", *settings] if settings else []), *words[:at], "hook", hook.CLIENT]
    return {one: shlex.join([*before, one, *words[at + 1 :]]) for one in hook.EVENTS}


def is_ours(event: str, config: Config, group: object) -> bool:
    """Tell whether a group of an event's hooks holds ours for this vault and agent."""
    named = shlex.join(["--vault", str(config.vault), "--agent", config.agent])
    ours = json.dumps(f" hook {hook.CLIENT} {event} {named}", ensure_ascii=False)[1:-1]
    told = json.dumps(group, ensure_ascii=False)
    return f"{ours} " in told or f'{ours}"' in told


def settle(
    content: Content, config: Config, deny: list[str], hooks: Mapping[str, str], *, remove: bool
) -> None:
    """Put rules, and hooks (by event) in place of earlier ones of ours, into settings.

    With `remove` they and all our hooks are taken out, with what they leave empty.
    """

    def put(way: Sequence[str], old: Callable[[object], bool], ours: list[Any]) -> None:
        held = member(content, way, [])
        held[:] = [one for one in held if not old(one)] + ([] if remove else ours)
        prune(content, way)

    put(DENY, lambda rule: rule in deny, deny)
    for event in hook.EVENTS if hooks or remove else ():
        tools: Content = {"matcher": "|".join(MATCHERS[event])} if event in MATCHERS else {}
        ours = {"type": "command", "command": hooks.get(event), "timeout": TIMEOUT_SECONDS}
        put(("hooks", event), partial(is_ours, event, config), [{**tools, "hooks": [ours]}])


# --- the command --------------------------------------------------------------------------


@click.command(short_help="Connect Claude, Cursor, VS Code or another client.")
@click.argument("client", metavar="CLIENT", type=click.Choice(list(CLIENTS)))
@click.option("--write", is_flag=True, help="Write the change (keeps a backup).")
@click.option("--remove", is_flag=True, help="Remove the entry again (with --write).")
@click.option("--file", "file", type=click.Path(path_type=Path), metavar="FILE",
              help="Another configuration file.")  # fmt: skip
@click.option("--hooks", "hooked", is_flag=True, help="Claude Code: record conversations and "
              "recall; with --remove, remove only this.")  # fmt: skip
@click.option("--link/--no-link", default=None, help="With --hooks: link this folder, so that "
              "work in it is recorded. Default: ask.")  # fmt: skip
@pass_settings
def connect(
    settings: Settings, client: str, *, file: Path | None, link: bool | None, **how: bool
) -> None:
    """Connect CLIENT to this vault's memory.

    CLIENT is claude-desktop, claude-code, cursor, vscode, windsurf, zed, codex or gemini-cli.
    Without --write the change is only shown. Everything else in the file stays.

    For Claude Code the server goes into ~/.claude.json (--file .mcp.json shares it with a team),
    deny rules and hooks into .claude/settings.local.json.
    """
    is_code = client == "claude-code"
    write, remove, hooked = how["write"], how["remove"], how["hooked"]
    if hooked and not is_code:
        said = f"only claude-code has hooks, {client} has none"
        raise click.BadParameter(said, param_hint="--hooks")
    kind, config = CLIENTS[client], settings.config
    path = (file or config_file(kind)).absolute()
    name = "vaultmind" if config.agent == "main" else f"vaultmind-{config.agent}"
    entry = server_entry(config, settings.state_dir)
    if path.suffix == ".toml":
        env = [f"--env={key}={value}" for key, value in entry.get("env", {}).items()]
        words = ["codex", "mcp", "add", name, *env, "--", entry["command"], *entry["args"]]
        command = shlex.join(words)
        settings.tell(Answer({"name": name, "command": command}, f"Run this:\n{command}"))
        return

    def edit(content: Content) -> None:
        servers = member(content, kind.way(path), {})
        servers[name] = {**kind.more, **entry}
        if remove:
            del servers[name]
            prune(content, kind.way(path))

    edits = {} if remove and hooked else {path: edit}
    told: Content = {"rules": None, "hooks": {}}
    if is_code:
        there = our_vaults(member(read(path)[1], kind.way(path), {})).keys() - {name}
        rules = [] if remove and (hooked or there) else deny_rules(config)
        hooks, own = hook_commands(config, entry) if hooked else {}, settings_file(path)
        put = partial(settle, config=config, deny=rules, hooks=hooks, remove=remove)
        edits = {own: put, **edits}
        told = {"rules": {"path": str(own), "deny": rules}, "hooks": hooks}
    done = {str(one): change(one, how, write=write) for one, how in edits.items()}
    content = {one: text for one, (_, text, _) in done.items()}
    written = {one: backup for one, (_, _, backup) in done.items() if backup is not None}
    told = {"name": name, "path": str(path), "content": content, "written": written, **told}
    lines = [_changed(one, *what) for one, what in done.items()]
    if any(diff for diff, _, _ in done.values()):
        lines.append("Restart the client." if write else "Add --write to make this change.")
    settings.tell(Answer(told, "\n".join(lines)))
    if hooked and write and not remove:
        link_here(settings, link)
    if not (is_code or remove or settings.json):
        aside(NO_RULES.format(title=kind.title))


def _changed(path: str, diff: str, text: str, backup: str | None) -> str:
    """Return what became of a file, in words; git overlooks local settings that were written."""
    if backup is None:
        return diff or f"Nothing to change in {path}."
    if path.endswith(LOCAL):
        _kept_from_git(Path(path).parent.parent)
    was = f"; as it was before: {backup}" if backup else ""
    return f"{diff}\n\n{bold('Written:')} {path}{was}"


def link_here(settings: Settings, link: bool | None) -> None:
    """Link the folder of the project where the person wants it, and it is not linked yet."""
    here = Path.cwd()
    if link is False or here.is_relative_to(settings.config.vault):
        return
    if link is None and (settings.json or not sys.stdin.isatty()):
        aside(f"To record work in {here} too: vaultmind link {here}")
        return
    if any(here.is_relative_to(one["root"]) for one in settings.call("links")["sources"]):
        return
    if link or settings.confirms("Record work in this folder too? It will be read and indexed."):
        name = settings.call("link", {"path": str(here)})["name"]
        aside(f"Linked {here} as {name}; `vaultmind unlink {name}` undoes it.")


# --- what the doctor says of the clients --------------------------------------------------


def check_clients(config: Config) -> list[dict[str, str]]:
    """Return the doctor's checks of the clients' configurations, and of what hooks left."""
    told: list[tuple[str, ...]] = []
    for name, client in CLIENTS.items():
        path = config_file(client)
        try:
            told += _look(name, client, path, config) if path.suffix == ".json" else ()
        except ConfigError as error:
            told.append((name, "warn", error.message, "Fix it by hand."))
    if not told:
        what, mend = "No client is connected in this folder.", "To connect one: vaultmind connect"
        told = [("clients", "ok", what, mend)]
    if (log := config.state_dir / hook.LOG).exists():
        told.append(("claude-code hooks", "warn", f"A hook failed: see {log}.", "Then remove it."))
    return [dict(zip(("name", "result", "what", "mend"), one, strict=True)) for one in told]


def _look(name: str, client: Client, path: Path, config: Config) -> Iterator[tuple[str, ...]]:
    """Yield whether a client is connected and finds our program, and what its hooks lack."""
    again = f"Run `vaultmind connect {name} --write` again"
    servers = member(read(path)[1], client.way(path), {})
    for ours, vault in our_vaults(servers).items():
        program = str(servers[ours].get("command") or "")
        if vault == config.vault and shutil.which(program) is None:
            yield name, "fail", f"{path} starts a program that is missing ({program}).", f"{again}."
        elif vault == config.vault:
            yield name, "ok", f"Connected as {ours} in {path}.", ""
    own = settings_file(path)
    groups = partial(member, read(own)[1], empty=[])
    events = hook.EVENTS if name == "claude-code" else ()
    has = [it for it in events if any(is_ours(it, config, one) for one in groups(("hooks", it)))]
    lacking = [it for it in events if it not in has and it != hook.AFTER_FAILURE]
    if has and lacking:
        what, mend = f"{own} has no hook for {', '.join(lacking)}.", f"{again} with --hooks."
        yield f"{name} hooks", "fail", what, mend
