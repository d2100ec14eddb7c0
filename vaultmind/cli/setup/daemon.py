"""`vaultmind daemon` and `vaultmind mcp`: the processes themselves."""

from __future__ import annotations

import click

from vaultmind.cli.options import Settings, VaultCommand, VaultGroup, pass_settings
from vaultmind.cli.output.output import EXIT_OTHER, aside, dim, good, print_json, say


@click.group(cls=VaultGroup)
def daemon() -> None:
    """Run, start or stop the process that owns this vault's index, or look at it.

    It starts by itself when needed and stops by itself when nobody has used it for a while.
    """


@daemon.command()
@pass_settings
def run(settings: Settings) -> int:
    """Run the daemon in the foreground, until Ctrl-C."""
    from vaultmind.client.launch import status
    from vaultmind.serve.daemon.daemon import run as run_daemon

    config = settings.config
    if not status(config)["running"]:
        log = config.state_dir / "daemon.log"
        aside(f"{good('●')} Serving {config.vault}; Ctrl-C ends it. Log: {log}")
    run_daemon(config)
    return 0


@daemon.command()
@pass_settings
def start(settings: Settings) -> int:
    """Start the daemon in the background, if none runs."""
    from vaultmind.client.client import Client

    Client.connect(settings.config).close()
    return _tell(settings)


@daemon.command()
@pass_settings
def stop(settings: Settings) -> int:
    """Ask the daemon to finish what it does and stop."""
    from vaultmind.client import launch

    stopped = launch.stop(settings.config)
    if settings.json:
        print_json({"running": False, "stopped": stopped})
    else:
        say("Stopped." if stopped else "None was running.")
    return 0


@daemon.command()
@pass_settings
def status(settings: Settings) -> int:
    """Show pid, clients and memory of the daemon. Exit code 1 when none runs."""
    return _tell(settings)


@click.command(cls=VaultCommand)
@pass_settings
def mcp(settings: Settings) -> int:
    """Connect an MCP client on stdin and stdout to this vault's daemon.

    Clients start this; `vaultmind connect` tells them how.
    """
    from vaultmind.client.bridge import main

    named = {name: str(settings.values.get(name) or "") for name in ("vault", "agent", "state_dir")}
    return main(**named)


def _tell(settings: Settings) -> int:
    from vaultmind.client import launch

    found = launch.status(settings.config)
    if settings.json:
        print_json(found)
    else:
        from vaultmind.cli.output.tables import daemon_words

        say(f"{good('●') if found['running'] else dim('○')} {daemon_words(found)}")
    return 0 if found["running"] else EXIT_OTHER
