"""Finds the vault and its state folder fast, for the thin pipe and the hooks.

`load_config` costs 40 ms of imports, which is most of a handshake. Where the user has no
config.toml, what the pipe needs follows from flags, environment and folder alone. In every
other case, and for every error, `load_config` decides; but a hook, which must be quick whatever
stands in a config.toml, never asks it. A test holds them together.
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
    env = os.environ
    homes = _homes(env)
    if homes is not None and not env.get("VAULTMIND_CONFIG") and not os.path.exists(homes[0]):
        found = _where(_Named(vault, agent, state_dir), {}, homes[1])
        if found is not None and os.path.isdir(found.vault):
            return found
    from vaultmind.config import Flags, load_config

    config = load_config(Flags(vault=vault, agent=agent, state_dir=state_dir))
    return Where(str(config.vault), str(config.state_dir), config.agent, config.agent_named)


def locate_lightly(vault: str = "", agent: str = "", state_dir: str = "") -> Where:
    """Return what `locate` does, without its checks: for who must not wait, and not fail.

    Where all three are named nothing is read at all, and the vault need not be there just now.
    Else a config.toml is read for its own four keys; one that cannot be read counts as none.
    Raises VaultNotFound.
    """
    named = _Named(vault, agent, state_dir)
    homes = _homes(os.environ)
    if vault and agent and state_dir:
        found = _where(named, {}, "")
    elif homes is None:
        return locate(vault, agent, state_dir)
    else:
        path = os.path.expanduser(os.environ.get("VAULTMIND_CONFIG") or homes[0])
        found = _where(named, _top_keys(path), homes[1])
    if found is None:
        from vaultmind.errors import VaultNotFound

        raise VaultNotFound("No vault found.")
    return found


class _Named:
    """What the flags name, or else the environment."""

    __slots__ = ("agent", "state_dir", "vault")

    def __init__(self, vault: str, agent: str, state_dir: str) -> None:
        self.vault = vault or os.environ.get("VAULTMIND_VAULT", "")
        self.agent = agent or os.environ.get("VAULTMIND_AGENT", "")
        self.state_dir = state_dir or os.environ.get("VAULTMIND_STATE_DIR", "")


def _where(named: _Named, user: Mapping[str, str], state_home: str) -> Where | None:
    """Return where all is, of what is named, a config.toml's own keys and the usual folder."""
    vault = named.vault or _upward(user.get("memory_dir") or MEMORY_DIR) or user.get("vault", "")
    if not vault:
        return None
    root = os.path.realpath(os.path.expanduser(vault))
    agent = named.agent or user.get("agent", "")
    state_root = os.path.expanduser(named.state_dir or user.get("state_dir") or state_home)
    return Where(root, f"{_absolute(state_root)}/{_digest(root)}", agent or "main", bool(agent))


def _absolute(path: str) -> str:
    """Return an absolute path as pathlib has it: `..` stays, since it may follow a link."""
    parts = os.path.join(os.getcwd(), path).split("/")
    return "/" + "/".join(part for part in parts if part not in ("", "."))


def _top_keys(path: str) -> dict[str, str]:
    """Return a config.toml's own keys that are texts; none where it is not there or broken."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
        import tomllib

        return {name: one for name, one in tomllib.loads(text).items() if isinstance(one, str)}
    except (OSError, ValueError):
        return {}


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


def _upward(memory_dir: str) -> str:
    """Return the folder upward from here that is a vault; empty when there is none."""
    folder = os.getcwd()
    while True:
        if os.path.isdir(f"{folder}/.obsidian") or os.path.isdir(f"{folder}/{memory_dir}/agents"):
            return os.path.realpath(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent


def _digest(vault: str) -> str:
    import hashlib

    return hashlib.sha256(os.fsencode(vault)).hexdigest()[:16]
