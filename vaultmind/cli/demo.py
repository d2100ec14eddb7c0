"""`vaultmind demo`: the whole story on a temporary copy of the example vault, in a minute."""

from __future__ import annotations

import shlex
import shutil
import tempfile
import time
from pathlib import Path

import click

import vaultmind
from vaultmind.cli.connect import program_words
from vaultmind.cli.options import EXIT_OTHER, Settings, bad, dim, good, show
from vaultmind.errors import NotFound

FACT = "My sourdough starter is called Gerald and lives on the second shelf of the fridge"
FACT_QUERY = "what is the name of my sourdough starter?"
TYPED = "The spare key to the allotment shed hangs behind the blue watering can"
STORY: tuple[tuple[str, str, str, str], ...] = (
    ("Index a vault: bread oven, translations, family; en, pl, ru", "index", "", "Index ready"),
    ("Ask, in three languages", "ask", "What is wrong with a clay oven in our climate?",
     "cracks by the second winter"),
    ("", "ask", "Co obiecałam pani Mroczek w sprawie dymu?", "tylko w soboty przed południem"),
    ("", "ask", "Из-за какого слова мы поссорились на вокзале?", "поссорились на вокзале"),
    ("Remember", "remember", FACT, "Remembered"),
    ("", "ask", FACT_QUERY, "Gerald"),
    ("Edit brain.md by hand, as you would in Obsidian", "edit", TYPED, ""),
    ("", "ask", "where is the spare key of the shed?", "watering can"),
    ("Forget", "forget", FACT, "Forgotten"),
    ("", "ask no more", FACT_QUERY, "Gerald"),
)  # fmt: skip
"""Each step: the title of its scene, what is done, with what, and the words that show it worked."""
AROUND, SHOWN = 60, 180
"""Characters of a found text: before the words that are looked for, and in all."""
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
    folder, began = Path(tempfile.mkdtemp(prefix="vaultmind-demo-")), time.monotonic()
    vault, wrong = folder / "vault", 0
    shutil.copytree(example_vault(), vault)
    copy = Settings()
    copy.vault, copy.agent, copy.state_dir = str(vault), "main", str(folder / "state")
    copy.in_process = True
    before = _fingerprint(vault)
    try:
        for title, step, what, words in STORY:
            show(f"\n## {title}" if title else "")
            show(dim(f"> {step} {what}"))
            said = _done(copy, step, what, words)
            ok = (words.casefold() in said.casefold()) != (step == "ask no more")
            show("\n".join(said.splitlines()[:4]))
            show(good("✓") if ok else bad("✗ not as it should be"))
            wrong += not ok
        wrong += _fingerprint(vault) != before
    finally:
        copy.close()
        if clean:
            shutil.rmtree(folder)
    took = f"All of it in {time.monotonic() - began:.0f} seconds"
    kept = f"{len(before)} files outside the memory folder are byte for byte as they were"
    show(bad("\n✗ A step went wrong.") if wrong else good(f"\n✓ {took}, and {kept}."))
    if not clean:
        show(ENDING.format(program=program_words(), folder=shlex.quote(str(folder))))
    return EXIT_OTHER if wrong else 0


def _done(copy: Settings, step: str, what: str, words: str) -> str:
    """Do one step and return what was said; of what was found the part that holds the words."""
    if step == "edit":
        brain = Path(copy.vault, "VaultMind/agents/main/memory/brain.md")
        brain.write_text(f"{brain.read_text('utf-8').rstrip()}\n- {what}\n", "utf-8")
        copy.call("refresh")  # the watcher would need a moment
        return f"- {what}"
    if not step.startswith("ask"):
        args = {"op": step, "text": what} if what else {}
        return copy.ask("memory_update" if what else "index", args).words
    hits = copy.call("memory_search", {"query": what, "limit": 3})["hits"]
    texts = [(" ".join(hit["text"].split()), hit["path"]) for hit in hits]
    text, path = next((one for one in texts if words in one[0]), texts[0])
    at = max(0, text.find(words) - AROUND)
    return f"│ {text[at : at + SHOWN]}\n  {path}"


def example_vault() -> Path:
    """Return the example vault: packaged, or beside the package in a checkout."""
    package = Path(vaultmind.__file__).parent
    for folder in (package / "_example", package.parent / "vault-example"):
        if folder.is_dir():
            return folder
    raise NotFound("The example vault is not installed.", hint="Reinstall vaultmind.")


def _fingerprint(vault: Path) -> dict[Path, bytes]:
    """Return every file of the vault outside the memory folder, as it is."""
    files = (path for path in vault.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if "VaultMind" not in path.parts}
