"""Finds the vault, its state folder and the person's configuration. Standard library only.

The pipe and the hooks, which must be quick, need no more than this of the configuration: flags,
environment, folder and four keys of the user's config.toml.
"""

from __future__ import annotations

import os
import sys

from vaultmind.errors import ConfigError, VaultNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MEMORY_DIR = "VaultMind"
"""The memory folder's name where no config.toml says another."""


class Where:
    """Which vault, where its state is, as whom to connect, and what the user's config.toml says."""

    def __init__(self, vault: str, state_dir: str, agent: str = "") -> None:
        self.vault = vault
        self.state_dir = state_dir
        self.agent = agent or "main"
        self.agent_named = bool(agent)
        self.memory_dir = MEMORY_DIR
        self.user: dict[str, Any] = {}


def locate(
    vault: str = "",
    agent: str = "",
    state_dir: str = "",
    *,
    env: Mapping[str, str] | None = None,
    cwd: str = "",
    light: bool = False,
) -> Where:
    """Return what the flags, the environment, the folder and the user's config.toml name.

    `light` is for who must not wait, and not fail: where all three are named nothing is read, a
    config.toml that cannot be read counts as none, and the vault need not be there just now.
    Raises VaultNotFound; where not `light`, ConfigError for a broken config.toml.
    """
    env, cwd = os.environ if env is None else env, cwd or os.getcwd()
    is_named = bool(vault and agent and state_dir)
    user = {} if light and is_named else read_toml(config_file(env), light=light)
    memory_dir = str(user.get("memory_dir") or MEMORY_DIR)
    found = vault or env.get("VAULTMIND_VAULT") or _upward(cwd, memory_dir)
    found = found or str(user.get("vault") or "") or ("" if light else _linking(cwd, env))
    if not found:
        raise VaultNotFound(
            "No vault found.",
            hint="Name one with --vault or VAULTMIND_VAULT, run inside a folder that holds "
            f".obsidian or {memory_dir}/ or in one that is linked to one vault alone, or set "
            f"`vault` in {config_file(env)}. To make a folder one: vaultmind init --vault .",
        )
    root = os.path.realpath(os.path.join(cwd, os.path.expanduser(found)))
    if not light and not os.path.isdir(root):
        raise VaultNotFound(f"The vault {found!r} is not a folder.")
    state_root = state_dir or env.get("VAULTMIND_STATE_DIR") or user.get("state_dir")
    usual = own_folder(env, "STATE", ".local/state")
    home = os.path.join(cwd, os.path.expanduser(str(state_root or usual)))
    who = agent or env.get("VAULTMIND_AGENT") or str(user.get("agent") or "")
    where = Where(root, f"{os.path.abspath(home)}/{_digest(root)}", who)
    where.memory_dir, where.user = memory_dir, user
    return where


def config_file(env: Mapping[str, str]) -> str:
    """Return the path of the user's own TOML file (it need not exist)."""
    named = env.get("VAULTMIND_CONFIG")
    path = named or f"{own_folder(env, 'CONFIG', '.config')}/config.toml"
    return os.path.abspath(os.path.expanduser(path))


def read_toml(path: str, *, light: bool = False) -> dict[str, Any]:
    """Return what a TOML file holds, nothing where there is none; raise ConfigError if broken."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
        import tomllib

        return tomllib.loads(text)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        if light:
            return {}
        raise ConfigError(f"{path} cannot be used: {error}.", hint="Fix or remove it.") from error


def own_folder(env: Mapping[str, str], kind: str, usual: str) -> str:
    """Return the folder of our own among the person's configurations, states or caches."""
    if sys.platform == "darwin":
        usual = "Library/Caches" if kind == "CACHE" else "Library/Application Support"
    named = env.get(f"XDG_{kind}_HOME", "")
    return f"{named if os.path.isabs(named) else os.path.expanduser(f'~/{usual}')}/vaultmind"


def _upward(folder: str, memory_dir: str) -> str:
    """Return the folder upward from here that is a vault; empty when there is none."""
    while not (
        os.path.isdir(f"{folder}/.obsidian") or os.path.isdir(f"{folder}/{memory_dir}/agents")
    ):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return ""
    return folder


def _linking(folder: str, env: Mapping[str, str]) -> str:
    """Return the only vault to which a folder, or one that it lies in, is linked; else nothing."""
    from pathlib import Path

    from vaultmind.config.links import vault_linking

    return os.fspath(vault_linking(Path(folder), Path(config_file(env)).parent) or "")


def _digest(vault: str) -> str:
    import hashlib

    return hashlib.sha256(os.fsencode(vault)).hexdigest()[:16]
