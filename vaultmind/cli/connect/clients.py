"""Where MCP clients keep their configuration, and how our entry gets in and out of it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from vaultmind.cli.connect import denials, hooks
from vaultmind.cli.connect.jsonfile import Change, origins, parse, read
from vaultmind.cli.connect.jsontext import dumped, with_member, without_member
from vaultmind.client.hook import LOG, is_late_plan, is_late_start
from vaultmind.config import Config
from vaultmind.errors import ConfigError
from vaultmind.plural import counted
from vaultmind.session.capture import errands

ENTRY = "vaultmind"
"""Our name among a client's servers; an agent other than `main` gets its own."""
SERVERS = "mcpServers"


def desktop_config(env: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """Return where Claude Desktop keeps its configuration on this system."""
    env = os.environ if env is None else env
    home = Path(env.get("HOME") or Path.home())
    if platform == "darwin":
        base = home / "Library" / "Application Support"
    elif platform == "win32":
        base = Path(env.get("APPDATA") or home / "AppData" / "Roaming")
    else:
        base = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    return base / "Claude" / "claude_desktop_config.json"


def code_config() -> Path:
    """Return where Claude Code keeps a person's own servers, under the project of each."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home()) / denials.OWN_FILE


def shared_config(project: Path) -> Path:
    """Return where Claude Code keeps the servers that a team shares; we once wrote there."""
    return project / ".mcp.json"


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
    command, before = our_program()
    entry: dict[str, Any] = {"command": command, "args": [*before, *args]}
    if file := env.get("VAULTMIND_CONFIG"):
        entry["env"] = {"VAULTMIND_CONFIG": str(Path(file).expanduser().absolute())}
    return entry


def our_program() -> tuple[str, tuple[str, ...]]:
    """Return the command that runs this program from anywhere, and its first arguments."""
    script = Path(sys.executable).with_name("vaultmind")
    found = str(script) if script.exists() else shutil.which("vaultmind")
    return (found, ()) if found else (sys.executable, ("-m", "vaultmind"))


def program_words() -> str:
    """Return how a person calls this program from here: by name only where the shell finds it."""
    command, before = our_program()
    found = shutil.which("vaultmind")
    if found and not before and Path(found).resolve() == Path(command).resolve():
        return "vaultmind"
    return shlex.join([command, *before])


def entry_name(config: Config) -> str:
    """Return the name of our entry: agents live side by side."""
    return ENTRY if config.agent == "main" else f"{ENTRY}-{config.agent}"


def added(path: Path, name: str, entry: Mapping[str, Any]) -> Change:
    """Return the change that puts our entry in; every other byte stays where it can.

    Raises ConfigError for a file that is no JSON, with the entry to add by hand.
    """
    before = read(path)
    try:
        return Change(path, before, _with_entry(path, before or "", name, entry))
    except ConfigError as error:
        snippet = json.dumps({SERVERS: {name: dict(entry)}}, ensure_ascii=False, indent=2)
        error.hint = f"It was left as it is. Mend it, or add this by hand:\n{snippet}"
        raise


def removed(path: Path, name: str) -> Change:
    """Return the change that takes our entry out, and nothing else.

    Where nothing else has changed since, the file is again what its backup holds, byte for
    byte; one that was made for our entry alone goes.
    """
    before = read(path)
    try:
        servers = _servers(path, parse(path, before or ""))
    except ConfigError as error:
        error.hint = f"It was left as it is. Take {name!r} out of {SERVERS!r} by hand."
        raise
    if before is None or name not in servers:
        return Change(path, before, before)
    entry = servers[name]
    for origin in origins(path):
        with suppress(ConfigError):
            if name not in _servers(path, parse(path, origin or "")) and before == _with_entry(
                path, origin or "", name, entry
            ):
                return Change(path, before, origin)
    return Change(path, before, _without_entry(path, before, name))


def other_vaults(change: Change, name: str) -> tuple[Path, ...]:
    """Return the vaults that other entries of ours in a client's configuration serve."""
    servers = _servers(change.path, parse(change.path, change.after or ""))
    pipes = (entry for key, entry in servers.items() if key != name and _is_ours(entry))
    after = (args[args.index("--vault") + 1 :][:1] for entry in pipes if (args := entry["args"]))
    return tuple(Path(str(one)).expanduser().resolve() for rest in after for one in rest)


def entry_before(change: Change, name: str) -> dict[str, Any]:
    """Return our entry as it is before a change; empty where there is none."""
    entry = _servers(change.path, parse(change.path, change.before or "")).get(name)
    return entry if isinstance(entry, dict) else {}


def check_clients(config: Config, project: Path | None = None) -> list[dict[str, str]]:
    """Return the doctor's checks of the clients' configurations, as its JSON has them."""
    project = project or Path.cwd()
    checks = [_check("claude-desktop", desktop_config(), config)]
    for path in (code_config(), shared_config(project)):
        if path.exists() and _reads_servers(path):
            checks.append(_check("claude-code", path, config))
            checks += _check_rules(path, config)
    shared = denials.shared_settings(shared_config(project))
    if hooks.commands_in(shared, config):
        what = f"{shared} holds hooks with paths of yours; it is a file that teams share."
        mend = "Run `vaultmind connect claude-code --write` again: it moves them."
        checks.append(_checked("claude-code shared settings", "warn", what, mend))
    return checks + _check_hooks(denials.settings_file(shared_config(project)), config)


def _check_rules(path: Path, config: Config) -> list[dict[str, str]]:
    """Return what is to be said of the rules that go with a connection of Claude Code."""
    with suppress(ConfigError):
        servers = _servers(path, parse(path, read(path) or ""))
        wanted = (*denials.own_rules(config), *denials.common_rules(config))
        missing = denials.missing_rules(path, wanted)
        if missing and any(_serves(entry, config.vault) for entry in servers.values()):
            what = f"Claude Code may edit the memory past VaultMind: no {', '.join(missing)}."
            mend = "Run `vaultmind connect claude-code --write` again, or leave it so."
            return [_checked("claude-code rules", "warn", what, mend)]
    return []


def _check_hooks(path: Path, config: Config) -> list[dict[str, str]]:
    """Return what is to be said of the hooks by which a project's conversations are kept."""
    name, state = "claude-code hooks", config.state_dir
    checks: list[dict[str, str]] = []
    with suppress(ConfigError):
        agents, gone, moved = hooks.served(path, read(path) or "", config)
        again = "Run `vaultmind connect claude-code --hooks --write` again."
        if gone:
            what = f"{path} runs what is not there ({', '.join(sorted(gone))})."
            checks.append(_checked(name, "fail", what, again))
        elif moved:
            what = f"{path} names another state folder ({', '.join(sorted(moved))})."
            checks.append(_checked(name, "fail", what, again))
        elif lacking := hooks.lacking(path, read(path) or "", config):
            what = f"{path} has hooks of an earlier version: none for {', '.join(lacking)}."
            checks.append(_checked(name, "warn", what, again))
        elif agents:
            what = f"Conversations here are written down for {', '.join(sorted(agents))}."
            checks.append(_checked(name, "ok", what))
    if waiting := errands.waiting(str(state)):
        what = f"{counted(len(waiting), 'conversation')} could not be told to the daemon in time."
        mend = f"It is made up for with the next hook; {state / errands.FOLDER} holds what waits."
        checks.append(_checked(name, "warn", what, mend))
    lines = _lines(state / LOG)
    if late := sum(map(is_late_plan, lines)):
        plans = f"{counted(late, 'plan')} came too late for a sub-agent, which began without."
        checks.append(_checked(name, "ok", f"{plans} That is no failure."))
    lines = [line for line in lines if not is_late_plan(line)]
    if early := sum(map(is_late_start, lines)):
        what = f"{counted(early, 'hook')} came while the daemon was starting; it made up for them."
        checks.append(_checked(name, "ok", f"{what} That is no failure."))
    if lines := [line for line in lines if not is_late_start(line)]:
        what = f"{counted(len(lines), 'failure')} in {state / LOG}, the last: {lines[-1]}"
        checks.append(_checked(name, "warn", what, "Remove the file once you have seen to it."))
    return checks


def _lines(path: Path) -> list[str]:
    """Return a log's lines; none where there is none."""
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []


def _check(client: str, path: Path, config: Config) -> dict[str, str]:
    again = f"Run `vaultmind connect {client} --write` again."
    try:
        servers = _servers(path, parse(path, read(path) or ""))
    except ConfigError as error:
        return _checked(client, "warn", error.message, "Mend it by hand.")
    ours = {name: entry for name, entry in servers.items() if _serves(entry, config.vault)}
    broken = {name: entry for name, entry in ours.items() if not _runs(entry)}
    if not ours:
        mend = f"To connect it: vaultmind connect {client} --write"
        return _checked(client, "ok", "Not connected to this vault.", mend)
    if broken:
        commands = ", ".join(f"{name}: {entry.get('command')}" for name, entry in broken.items())
        return _checked(client, "fail", f"{path} starts what is not there ({commands}).", again)
    return _checked(client, "ok", f"Connected as {', '.join(ours)} in {path}.")


def _checked(name: str, result: str, what: str, mend: str = "") -> dict[str, str]:
    return {"name": name, "result": result, "what": what, "mend": mend}


def _is_ours(entry: object) -> bool:
    """Tell whether a server's entry is our pipe to a vault that it names."""
    args = entry.get("args") if isinstance(entry, dict) else None
    return isinstance(args, list) and "mcp" in args and "--vault" in args


def _serves(entry: object, vault: Path) -> bool:
    """Tell whether a server's entry is our pipe to this vault."""
    args = entry.get("args") if isinstance(entry, dict) else None
    if not isinstance(args, list) or "mcp" not in args:
        return False
    return any(Path(str(one)).expanduser().resolve() == vault for one in args)


def _runs(entry: Mapping[str, Any]) -> bool:
    return shutil.which(str(entry.get("command") or "")) is not None


def _with_entry(path: Path, before: str, name: str, entry: Mapping[str, Any]) -> str:
    content = parse(path, before)
    servers = _servers(path, content)
    if servers.get(name) == dict(entry):
        return before
    way = _way(path)
    wanted = _put(content, way, servers | {name: dict(entry)})
    with suppress(ValueError):
        after = with_member(before, (*way, name), dict(entry))
        if parse(path, after) == wanted:
            return after
    return dumped(wanted, before)


def _without_entry(path: Path, before: str, name: str) -> str:
    content = parse(path, before)
    left = {key: value for key, value in _servers(path, content).items() if key != name}
    way = _way(path)
    wanted = _put(content, way, left)
    with suppress(ValueError):
        after = without_member(before, (*way, name) if left else way)
        if parse(path, after) == wanted:
            return after
    return dumped({key: wanted[key] for key in content if key in wanted}, before)


def _servers(path: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    servers: Any = content
    for key in _way(path):
        servers = servers.get(key, {})
        if not isinstance(servers, dict):
            raise ConfigError(f"{key!r} in {path} is not an object.")
    return dict(servers)


def _way(path: Path) -> tuple[str, ...]:
    """Return the keys that lead to the servers in a file; a person's own stand by project."""
    own = path.name == denials.OWN_FILE
    return ("projects", str(Path.cwd()), SERVERS) if own else (SERVERS,)


def _put(content: Mapping[str, Any], way: Sequence[str], servers: dict[str, Any]) -> dict[str, Any]:
    """Return a file's content with these servers at the end of a way, or without any."""
    key, *rest = way
    if rest:
        return {**content, key: _put(content.get(key, {}), rest, servers)}
    return {**content, key: servers} if servers else {k: v for k, v in content.items() if k != key}


def _reads_servers(path: Path) -> bool:
    """Tell whether a file has a server for this project, or cannot be read."""
    try:
        return bool(_servers(path, parse(path, read(path) or "")))
    except ConfigError:
        return True
