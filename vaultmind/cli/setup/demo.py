"""`vaultmind demo`: the whole story on a temporary copy of the example vault, in a minute."""

from __future__ import annotations

import shlex
import shutil
import tempfile
import time
from pathlib import Path

import click

import vaultmind
from vaultmind.cli.backend import InProcessBackend
from vaultmind.cli.connect.clients import program_words
from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.output.output import EXIT_OTHER, bad, bold, good, place, print_json, say
from vaultmind.cli.setup.story import SCENES, Story
from vaultmind.config import Config, Flags, load_config
from vaultmind.errors import NotFound

QUERY = "what shall I pack for Kazakhstan?"
"""What a person may ask next."""


@click.command(cls=VaultCommand)
@click.option("--clean", is_flag=True, help="Remove the copy at the end.")
@pass_settings
def demo(settings: Settings, *, clean: bool) -> int:
    """Show what VaultMind does, on a temporary copy of the example vault.

    Nothing of yours is read or written. Takes less than a minute.
    """
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="vaultmind-demo-"))
    vault = folder / "vault"
    shutil.copytree(example_vault(), vault)
    config = load_config(Flags(vault=str(vault), agent="main", state_dir=str(folder / "state")))
    story = Story(config, InProcessBackend(config), quiet=settings.json)
    try:
        for title, scene in SCENES:
            story.tell(title, scene)
    except KeyboardInterrupt:
        clean = True
        raise
    finally:
        story.backend.close()
        if clean:
            shutil.rmtree(folder)
    took = round(time.monotonic() - started, 1)
    well = all(step["ok"] for step in story.steps)
    if settings.json:
        where = {"vault": str(vault), "took_seconds": took, "kept": not clean}
        print_json({"ok": well, "steps": story.steps} | where)
    else:
        _farewell(config, took, well=well, kept=not clean)
    return 0 if well else EXIT_OTHER


def example_vault() -> Path:
    """Return the example vault: packaged, or beside the package in a checkout."""
    package = Path(vaultmind.__file__).parent
    for folder in (package / "_example", package.parent / "vault-example"):
        if folder.is_dir():
            return folder
    raise NotFound("The example vault is not installed.", hint="Reinstall vaultmind.")


def _farewell(config: Config, took: float, *, well: bool, kept: bool) -> None:
    say(f"{good('✓ All of it')} in {took} seconds." if well else bad("✗ A step went wrong."))
    folder = config.vault.parent
    program = program_words()
    if kept:
        say("\nLook around (open the vault in Obsidian if you have it):")
        say(f"  the vault   {place(str(config.vault))}")
        say(f"  the memory  {place(str(config.vault / config.memory_dir / 'agents/main/memory'))}")
        say(f"  the index   {place(str(config.state_dir))}")
        vault = shlex.quote(str(config.vault))
        say(f'  Ask on      cd {vault} && {program} search "{QUERY}" --state-dir ../state')
        say(f"  Remove all  rm -r {shlex.quote(str(folder))}")
    say("\nNow your own. In your vault's folder:")
    say(f"  {bold(f'{program} init')}")
    say(f"  {bold(f'{program} connect claude-desktop --write')}")
    say("then restart Claude Desktop and ask: what do you know about me?")
