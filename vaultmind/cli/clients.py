"""Where MCP clients keep their configuration, and how our entry gets in and out of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from vaultmind.config import Config
from vaultmind.errors import ConfigError

ENTRY = "vaultmind"
"""Our name among a client's servers; an agent other than `main` gets its own."""


@dataclass(frozen=True, slots=True)
class Change:
    """A client's configuration file before and after."""

    path: Path
    before: str
    after: str

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


def server_entry(config: Config) -> dict[str, Any]:
    """Return what starts our pipe for this vault and agent, with absolute paths."""
    args = ["mcp", "--vault", str(config.vault), "--agent", config.agent]
    script = Path(sys.executable).with_name("vaultmind")
    found = str(script) if script.exists() else shutil.which("vaultmind")
    if found:
        return {"command": found, "args": args}
    return {"command": sys.executable, "args": ["-m", "vaultmind", *args]}


def entry_name(config: Config) -> str:
    """Return the name of our entry: agents live side by side."""
    return ENTRY if config.agent == "main" else f"{ENTRY}-{config.agent}"


def added(path: Path, name: str, entry: Mapping[str, Any]) -> Change:
    """Return the change that puts our entry in; all else keeps its place and value."""
    before = _read(path)
    content = _parse(path, before)
    servers = content.setdefault("mcpServers", {})
    if not isinstance(servers, dict):
        raise ConfigError(f"'mcpServers' in {path} is not an object.", hint="Mend it by hand.")
    servers[name] = dict(entry)
    return Change(path, before, _dump(content, before))


def removed(path: Path, name: str) -> Change:
    """Return the change that takes our entry out, and nothing else."""
    before = _read(path)
    content = _parse(path, before)
    servers = content.get("mcpServers")
    if not isinstance(servers, dict) or name not in servers:
        return Change(path, before, before)
    del servers[name]
    if not servers:
        del content["mcpServers"]
    return Change(path, before, _dump(content, before))


def apply(change: Change, now: datetime) -> Path | None:
    """Write a change atomically; return the backup of what was there, if anything was."""
    change.path.parent.mkdir(parents=True, exist_ok=True)
    backup = None
    if change.before:
        stamp = now.strftime("%Y%m%d-%H%M%S")
        backup = change.path.with_name(f"{change.path.name}.vaultmind-backup-{stamp}")
        shutil.copy2(change.path, backup)
    real = change.path.resolve()  # a dotfiles user's link stays a link
    temporary = real.with_name(f".{real.name}.vaultmind-{os.getpid()}")
    try:
        temporary.write_text(change.after, "utf-8")
        if change.before:
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
        servers = _parse(path, _read(path)).get("mcpServers")
    except ConfigError as error:
        return _checked(client, "warn", error.message, "Mend it by hand.")
    known = servers if isinstance(servers, dict) else {}
    ours = {name: entry for name, entry in known.items() if _serves(entry, config.vault)}
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


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.") from error


def _parse(path: Path, text: str) -> dict[str, Any]:
    try:
        content = json.loads(text) if text.strip() else {}
    except ValueError as error:
        hint = "It was left as it is; mend it, or add the shown entry by hand."
        raise ConfigError(f"{path} is not valid JSON: {error}.", hint=hint) from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path} does not hold a JSON object.", hint="It was left as it is.")
    return content


def _dump(content: dict[str, Any], before: str) -> str:
    found = re.search(r"^\{\r?\n([ \t]+)", before)
    indent = found.group(1) if found else "  "
    return json.dumps(content, ensure_ascii=False, indent=indent) + "\n"
