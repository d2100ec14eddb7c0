"""`vaultmind demo`: the whole story on a temporary copy of the example vault, in a minute.

Each step is a command as a person types it, but for one edit by hand.
"""

from __future__ import annotations

import shlex
import shutil
import tempfile
from pathlib import Path

import click

import vaultmind
from vaultmind.cli import main
from vaultmind.cli.connect import program_words
from vaultmind.cli.options import EXIT_OTHER, bad, dim, good, show
from vaultmind.errors import NotFound

FACT = "My sourdough starter is called Gerald and lives on the second shelf of the fridge"
TYPED = "The spare key to the allotment shed hangs behind the blue watering can"
STORY = (
    ("Index a vault in three languages (one note is broken on purpose)", "index"),
    ("Ask, in three languages", "search 'What is wrong with a clay oven in our climate?'"),
    ("", "search 'Co mówiła babcia o piecu?'"),
    ("", "search 'Из-за какого слова мы поссорились на вокзале?'"),
    ("Remember", f"remember '{FACT}'"),
    ("", "say 'What do you know about my sourdough starter?'"),
    ("Edit brain.md by hand, as you would in Obsidian", TYPED),
    ("", "search 'where is the spare key of the shed?'"),
    ("Forget", f"forget '{FACT}'"),
    ("", "say 'What do you know about my sourdough starter?'"),
)
"""Each step: the title of its scene, and what is typed."""
BRIEFLY = ("--limit", "1", "--max-tokens", "60")
ENDING = """
The copy is {folder}/vault: open it in Obsidian; `rm -r {folder}` removes it.

Now your own. In your vault's folder:
  {program} init
  {program} connect claude-desktop --write"""


@click.command(short_help="See it work on a copy of the example vault.")
@click.option("--clean", is_flag=True, help="Remove the copy at the end.")
def demo(*, clean: bool) -> int:
    """Show what VaultMind does, on a temporary copy of the example vault.

    Nothing of yours is read or written. Takes less than a minute.
    """
    folder = Path(tempfile.mkdtemp(prefix="vaultmind-demo-"))
    brain = folder / "vault/VaultMind/agents/main/memory/brain.md"
    where = ["--vault", f"{folder}/vault", "--agent", "main", "--state-dir", f"{folder}/state"]
    shutil.copytree(example_vault(), folder / "vault")
    wrong = 0
    for title, typed in STORY:
        show(f"\n## {title}" if title else "")
        if typed == TYPED:
            show(dim(f"- {typed}"))
            brain.write_text(f"{brain.read_text('utf-8').rstrip()}\n- {typed}\n", "utf-8")
            continue
        show(dim(f"> vaultmind {typed}"))
        words = shlex.split(typed) + (list(BRIEFLY) if typed.startswith("search") else [])
        wrong += main.main([*words, *where]) != 0
    main.main(["daemon", "stop", *where])
    show(bad("\n✗ A step went wrong.") if wrong else good("\n✓ Every step went well."))
    if clean:
        shutil.rmtree(folder)
    else:
        show(ENDING.format(program=program_words(), folder=shlex.quote(str(folder))))
    return EXIT_OTHER if wrong else 0


def example_vault() -> Path:
    """Return the example vault: packaged, or beside the package in a checkout."""
    package = Path(vaultmind.__file__).parent
    for folder in (package / "_example", package.parent / "vault-example"):
        if folder.is_dir():
            return folder
    raise NotFound("The example vault is not installed.", hint="Reinstall vaultmind.")
