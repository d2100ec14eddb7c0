"""`vaultmind hook`: what a host runs at certain moments of a conversation."""

from __future__ import annotations

import click

from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.client.hook import CLIENT, EVENTS


@click.command(cls=VaultCommand)
@click.argument("client", metavar="CLIENT", type=click.Choice([CLIENT]))
@click.argument("event", metavar="EVENT", type=click.Choice(EVENTS, case_sensitive=False))
@pass_settings
def hook(settings: Settings, client: str, event: str) -> int:
    """Tell the daemon what happened in a conversation of CLIENT (claude-code).

    EVENT is SessionStart, UserPromptSubmit, PreCompact, Stop, SessionEnd, PreToolUse before a
    sub-agent starts, or PostToolUse and PostToolUseFailure after a tool; its JSON is read from
    stdin. Claude Code runs this; `vaultmind connect claude-code --hooks --write` tells it to.
    """
    from vaultmind.client.hook import main

    named = {name: str(settings.values.get(name) or "") for name in ("vault", "agent", "state_dir")}
    return main(event, **named)
