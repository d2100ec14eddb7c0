"""What a connection of Claude Code puts into its settings: rules, and hooks if they are wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from vaultmind.cli.connect import denials, hooks
from vaultmind.cli.connect.jsonfile import Change, origins, parse, read
from vaultmind.config import Config
from vaultmind.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is put in, or taken out."""

    config: Config
    rules: Sequence[str] = ()
    commands: Mapping[str, str] = field(default_factory=dict)
    """Of our hooks, by event; none where they are to stay as they are."""
    stale: Sequence[str] = ()
    """Rules of ours that nothing needs any more; they go when the others come."""


def added(path: Path, wanted: Wanted) -> Change:
    """Return the change that puts rules and hooks in; every other byte stays where it can.

    Raises ConfigError for a file that is no JSON, with what to add by hand.
    """
    before = read(path)
    try:
        return Change(path, before, _with(path, before or "", wanted))
    except ConfigError as error:
        snippets = [denials.by_hand(wanted.rules)] if wanted.rules else []
        snippets += [hooks.by_hand(wanted.commands)] if wanted.commands else []
        snippet = "\n".join(snippets)
        error.hint = f"It was left as it is. Mend it, or add this by hand:\n{snippet}"
        raise


def removed(path: Path, wanted: Wanted) -> Change:
    """Return the change that takes rules and hooks out, and nothing else.

    Where nothing else has changed since, the file is again what its backup holds, byte for
    byte; one that was made for ours alone goes.
    """
    before = read(path)
    if before is None:
        return Change(path, None, None)
    after = _without(path, before, wanted)
    if after == before:
        return Change(path, before, before)
    is_empty = not parse(path, after)
    for origin in origins(path):
        with suppress(ConfigError):
            text = origin or ""
            undone = _is_without(path, text, wanted) and before in _likely(path, text, wanted)
            if undone or (is_empty and not parse(path, text)):
                return Change(path, before, origin)
    return Change(path, before, after)


def _with(path: Path, text: str, wanted: Wanted) -> str:
    text = denials.without_rules(path, text, wanted.stale)
    text = denials.with_rules(path, text, wanted.rules)
    if wanted.commands:
        text = hooks.with_hooks(path, text, wanted.commands, wanted.config)
    return text


def _without(path: Path, text: str, wanted: Wanted) -> str:
    text = denials.without_rules(path, text, wanted.rules)
    return hooks.without_hooks(path, text, wanted.config) if wanted.commands else text


def _is_without(path: Path, text: str, wanted: Wanted) -> bool:
    """Tell whether a text lacks what is taken out; a person may have some of the rules anyway."""
    lacks_rules = not wanted.rules or denials.with_rules(path, text, wanted.rules) != text
    return lacks_rules and not hooks.is_hooked(path, text, wanted.config)


def _likely(path: Path, origin: str, wanted: Wanted) -> tuple[str, ...]:
    """Return what a file became by a call of ours: with hooks, or by one without."""
    return _with(path, origin, wanted), denials.with_rules(path, origin, wanted.rules)
