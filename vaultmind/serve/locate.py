"""Finds the vault and its state folder fast, for the thin pipe: no TOML, no dataclasses.

`load_config` costs 40 ms of imports, which is most of a handshake. Where the user has no
config.toml, what the pipe needs follows from flags, environment and folder alone. In every
other case, and for every error, `load_config` decides. A test holds the two together.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MEMORY_DIR = "VaultMind"
"""As in config.py: the memory folder's name where no config.toml says another."""


class Where:
    """Which vault, where its state is, and as whom to connect."""

    __slots__ = ("agent", "agent_named", "state_dir", "vault")

    def __init__(self, vault: str, state_dir: str, agent: str, agent_named: bool) -> None:
        self.vault = vault
        self.state_dir = state_dir
        self.agent = agent
        self.agent_named = agent_named


def locate(vault: str = "", agent: str = "", state_dir: str = "") -> Where:
    """Return what the flags, the environment and the folder name.

    Raises VaultNotFound and ConfigError as `load_config` does.
    """
    found = _at_once(vault, agent, state_dir, os.environ)
    if found is not None:
        return found
    from vaultmind.config import Flags, load_config

    config = load_config(Flags(vault=vault, agent=agent, state_dir=state_dir))
    return Where(str(config.vault), str(config.state_dir), config.agent, config.agent_named)


def _at_once(vault: str, agent: str, state_dir: str, env: Mapping[str, str]) -> Where | None:
    homes = _homes(env)
    if homes is None or env.get("VAULTMIND_CONFIG") or os.path.exists(homes[0]):
        return None
    named = vault or env.get("VAULTMIND_VAULT", "")
    root = os.path.realpath(os.path.expanduser(named)) if named else _upward()
    if not os.path.isdir(root):
        return None
    agent = agent or env.get("VAULTMIND_AGENT", "")
    state_root = os.path.expanduser(state_dir or env.get("VAULTMIND_STATE_DIR") or homes[1])
    parts = os.path.join(os.getcwd(), state_root).split("/")
    clean = "/".join(part for part in parts if part not in ("", "."))
    return Where(root, f"/{clean}/{_digest(root)}", agent or "main", bool(agent))


def _homes(env: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the user's config.toml and the root of all state, as platformdirs has them."""
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        defaults = (f"{home}/Library/Application Support", f"{home}/Library/Application Support")
    elif sys.platform.startswith("linux"):
        defaults = (f"{home}/.config", f"{home}/.local/state")
    else:
        return None
    config, state = (
        path if os.path.isabs(path := env.get(name, "")) else default
        for name, default in zip(("XDG_CONFIG_HOME", "XDG_STATE_HOME"), defaults, strict=True)
    )
    return f"{config}/vaultmind/config.toml", f"{state}/vaultmind"


def _upward() -> str:
    """Return the folder upward from here that is a vault; empty when there is none."""
    folder = os.getcwd()
    while True:
        if os.path.isdir(f"{folder}/.obsidian") or os.path.isdir(f"{folder}/{MEMORY_DIR}/agents"):
            return os.path.realpath(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent


def _digest(vault: str) -> str:
    import hashlib

    return hashlib.sha256(os.fsencode(vault)).hexdigest()[:16]
