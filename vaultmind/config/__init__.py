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
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from vaultmind.config.links import vault_linking
from vaultmind.config.settings import (
    AssociationConfig,
    AutoRagConfig,
    ConsolidationConfig,
    ContextConfig,
    DaemonConfig,
    EpisodesConfig,
    ExtractionConfig,
    IndexConfig,
    LearningConfig,
    LevelsConfig,
    MemoryConfig,
    MinionConfig,
    PlanConfig,
    RecallConfig,
    RedactConfig,
    RetentionConfig,
    SearchConfig,
    SessionConfig,
    SummaryConfig,
)
from vaultmind.errors import ConfigError, VaultNotFound, did_you_mean

__all__ = [
    "SECTION_TYPES",
    "TOP_KEYS",
    "AssociationConfig",
    "AutoRagConfig",
    "Config",
    "ConsolidationConfig",
    "ContextConfig",
    "DaemonConfig",
    "EpisodesConfig",
    "ExtractionConfig",
    "Flags",
    "IndexConfig",
    "LearningConfig",
    "LevelsConfig",
    "MemoryConfig",
    "MinionConfig",
    "PlanConfig",
    "RecallConfig",
    "RedactConfig",
    "RetentionConfig",
    "SearchConfig",
    "SessionConfig",
    "SummaryConfig",
    "all_keys",
    "find_vault",
    "load_config",
    "state_folder",
    "user_config_path",
]

ENV_PREFIX = "VAULTMIND_"
DEFAULT_MEMORY_DIR = "VaultMind"
VAULT_CONFIG = "config.toml"
"""Name of the vault's own configuration, inside the memory folder."""


@dataclass(frozen=True, slots=True)
class Config:
    """Everything a process needs to know before it opens a vault."""

    vault: Path
    state_dir: Path
    """This vault's own state folder: index, lock, socket, log. Safe to delete."""
    config_folder: Path | None = None
    """Where the person's own configuration lies; None for a configuration made without one."""
    memory_dir: str = DEFAULT_MEMORY_DIR
    agent: str = "main"
    agent_named: bool = False
    """Whether someone named the agent, or it is the default."""
    index: IndexConfig = field(default_factory=IndexConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    session: SessionConfig = field(default_factory=SessionConfig)
    context: ContextConfig = field(default_factory=ContextConfig)
    summary: SummaryConfig = field(default_factory=SummaryConfig)
    auto_rag: AutoRagConfig = field(default_factory=AutoRagConfig)
    recall: RecallConfig = field(default_factory=RecallConfig)
    association: AssociationConfig = field(default_factory=AssociationConfig)
    consolidation: ConsolidationConfig = field(default_factory=ConsolidationConfig)
    extraction: ExtractionConfig = field(default_factory=ExtractionConfig)
    levels: LevelsConfig = field(default_factory=LevelsConfig)
    redact: RedactConfig = field(default_factory=RedactConfig)
    daemon: DaemonConfig = field(default_factory=DaemonConfig)
    minion: MinionConfig = field(default_factory=MinionConfig)
    plan: PlanConfig = field(default_factory=PlanConfig)
    episodes: EpisodesConfig = field(default_factory=EpisodesConfig)
    retention: RetentionConfig = field(default_factory=RetentionConfig)
    learning: LearningConfig = field(default_factory=LearningConfig)
    warnings: tuple[str, ...] = ()
    """Keys that were found and not taken, in words."""


SECTION_TYPES: dict[str, type] = {
    "index": IndexConfig,
    "search": SearchConfig,
    "memory": MemoryConfig,
    "session": SessionConfig,
    "context": ContextConfig,
    "summary": SummaryConfig,
    "auto_rag": AutoRagConfig,
    "recall": RecallConfig,
    "association": AssociationConfig,
    "consolidation": ConsolidationConfig,
    "extraction": ExtractionConfig,
    "levels": LevelsConfig,
    "redact": RedactConfig,
    "daemon": DaemonConfig,
    "minion": MinionConfig,
    "plan": PlanConfig,
    "episodes": EpisodesConfig,
    "retention": RetentionConfig,
    "learning": LearningConfig,
}
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
            f"`vault` in {user_config_path(env)}."
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
    for section, kind in SECTION_TYPES.items():
        for item in fields(kind):
            yield f"{section}.{item.name}", item.default, item.metadata["help"]


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
    for name, value in values.items():
        meta = _metadata(name)
        if meta is not None and (meta.get("vault") or (meta.get("raises") and value is True)):
            taken[name] = value
        else:
            said = f"{path.name} in the vault may not set '{name}'; it was ignored."
            warnings.append(said if meta else f"{said} {did_you_mean(name, _vault_keys())}".strip())
    return taken, warnings


def _vault_keys() -> list[str]:
    """Return the keys that a vault's own file may set."""
    found = ((name, _metadata(name)) for name, _, _ in all_keys())
    return [name for name, meta in found if meta and (meta.get("vault") or meta.get("raises"))]


def _env_values(env: Mapping[str, str]) -> dict[str, str]:
    names = {f"{ENV_PREFIX}{name.upper().replace('.', '_')}": name for name, _, _ in all_keys()}
    return {names[var]: value for var, value in env.items() if "." in names.get(var, "")}


def _metadata(name: str) -> Mapping[str, Any] | None:
    section, _, inner = name.partition(".")
    kind = SECTION_TYPES.get(section)
    known = {item.name: item.metadata for item in fields(kind)} if kind else {}
    return known.get(inner)


def _meant(name: str) -> str:
    """Return what an unknown key may have been meant for: one like it, else those beside it."""
    keys = [dotted for dotted, _, _ in all_keys()]
    section, _, inner = name.partition(".")
    beside = [one for one in keys if inner and one.startswith(f"{section}.")]
    if beside:  # the section alone makes its keys look alike
        inside = {one.removeprefix(f"{section}."): one for one in beside}
        like = did_you_mean(inner, inside).replace("'", f"'{section}.", 1)
        return like or f"Known there: {', '.join(beside)}."
    if question := did_you_mean(name, keys):
        return question
    sections = [f"[{one}]" for one in SECTION_TYPES]
    return f"Known: {', '.join((*TOP_KEYS, *SHORTHANDS, *sections))}."


def _apply(config: Config, values: Mapping[str, Any], source: str) -> Config:
    for name, raw in values.items():
        meta = _metadata(name)
        if meta is None:
            raise ConfigError(f"Unknown key '{name}' in {source}.", hint=_meant(name))
        section, _, inner = name.partition(".")
        part = getattr(config, section)
        value = _value(name, raw, getattr(part, inner), meta, source)
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
