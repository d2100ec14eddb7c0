"""Where MCP clients keep their configuration, and how our entry gets in and out of it."""

from __future__ import annotations

import glob
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from vaultmind.cli.jsontext import dumped, with_member, without_member
from vaultmind.config import Config
from vaultmind.errors import ConfigError

ENTRY = "vaultmind"
"""Our name among a client's servers; an agent other than `main` gets its own."""
SERVERS = "mcpServers"
BACKUP = ".vaultmind-backup-"


@dataclass(frozen=True, slots=True)
class Change:
    """A client's configuration file before and after; None where there is no file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def needed(self) -> bool:
        """Tell whether anything would change."""
        return self.before != self.after


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


def code_config(project: Path) -> Path:
    """Return where Claude Code keeps a project's servers."""
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
    before = _read(path)
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
    before = _read(path)
    try:
        servers = _servers(path, _parse(path, before or ""))
    except ConfigError as error:
        error.hint = f"It was left as it is. Take {name!r} out of {SERVERS!r} by hand."
        raise
    if before is None or name not in servers:
        return Change(path, before, before)
    entry = servers[name]
    for origin in _origins(path):
        with suppress(ConfigError):
            if name not in _servers(path, _parse(path, origin or "")) and before == _with_entry(
                path, origin or "", name, entry
            ):
                return Change(path, before, origin)
    return Change(path, before, _without_entry(path, before, name))


def apply(change: Change, now: datetime) -> Path | None:
    """Write a change atomically; return the backup of what was there, if anything was."""
    real = change.path.resolve()  # a dotfiles user's link stays a link
    if change.after is None:
        real.unlink()
        return None
    change.path.parent.mkdir(parents=True, exist_ok=True)
    backup = None
    if change.before is not None:
        backup = _free(change.path, f"{BACKUP}{now:%Y%m%d-%H%M%S}")
        shutil.copy2(change.path, backup)
    temporary = real.with_name(f".{real.name}.vaultmind-{os.getpid()}")
    try:
        temporary.write_bytes(change.after.encode())
        if change.before is not None:
            shutil.copymode(real, temporary)
        temporary.replace(real)
    finally:
        temporary.unlink(missing_ok=True)
    return backup


def check_clients(config: Config, project: Path | None = None) -> list[dict[str, str]]:
    """Return the doctor's checks of the clients' configurations, as its JSON has them."""
    project = project or Path.cwd()
    checks = [_check("claude-desktop", desktop_config(), config)]
    if code_config(project).exists():
        checks.append(_check("claude-code", code_config(project), config))
    return checks


def _check(client: str, path: Path, config: Config) -> dict[str, str]:
    again = f"Run `vaultmind connect {client} --write` again."
    try:
        servers = _servers(path, _parse(path, _read(path) or ""))
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


def _serves(entry: object, vault: Path) -> bool:
    """Tell whether a server's entry is our pipe to this vault."""
    args = entry.get("args") if isinstance(entry, dict) else None
    if not isinstance(args, list) or "mcp" not in args:
        return False
    return any(Path(str(one)).expanduser().resolve() == vault for one in args)


def _runs(entry: Mapping[str, Any]) -> bool:
    return shutil.which(str(entry.get("command") or "")) is not None


def _with_entry(path: Path, before: str, name: str, entry: Mapping[str, Any]) -> str:
    content = _parse(path, before)
    servers = _servers(path, content)
    if servers.get(name) == dict(entry):
        return before
    wanted = content | {SERVERS: servers | {name: dict(entry)}}
    with suppress(ValueError):
        after = with_member(before, (SERVERS, name), dict(entry))
        if _parse(path, after) == wanted:
            return after
    return dumped(wanted, before)


def _without_entry(path: Path, before: str, name: str) -> str:
    content = _parse(path, before)
    left = {key: value for key, value in _servers(path, content).items() if key != name}
    way = (SERVERS, name) if left else (SERVERS,)
    wanted = {key: value for key, value in content.items() if key != SERVERS}
    wanted |= {SERVERS: left} if left else {}
    with suppress(ValueError):
        after = without_member(before, way)
        if _parse(path, after) == wanted:
            return after
    return dumped({key: wanted[key] for key in content if key in wanted}, before)


def _origins(path: Path) -> Iterator[str | None]:
    """Yield what the file may have been before our entry: its backups, newest first, or none."""
    for backup in sorted(path.parent.glob(f"{glob.escape(path.name)}{BACKUP}*"), reverse=True):
        with suppress(ConfigError):
            yield _read(backup)
    yield None


def _free(path: Path, ending: str) -> Path:
    """Return a name beside a file that nothing has yet: two changes may fall in one second."""
    free, number = path.with_name(path.name + ending), 1
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}{ending}-{number}")
    return free


def _read(path: Path) -> str | None:
    """Return the file's text, its BOM and newlines as they are; None where there is no file."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.") from error


def _parse(path: Path, text: str) -> dict[str, Any]:
    body = text.lstrip("\ufeff")
    try:
        content = json.loads(body) if body.strip() else {}
    except ValueError as error:
        raise ConfigError(f"{path} is not valid JSON: {error}.") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path} does not hold a JSON object.")
    return content


def _servers(path: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    servers = content.get(SERVERS, {})
    if not isinstance(servers, dict):
        raise ConfigError(f"{SERVERS!r} in {path} is not an object.")
    return servers
