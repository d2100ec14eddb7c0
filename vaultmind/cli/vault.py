"""Commands about the vault as a whole: init, index, reindex, import, status, doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.output import EXIT_OTHER, escaped, out, print_json, progress


@click.command(cls=VaultCommand)
@click.option("--language", type=click.Choice(["en", "pl", "ru"]), default="en", show_default=True,
              help="Language of the agent's headings and identity.")  # fmt: skip
@pass_settings
def init(settings: Settings, language: str) -> int:
    """Make the memory folder in your vault and say what was made.

    Nothing outside that folder is ever written. Run it again at any time: what exists stays.
    """
    args: dict[str, Any] = {"language": language}
    if settings.target:
        args["agent"] = settings.target
    made = settings.backend().call("init", args)
    if settings.json:
        print_json(made)
        return 0
    out.print(f"[bold]{escaped(made['vault'])}[/]")
    for path in made["created"]:
        out.print(f"  [green]+[/] {escaped(path)}")
    for path in made["existing"]:
        out.print(f"  [dim]=[/] {escaped(path)} [dim](was there)[/]")
    out.print(f"Index, lock and log: {escaped(made['state_dir'])} [dim](safe to delete)[/]")
    out.print("Your notes are being indexed in the background: `vaultmind status`.")
    out.print("Next: `vaultmind connect claude-desktop --write`")
    return 0


@click.command(cls=VaultCommand)
@pass_settings
def index(settings: Settings) -> int:
    """Bring the index up to date and wait until everything is searchable."""
    return _long(settings, "index", {})


@click.command(cls=VaultCommand)
@pass_settings
def reindex(settings: Settings) -> int:
    """Build the index anew from the vault (cached vectors are kept)."""
    return _long(settings, "reindex", {})


@click.command("import", cls=VaultCommand)
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@pass_settings
def import_(settings: Settings, file: Path) -> int:
    """Take conversations from FILE into the agent's memory.

    FILE is JSON Lines of {session, time, role, speaker?, content, id?}, or the export of Claude
    or ChatGPT (conversations.json or the zip). The same file twice changes nothing.
    """
    args = {"path": str(file.absolute())}
    if settings.target:
        args["agent"] = settings.target
    with progress(quiet=settings.json) as report:
        imported = settings.backend().call("import_file", args, report)
    if settings.json:
        print_json(imported)
        return 0
    new, old = imported["messages"], imported["skipped"]
    out.print(f"[green]✓[/] {new} messages in {imported['sessions']} sessions; {old} were there.")
    for fault in imported.get("faults", ()):
        out.print(f"  [yellow]![/] {escaped(str(fault))}")
    return 0


@click.command(cls=VaultCommand)
@pass_settings
def status(settings: Settings) -> int:
    """Show how complete the index is, who is connected and what is missing."""
    state = settings.backend().call("memory_status", {})
    if settings.json:
        print_json(state)
        return 0
    from vaultmind.cli.tables import show_status

    show_status(state)
    return 0


@click.command(cls=VaultCommand)
@pass_settings
def doctor(settings: Settings) -> int:
    """Check everything and say how to mend what is broken."""
    with progress(quiet=settings.json) as report:
        result = settings.backend().call("doctor", {}, report)
    if settings.json:
        print_json(result)
    else:
        from vaultmind.cli.tables import show_checks

        show_checks(result)
    failed = any(check["result"] == "fail" for check in result["checks"])
    return EXIT_OTHER if failed else 0


def _long(settings: Settings, op: str, args: dict[str, Any]) -> int:
    with progress(quiet=settings.json) as report:
        state = settings.backend().call(op, args, report)
    if settings.json:
        print_json(state)
        return 0
    from vaultmind.cli.tables import show_index

    show_index(state)
    return 0
