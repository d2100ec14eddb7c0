"""`vaultmind daemon`, `mcp` and `hook`: the processes themselves."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from vaultmind.cli.options import EXIT_OTHER, Answer, Settings, aside, dim, good, pass_settings
from vaultmind.client import launch
from vaultmind.client.hook import CLIENT, EVENTS
from vaultmind.plural import counted


@click.group(short_help="Run, start, stop or show the vault's daemon.")
def daemon() -> None:
    """Run, start, stop or show the process that owns this vault's index.

    It starts when needed and stops when it has been idle for a while.
    """


@daemon.command()
@pass_settings
def run(settings: Settings) -> int:
    """Run the daemon in the foreground, until Ctrl-C."""
    from vaultmind.serve.daemon import run as run_daemon

    config = settings.config
    if not launch.status(config)["running"]:
        log = config.state_dir / "daemon.log"
        aside(f"{good('●')} Serving {config.vault}; Ctrl-C ends it. Log: {log}")
    run_daemon(config)
    return 0


@daemon.command()
@pass_settings
def start(settings: Settings) -> int:
    """Start the daemon in the background, if none runs."""
    with settings.waiting("starting VaultMind"):
        launch.connect(settings.where, launch.PASSER_BY).close()
    return _tell(settings)


@daemon.command()
@pass_settings
def stop(settings: Settings) -> int:
    """Stop the daemon once it has finished its work."""
    with settings.waiting("stopping VaultMind"):
        stopped = launch.stop(settings.where)
    words = "Stopped." if stopped else "No daemon was running."
    settings.tell(Answer({"running": False, "stopped": stopped}, words))
    return 0


def _tell(settings: Settings) -> int:
    """Show the daemon's pid, clients and port. Exit code 1 if none is running."""
    found = launch.status(settings.where)
    mark = good("●") if found["running"] else dim("○")
    settings.tell(Answer(found, f"{mark} {daemon_words(found)}"))
    return 0 if found["running"] else EXIT_OTHER


daemon.command("status")(pass_settings(_tell))


def daemon_words(status: dict[str, Any]) -> str:
    """Return who runs and for whom, in a line."""
    if not status["running"]:
        return "not running; the next command starts it"
    clients = counted(status["clients"], "client")
    port = f" · http://127.0.0.1:{status['http_port']}" if status.get("http_port") else ""
    started = datetime.fromisoformat(status["started"])
    age = str(datetime.now(UTC) - started).partition(".")[0]
    return f"pid {status['pid']} · {clients} · up {age}{port}"


@click.command(short_help="The pipe to the daemon that MCP clients start.")
@pass_settings
def mcp(settings: Settings) -> int:
    """Connect an MCP client on stdin and stdout to this vault's daemon.

    Clients start this; `vaultmind connect` tells them how.
    """
    from vaultmind.client.bridge import main

    return main(**settings.named)


@click.command(short_help="What Claude Code's hooks run.")
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

    return main(event, **settings.named)
