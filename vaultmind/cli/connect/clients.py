"""Which MCP clients there are, where each keeps its servers, and what starts ours."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vaultmind.cli.connect.jsonfile import member
from vaultmind.config import Config

OWN_FILE = ".claude.json"
"""The file of Claude Code, in the home folder, that holds a person's own servers by project."""
SERVERS = "mcpServers"


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
    "codex": Client(
        "Codex", "~/.codex/config.toml", "mcp_servers", home=("CODEX_HOME", "~/.codex")
    ),
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
    return "vaultmind" if config.agent == "main" else f"vaultmind-{config.agent}"


def way(client: Client, path: Path) -> tuple[str, ...]:
    """Return the keys that lead to the servers in a file; Claude Code's own stand by project."""
    return ("projects", str(Path.cwd()), SERVERS) if path.name == OWN_FILE else (client.key,)


def our_vaults(client: Client, path: Path, content: dict[str, Any]) -> dict[str, Path]:
    """Return the vault of each of our entries in a client's file, by the entry's name."""
    servers = member(content, way(client, path), {})
    lists = {name: entry.get("args") for name, entry in servers.items() if isinstance(entry, dict)}
    return {
        name: Path(str(args[args.index("--vault") + 1])).expanduser().resolve()
        for name, args in lists.items()
        if isinstance(args, list) and "mcp" in args and "--vault" in args[:-1]
    }
