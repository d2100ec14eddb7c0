"""Commands about the vault as a whole: init, index, reindex, import, status, doctor."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.output.bars import progress
from vaultmind.cli.output.output import EXIT_OTHER, bold, dim, good, odd, print_json, say
from vaultmind.errors import VaultNotFound
from vaultmind.plural import counted

READ_SECONDS = 600.0
"""So long a check in this process waits until every note is read; it says when that was not it."""


@click.command(cls=VaultCommand)
@click.option("--language", type=click.Choice(["en", "pl", "ru"]), default="en", show_default=True,
              help="Language of the agent's headings and identity.")  # fmt: skip
@pass_settings
def init(settings: Settings, language: str) -> int:
    """Make the memory folder in your vault and say what was made.

    Nothing outside that folder is ever written. Run it again at any time: what exists stays.
    """
    try:
        args = {"language": language} | settings.target
    except VaultNotFound as error:
        error.hint += " To make this folder a vault: vaultmind init --vault ."
        raise
    made = settings.backend().call("init", args)
    if settings.json:
        print_json(made)
        return 0
    from vaultmind.cli.output.tables import show_made

    show_made(made)
    say(f"Index, lock and log: {made['state_dir']} {dim('(safe to delete)')}")
    say("Your notes are being indexed meanwhile; `vaultmind status` tells how far it is.")
    say(f"\nNext: {bold(_next(settings))}")
    return 0


@click.command(cls=VaultCommand)
@pass_settings
def index(settings: Settings) -> int:
    """Bring the index up to date and wait until everything is searchable."""
    return _long(settings, "index")


@click.command(cls=VaultCommand)
@pass_settings
def reindex(settings: Settings) -> int:
    """Build the index anew from the vault and wait until everything is searchable.

    Vectors that are known are used again.
    """
    return _long(settings, "reindex", "index")


@click.command("import", cls=VaultCommand)
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False, readable=True))
@click.option("--one-session", is_flag=True,
              help="Make one session of all that FILE holds, in its order.")  # fmt: skip
@pass_settings
def import_(settings: Settings, file: Path, *, one_session: bool) -> int:
    """Take conversations from FILE into the agent's memory.

    FILE is JSON Lines of {session, time, role, speaker?, content, id?}, or the export of Claude
    or ChatGPT (conversations.json or the zip). The same file twice changes nothing.
    """
    args: dict[str, Any] = {"path": str(file.absolute())} | settings.target
    if one_session:
        args["one_session"] = True
    known = settings.backend().call("memory_status", {})["agents"]
    with progress(quiet=settings.json) as report:
        imported = settings.backend().call("import_file", args, report)
    agent = settings.config.agent
    imported["new_agent"] = agent not in known and imported["messages"] > 0
    if settings.json:
        print_json(imported)
        return 0
    if imported["new_agent"]:
        say(f"{odd('!')} {agent!r} is a new agent; vaultmind agents new {agent} introduces it.")
    new = (
        f"{counted(imported['messages'], 'message')} in {counted(imported['sessions'], 'session')}"
    )
    say(f"{good('✓')} {new} taken in; {imported['skipped']:,} were there already.")
    if ids := imported["session_ids"]:
        between = ", " if len(ids) == imported["sessions"] else " … "
        say(f"  {dim(between.join(ids))}")
    if imported["left_out"]:
        say(f"  {dim(counted(imported['left_out'], 'message') + ' without words left out.')}")
    if imported["redacted"]:
        say(f"  {dim('Taken out before storing: ' + ', '.join(imported['redacted']) + '.')}")
    for fault in imported["faults"]:
        say(f"  {odd('!')} {fault}")
    if imported["messages"]:
        say(dim("Searchable in a moment. Facts and summaries are taken from it when you say so:"))
        say(dim("vaultmind consolidate --dry-run shows what, without it they are written."))
    return 0


@click.command(cls=VaultCommand)
@pass_settings
def status(settings: Settings) -> int:
    """Show how complete the index is, who is connected and what is missing."""
    from vaultmind.client import launch

    state = settings.backend().call("memory_status", {})
    if not settings.in_process:
        settings.close()  # so as not to count ourselves among the clients
    state["daemon"] = launch.status(settings.config)
    if settings.json:
        print_json(state)
        return 0
    from vaultmind.cli.output.tables import show_status

    show_status(state)
    return 0


@click.command(cls=VaultCommand)
@pass_settings
def doctor(settings: Settings) -> int:
    """Check everything and say how to mend what is broken.

    With --in-process every note is read first. Exit code 1 when something is broken.
    """
    from vaultmind.cli.connect.checks import check_clients

    with progress(quiet=settings.json) as report:
        if settings.in_process:  # it begins with nothing read, and half a check is none
            waiting = {"vectors": False, "timeout_seconds": READ_SECONDS}
            settings.backend().call("index", waiting, report)
        result = settings.backend().call("doctor", {}, report)
    result["checks"] += check_clients(settings.config)
    if settings.json:
        print_json(result)
    else:
        from vaultmind.cli.output.tables import show_checks

        show_checks(result)
    failed = any(check["result"] == "fail" for check in result["checks"])
    return EXIT_OTHER if failed else 0


def _long(settings: Settings, *ops: str) -> int:
    """Run operations that report their steps, and show the index that the last one left."""
    state: dict[str, Any] = {}
    with progress(quiet=settings.json) as report:
        for op in ops:
            state = settings.backend().call(op, {}, report)
    if settings.json:
        print_json(state)
    else:
        from vaultmind.cli.output.tables import show_index

        show_index(state)
    return EXIT_OTHER if state["phase"] == "failed" else 0


def _next(settings: Settings) -> str:
    """Return the command that connects a client, from where the person stands."""
    options = {"--vault": "vault", "--agent": "agent", "--state-dir": "state_dir"}
    flags = [
        f" {option} {shlex.quote(str(settings.values[name]))}"
        for option, name in options.items()
        if settings.values.get(name)
    ]
    return f"vaultmind connect claude-desktop --write{''.join(flags)}"
