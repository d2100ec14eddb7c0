"""Configuration: defaults → user TOML → vault TOML (allow-listed keys) → environment → flags.

Every key is a field of a section in `settings`; its metadata holds help, bounds and whether a
vault's own file may set it. What comes from inside a vault is untrusted: it may tune, never open
up.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from vaultmind.config.links import vault_linking
from vaultmind.config.settings import *  # noqa: F403  (every section, by its name)
from vaultmind.config.settings import DEFAULT_MEMORY_DIR, Config
from vaultmind.errors import ConfigError, VaultNotFound, did_you_mean

ENV_PREFIX = "VAULTMIND_"
VAULT_CONFIG = "config.toml"
"""Name of the vault's own configuration, inside the memory folder."""


SECTION_TYPES: dict[str, type] = {
    item.name: type(item.default) for item in fields(Config) if is_dataclass(item.default)
}
KEYS = {
    f"{section}.{item.name}": item
    for section, kind in SECTION_TYPES.items()
    for item in fields(kind)
}
"""Every key with its section, and the field that it sets."""
SHORTHANDS = {"minion": "minion.model", "embedder": "index.embedder"}
"""What may be written without its section: `minion = "path/to/model.gguf"`."""
TOP_KEYS: dict[str, str] = {
    "vault": "The vault to use when no other is named.",
    "state_dir": "Folder that holds the state of all vaults.",
    "memory_dir": "The memory folder's name, inside the vault.",
    "agent": "The agent whose memory is meant when none is named.",
}


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line named; empty values mean not named."""

    vault: str = ""
    agent: str = ""
    state_dir: str = ""


def load_config(
    flags: Flags | None = None, *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Config:
    """Return the configuration for the vault that flags, environment or folder name.

    Raises VaultNotFound when no vault can be found, ConfigError for a bad file or value.
    """
    flags = flags or Flags()
    env = os.environ if env is None else env
    user = _read_toml(user_config_path(env))
    memory_dir = str(user.get("memory_dir", "")) or DEFAULT_MEMORY_DIR
    vault = find_vault(flags.vault, user, env=env, cwd=cwd or Path.cwd(), memory_dir=memory_dir)
    state_root = flags.state_dir or env.get(f"{ENV_PREFIX}STATE_DIR") or user.get("state_dir")
    agent = flags.agent or env.get(f"{ENV_PREFIX}AGENT") or user.get("agent") or ""
    own, warnings = _vault_values(vault / memory_dir / VAULT_CONFIG)
    config = Config(
        vault=vault,
        state_dir=state_folder(vault, Path(state_root) if state_root else None),
        config_folder=user_config_path(env).absolute().parent,
        memory_dir=memory_dir,
        agent=str(agent) or "main",
        agent_named=bool(agent),
        warnings=tuple(warnings),
    )
    for source, values in (
        ("the user's config.toml", _flatten(user)),
        ("the vault's config.toml", own),
        ("the environment", _env_values(env)),
    ):
        config = _apply(config, values, source)
    return config


def find_vault(
    flag: str, user: Mapping[str, Any], *, env: Mapping[str, str], cwd: Path, memory_dir: str
) -> Path:
    """Return the vault's real path: flag, environment, folder upward, configured default, link."""
    named = flag or env.get(f"{ENV_PREFIX}VAULT", "")
    if named:
        return _existing(Path(named).expanduser(), "--vault" if flag else f"{ENV_PREFIX}VAULT")
    for folder in (cwd, *cwd.parents):
        if (folder / ".obsidian").is_dir() or (folder / memory_dir / "agents").is_dir():
            return folder.resolve()
    if user.get("vault"):
        return _existing(Path(str(user["vault"])).expanduser(), "vault in the user's config.toml")
    if (linking := vault_linking(cwd, user_config_path(env).absolute().parent)) is not None:
        return linking
    raise VaultNotFound(
        "No vault found.",
        hint=(
            f"Name one with --vault or {ENV_PREFIX}VAULT, run inside a folder that holds "
            f".obsidian or {memory_dir}/ or in one that is linked to one vault alone, or set "
            f"`vault` in {user_config_path(env)}. To make a folder one: vaultmind init --vault ."
        ),
    )


def user_config_path(env: Mapping[str, str]) -> Path:
    """Return the path of the user's own TOML file (it need not exist)."""
    if named := env.get(f"{ENV_PREFIX}CONFIG"):
        return Path(named).expanduser()
    from platformdirs import user_config_path as folder

    return folder("vaultmind") / "config.toml"


def state_folder(vault: Path, root: Path | None = None) -> Path:
    """Return the state folder of a vault: one per real path, under `root` or the user's own."""
    if root is None:
        from platformdirs import user_state_path

        root = user_state_path("vaultmind")
    digest = hashlib.sha256(os.fsencode(vault.resolve())).hexdigest()[:16]
    return root.expanduser().absolute() / digest


def all_keys() -> Iterator[tuple[str, Any, str]]:
    """Yield (dotted key, default, help) for every key, for the docs and their test."""
    for name, text in TOP_KEYS.items():
        yield name, "", text
    for name, item in KEYS.items():
        yield name, item.default, item.metadata["help"]


def _existing(path: Path, source: str) -> Path:
    if not path.is_dir():
        raise VaultNotFound(f"{source} names {str(path)!r}, which is not a folder.")
    return path.resolve()


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{path} cannot be used: {error}.", hint="Mend or remove it.") from error


def _flatten(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return `{"index.watch": True}` for `{"index": {"watch": True}}`; top keys left out."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat.update({f"{name}.{inner}": item for inner, item in value.items()})
        elif name not in TOP_KEYS:
            flat[SHORTHANDS.get(name, name)] = value
    return flat


def _vault_values(path: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the values a vault may set, and a sentence about each that it may not."""
    try:
        values = _flatten(_read_toml(path))
    except ConfigError as error:
        return {}, [str(error)]
    taken: dict[str, Any] = {}
    warnings = []
    allowed = [
        name
        for name, one in KEYS.items()
        if one.metadata.get("vault") or one.metadata.get("raises")
    ]
    for name, value in values.items():
        if name in allowed and (KEYS[name].metadata.get("vault") or value is True):
            taken[name] = value
        else:
            said = f"{path.name} in the vault may not set '{name}'; it was ignored."
            hint = "" if name in KEYS else did_you_mean(name, allowed)
            warnings.append(f"{said} {hint}".strip())
    return taken, warnings


def _env_values(env: Mapping[str, str]) -> dict[str, str]:
    names = {f"{ENV_PREFIX}{name.upper().replace('.', '_')}": name for name in KEYS}
    return {names[var]: value for var, value in env.items() if var in names}


def _meant(name: str) -> str:
    """Return what an unknown key may have been meant for: one like it, else those beside it."""
    section, _, inner = name.partition(".")
    beside = [one for one in KEYS if inner and one.startswith(f"{section}.")]
    if beside:  # the section alone makes its keys look alike
        inside = {one.removeprefix(f"{section}."): one for one in beside}
        like = did_you_mean(inner, inside).replace("'", f"'{section}.", 1)
        return like or f"Known there: {', '.join(beside)}."
    if question := did_you_mean(name, [*TOP_KEYS, *KEYS]):
        return question
    sections = [f"[{one}]" for one in SECTION_TYPES]
    return f"Known: {', '.join((*TOP_KEYS, *SHORTHANDS, *sections))}."


def _apply(config: Config, values: Mapping[str, Any], source: str) -> Config:
    for name, raw in values.items():
        if name not in KEYS:
            raise ConfigError(f"Unknown key '{name}' in {source}.", hint=_meant(name))
        section, _, inner = name.partition(".")
        part = getattr(config, section)
        value = _value(name, raw, getattr(part, inner), KEYS[name].metadata, source)
        config = replace(config, **{section: replace(part, **{inner: value})})
    return config


def _value(name: str, raw: Any, current: Any, meta: Mapping[str, Any], source: str) -> Any:  # noqa: ANN401
    try:
        value = _convert(raw, current)
    except (TypeError, ValueError) as error:
        wanted = type(current).__name__
        raise ConfigError(f"'{name}' in {source} is {raw!r}; wanted: {wanted}.") from error
    low, high, choices = meta.get("min"), meta.get("max"), meta.get("choices")
    if (low is not None and value < low) or (high is not None and value > high):
        raise ConfigError(f"'{name}' in {source} is {value!r}; allowed: {low} to {high}.")
    if (check := meta.get("check")) and (wrong := check(value)):
        raise ConfigError(f"'{name}' in {source}: {wrong}.")
    if choices and value not in choices:
        raise ConfigError(f"'{name}' in {source} is {value!r}; allowed: {choices}.")
    return value


def _convert(raw: Any, current: Any) -> Any:  # noqa: ANN401
    """Return `raw` (TOML value or text of the environment) as the type of `current`."""
    if isinstance(current, bool):
        words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
        if str(raw).lower() not in words:
            raise ValueError(raw)
        return words[str(raw).lower()]
    if isinstance(current, tuple):
        items = raw.split(",") if isinstance(raw, str) else raw
        return tuple(str(item).strip() for item in items if str(item).strip())
    if isinstance(current, (int, float)) and isinstance(raw, bool):
        raise TypeError(raw)
    return type(current)(raw)
