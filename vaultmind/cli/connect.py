"""`vaultmind connect`: put the memory into a client's configuration, and take it out again."""

from __future__ import annotations

import difflib
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from vaultmind.cli import claude_code
from vaultmind.cli.jsonfile import Change, changed, member, prune, read
from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.terminal import aside, bold, print_json, say
from vaultmind.client.hook import AFTER_FAILURE, EVENTS, LOG
from vaultmind.config import Config
from vaultmind.errors import ConfigError
from vaultmind.plural import counted
from vaultmind.session import spool
from vaultmind.vault.paths import VaultPaths

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
    "claude-code": Client(
        "Claude Code", f"~/{claude_code.OWN_FILE}", home=("CLAUDE_CONFIG_DIR", "~")
    ),
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
    if path.name == claude_code.OWN_FILE:
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
        rules = claude_code.rules(config, others) if changes else []
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
    target = claude_code.settings_file(path)
    if remove:
        hooks = claude_code.hooks_by_agent(read(target)[1], config).get(config.agent, {})
        return hooks, changed(target, lambda held: claude_code.take_out(held, config, rules))
    hooks = claude_code.commands(config, entry) if entry else {}
    return hooks, changed(target, lambda held: claude_code.put_in(held, config, rules, hooks))


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
    own = claude_code.settings_file(path)
    settings = read(own)[1]
    denied = member(settings, claude_code.DENY, [])
    missing = ", ".join(rule for rule in claude_code.rules(config) if rule not in denied)
    if missing and ours:
        what = f"Claude Code may edit the memory past VaultMind: no {missing}."
        yield f"{name} rules", "warn", what, f"{again}, or leave it so."
    for agent, hooks in claude_code.hooks_by_agent(settings, config).items():
        lacking = [one for one in EVENTS if one not in hooks and one != AFTER_FAILURE]
        wrong = f"has no hook for {', '.join(lacking)}" if lacking else ""
        mend = f"{again} with --hooks --agent {agent}."
        well = f"Conversations here are written down for {agent}."
        yield f"{name} hooks", *(("fail", f"{own} {wrong}.", mend) if wrong else ("ok", well, ""))
