"""Configuration: defaults → user TOML → vault TOML (allow-listed keys) → environment → flags.

Every key is a field of a section in `settings`; its metadata holds help, bounds and whether a
vault's own file may set it. What comes from inside a vault is untrusted: it may tune, never open
up.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from vaultmind.config.settings import *  # noqa: F403  (every section, by its name)
from vaultmind.config.settings import Config
from vaultmind.errors import ConfigError, did_you_mean
from vaultmind.locate import config_file, locate, read_toml

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
TRUE, FALSE = ("1", "true", "yes"), ("0", "false", "no")


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
    flags, env = flags or Flags(), os.environ if env is None else env
    where = locate(flags.vault, flags.agent, flags.state_dir, env=env, cwd=str(cwd or ""))
    vault = Path(where.vault)
    own, warnings = _vault_values(vault / where.memory_dir / VAULT_CONFIG)
    config = Config(
        vault=vault,
        state_dir=Path(where.state_dir),
        config_folder=user_config_path(env).parent,
        memory_dir=where.memory_dir,
        agent=where.agent,
        agent_named=where.agent_named,
        warnings=tuple(warnings),
    )
    variables = {f"{ENV_PREFIX}{name.upper().replace('.', '_')}": name for name in KEYS}
    named = {variables[one]: value for one, value in env.items() if one in variables}
    config = _apply(config, _flatten(where.user), "the user's config.toml")
    config = _apply(config, own, "the vault's config.toml")
    return _apply(config, named, "the environment")


def user_config_path(env: Mapping[str, str]) -> Path:
    """Return the path of the user's own TOML file (it need not exist)."""
    return Path(config_file(env))


def device_name(state_dir: Path) -> str:
    """Return this device's name, made on first use: of its audit files, and its sessions."""
    path = state_dir / "device"
    if not path.exists():
        path.write_text(f"{os.urandom(4).hex()}\n", "ascii")
    return path.read_text("ascii").strip()


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
        values = _flatten(read_toml(str(path)))
    except ConfigError as error:
        return {}, [str(error)]
    taken: dict[str, Any] = {}
    warnings = []
    for name, value in values.items():
        meta = KEYS[name].metadata if name in KEYS else {}
        if meta.get("vault") or (meta.get("raises") and value is True):
            taken[name] = value
        else:
            said = f"{path.name} in the vault may not set '{name}'; it was ignored."
            warnings.append(said if meta else f"{said} {did_you_mean(name, KEYS)}".strip())
    return taken, warnings


def _apply(config: Config, values: Mapping[str, Any], source: str) -> Config:
    for name, raw in values.items():
        section, _, inner = name.partition(".")
        if name not in KEYS:
            known = [*TOP_KEYS, *SHORTHANDS, *(f"[{one}]" for one in SECTION_TYPES)]
            if section in SECTION_TYPES:
                known = [one.name for one in fields(SECTION_TYPES[section])]
            hint = did_you_mean(inner or name, known) or f"Known there: {', '.join(known)}."
            raise ConfigError(f"Unknown key '{name}' in {source}.", hint=hint)
        part = getattr(config, section)
        try:
            value = _value(raw, getattr(part, inner), KEYS[name].metadata)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"'{name}' in {source} is {raw!r}; {error}.") from error
        config = replace(config, **{section: replace(part, **{inner: value})})
    return config


def _value(raw: Any, current: Any, meta: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Return `raw` as the type of `current`, checked; raise ValueError saying what is wanted."""
    try:
        value = _convert(raw, current)
    except (TypeError, ValueError):
        raise ValueError(f"wanted: {type(current).__name__}") from None
    low, high, choices = meta.get("min"), meta.get("max"), meta.get("choices")
    if (low is not None and value < low) or (high is not None and value > high):
        raise ValueError(f"allowed: {low} to {high}")
    if choices and value not in choices:
        raise ValueError(f"allowed: {choices}")
    if (check := meta.get("check")) and (wrong := check(value)):
        raise ValueError(wrong)
    return value


def _convert(raw: Any, current: Any) -> Any:  # noqa: ANN401
    """Return `raw` (TOML value or text of the environment) as the type of `current`."""
    if isinstance(current, bool):
        if str(raw).lower() not in TRUE + FALSE:
            raise ValueError(raw)
        return str(raw).lower() in TRUE
    if isinstance(current, tuple):
        items = raw.split(",") if isinstance(raw, str) else raw
        return tuple(str(item).strip() for item in items if str(item).strip())
    if isinstance(raw, bool):
        raise TypeError(raw)
    return type(current)(raw)
