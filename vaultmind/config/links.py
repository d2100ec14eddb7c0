"""The folders that a person linked to a vault: a file beside their configuration, one per vault.

It stands outside the vault and outside its state, so that neither a synced folder nor a deleted
state links or unlinks anything.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from vaultmind.errors import BadArgument, ConfigError
from vaultmind.tables import keep_private

LINK_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
FOLDER = "links"
"""Beside the user's configuration."""
_NOT_IN_NAMES = re.compile(r"[^a-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Link:
    """A folder and the name that the person gave it."""

    name: str
    root: Path


def links_file(state_dir: Path, config_folder: Path | None) -> Path:
    """Return the file of a vault's links; without a folder of configurations, beside its state."""
    if config_folder is None:
        return state_dir.parent / f"{FOLDER}-{state_dir.name}.json"
    return config_folder / FOLDER / f"{state_dir.name}.json"


def read_links(path: Path) -> tuple[Link, ...]:
    """Return the links of a file, by name; none where there is no file.

    Raises ConfigError for one that cannot be understood: it is never written over.
    """
    try:
        held = json.loads(path.read_bytes())
        found = [Link(str(one["name"]), Path(one["root"])) for one in held["links"]]
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigError(
            f"The linked folders cannot be read from {path}: {error!r}.",
            hint="Mend the file or remove it, and link them again.",
        ) from error
    for one in found:
        if not LINK_NAME.fullmatch(one.name) or not one.root.is_absolute():
            raise ConfigError(f"{path} names no folder for {one.name!r}.", hint="Mend the file.")
    return tuple(sorted(found, key=lambda link: link.name))


def vault_linking(folder: Path, config_folder: Path) -> Path | None:
    """Return the vault to which a folder, or one that it lies in, is linked.

    None where that is none, or not only one: nothing is guessed, so a file of links that cannot
    be read gives none either.
    """
    found: set[Path] = set()
    try:
        real = folder.resolve()
        for path in (config_folder / FOLDER).glob("*.json"):
            if any(real.is_relative_to(link.root) for link in read_links(path)):
                found.add(Path(json.loads(path.read_bytes())["vault"]))
    except (ConfigError, OSError, RuntimeError, ValueError, TypeError, KeyError):
        return None
    vault = found.pop() if len(found) == 1 else None
    return vault if vault is not None and vault.is_dir() else None


def write_links(path: Path, vault: Path, links: tuple[Link, ...]) -> None:
    """Write the links of a vault, at once and whole, readable for the person alone.

    Raises ConfigError where that is not possible; then the file is as it was.
    """
    kept = [{"name": link.name, "root": os.fspath(link.root)} for link in links]
    value = {"version": 1, "vault": os.fspath(vault), "links": kept}
    try:
        keep_private(path, value)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error}.") from error


def link_name(name: str) -> str:
    """Return a valid name in lower case; raise BadArgument for any other."""
    folded = name.strip().lower()
    if not LINK_NAME.fullmatch(folded):
        raise BadArgument("name", name, "1 to 40 letters a-z, digits, '.', '_' and '-'")
    return folded


def name_for(folder: Path) -> str:
    """Return the name that a folder gets where the person gives none."""
    name = _NOT_IN_NAMES.sub("-", folder.name.lower()).strip("-._")[:40]
    return name or "folder"
