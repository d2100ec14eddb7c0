"""Bearer tokens for HTTP, one an agent, in a file that only its owner can read."""

from __future__ import annotations

import hmac
import json
import os
import secrets
import tempfile
from pathlib import Path

from vaultmind.errors import ConfigError
from vaultmind.vault.paths import AGENT_NAME, THE_PERSON, agent_name

NAME = "http-tokens.json"
TOKEN_BYTES = 32
SHORTEST = 20
"""A shorter token, typed by hand, is refused."""
_OTHERS = 0o077


def tokens_path(state_dir: Path) -> Path:
    """Return where a vault's tokens are kept."""
    return state_dir / NAME


def token_of(state_dir: Path, agent: str) -> str:
    """Return an agent's token, made and stored at the first use."""
    agent = agent_name(agent)
    path = tokens_path(state_dir)
    tokens = _read(path)
    if agent not in tokens:
        tokens[agent] = secrets.token_urlsafe(TOKEN_BYTES)
        _write(path, tokens)
    return tokens[agent]


def agent_of(state_dir: Path, token: str) -> str:
    """Return whose token this is, empty when nobody's; compared in constant time."""
    found = ""
    for agent, known in _read(tokens_path(state_dir)).items():
        if hmac.compare_digest(known.encode(), token.encode("utf-8", "replace")):
            found = agent
    return found


def _read(path: Path) -> dict[str, str]:
    """Return the tokens by agent. Raises ConfigError for a file that others may read."""
    try:
        with path.open(encoding="utf-8") as file:
            if os.fstat(file.fileno()).st_mode & _OTHERS:
                raise ConfigError(f"{path} can be read by others.", hint=f"Run: chmod 600 {path}")
            found = json.load(file)
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ConfigError(f"{path} cannot be used: {error}.", hint="Remove it.") from error
    tokens = found if isinstance(found, dict) else {"": ""}
    for agent, token in tokens.items():
        if not AGENT_NAME.fullmatch(agent) or not isinstance(token, str) or len(token) < SHORTEST:
            raise ConfigError(f"{path} holds no tokens by agent.", hint="Remove it.")
    return {agent: token for agent, token in tokens.items() if agent not in THE_PERSON}


def _write(path: Path, tokens: dict[str, str]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".tokens-")  # made with mode 0600
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(tokens, file, indent=2)
    Path(name).replace(path)
