"""`vaultmind demo`: the whole story on a temporary copy of the example vault, in a minute."""

from __future__ import annotations

import hashlib
import shlex
import shutil
import tempfile
import time
from pathlib import Path

import click

import vaultmind
from vaultmind.cli.connect import program_words
from vaultmind.cli.options import Settings, pass_settings
from vaultmind.cli.terminal import EXIT_OTHER, bad, dim, good, print_json, show
from vaultmind.errors import NotFound

FACT = "My sourdough starter is called Gerald and lives on the second shelf of the fridge"
FACT_QUERY = "what is the name of my sourdough starter?"
TYPED = "The spare key to the allotment shed hangs behind the blue watering can"
OLD_FACT = "Saltmarsh Press pays half in advance, or the work does not start"
OLD_QUERY = "does Saltmarsh pay in advance?"
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
    ("Forget, and an older fact with the conversation that said it", "forget", FACT, "Forgotten"),
    ("", "ask no more", FACT_QUERY, "Gerald"),
    ("", "ask", OLD_QUERY, "pays half in advance"),
    ("", "forget", OLD_FACT, "Forgotten"),
    ("", "ask no more", OLD_QUERY, "pays half in advance"),
)  # fmt: skip
"""Each step: the title of its scene, what is done, with what, and the words that show it worked."""
FOUND_WITHIN_SECONDS, POLL_SECONDS = 15.0, 0.02
"""The watcher needs a moment after a hand edit."""
ENDING = """
The copy  {vault}: open it in Obsidian, edit it, ask on:
  cd {vault} && {program} search "what shall I pack for Kazakhstan?" --state-dir ../state
  rm -r {folder}

Now your own. In your vault's folder:
  {program} init
  {program} connect claude-desktop --write
then restart Claude Desktop and ask: what do you know about me?"""


@click.command()
@click.option("--clean", is_flag=True, help="Remove the copy at the end.")
@pass_settings
def demo(settings: Settings, *, clean: bool) -> int:
    """Show what VaultMind does, on a temporary copy of the example vault.

    Nothing of yours is read or written. Takes less than a minute.
    """
    folder, began = Path(tempfile.mkdtemp(prefix="vaultmind-demo-")), time.monotonic()
    vault = folder / "vault"
    shutil.copytree(example_vault(), vault)
    told, steps = Settings(), []
    told.values = {"vault": vault, "agent": "main", "state_dir": folder / "state",
                   "in_process": True}  # fmt: skip
    tell = (lambda words: None) if settings.json else show
    before = _fingerprint(told)
    try:
        for title, step, what, words in STORY:
            tell(f"\n## {title}" if title else "")
            tell(dim(f"> {step} {what}"))
            said = _done(told, step, what, words)
            ok = (words.casefold() in said.casefold()) != (step == "ask no more")
            steps.append({"step": step, "what": what, "ok": ok})
            tell("\n".join(said.splitlines()[:4]))
            tell(good("✓") if ok else bad("✗ not as it should be"))
        steps.append(
            {"step": "untouched", "files": len(before), "ok": _fingerprint(told) == before}
        )
    finally:
        told.close()
        if clean:
            shutil.rmtree(folder)
    took, well = round(time.monotonic() - began, 1), all(step["ok"] for step in steps)
    if settings.json:
        more = {"vault": str(vault), "took_seconds": took, "kept": not clean}
        print_json({"ok": well, "steps": steps} | more)
    tell(f"\n{len(before)} files outside the memory folder are byte for byte as they were.")
    tell(f"{good('✓ All of it')} in {took} seconds." if well else bad("✗ A step went wrong."))
    names = {"vault": shlex.quote(str(vault)), "folder": shlex.quote(str(folder))}
    tell(ENDING.format(program=program_words(), **names))
    return 0 if well else EXIT_OTHER


def _done(told: Settings, step: str, what: str, words: str) -> str:
    """Do one step and return what was said."""
    if step == "edit":
        brain = told.config.vault / told.config.memory_dir / "agents/main/memory/brain.md"
        brain.write_text(f"{brain.read_text('utf-8').rstrip()}\n- {what}\n", "utf-8")
        return f"- {what}"
    if not step.startswith("ask"):
        args = {"op": step, "text": what} if what else {}
        return told.ask("memory_update" if what else "index", args).words
    deadline, said = time.monotonic() + FOUND_WITHIN_SECONDS, ""
    while not said or (step == "ask" and words not in said and time.monotonic() < deadline):
        said = _asked(told, what, words)
        time.sleep(POLL_SECONDS)
    return said


def _asked(told: Settings, query: str, words: str) -> str:
    """Return the hit that holds some words, however it is wrapped; else the first one."""
    found = []
    for hit in told.call("memory_search", {"query": query})["hits"][:3]:
        text = " ".join(hit["text"].split())
        at = max(0, text.casefold().find(words.casefold()) - 60)
        found.append(f"│ {text[at : at + 180]}\n  {hit['path']}")
    return next((one for one in found if words.casefold() in one.casefold()), (found or ["-"])[0])


def example_vault() -> Path:
    """Return the example vault: packaged, or beside the package in a checkout."""
    package = Path(vaultmind.__file__).parent
    for folder in (package / "_example", package.parent / "vault-example"):
        if folder.is_dir():
            return folder
    raise NotFound("The example vault is not installed.", hint="Reinstall vaultmind.")


def _fingerprint(told: Settings) -> dict[str, str]:
    """Return the hash of every file of the vault outside the memory folder."""
    vault = told.config.vault
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in vault.rglob("*")
        if path.is_file() and not path.is_relative_to(vault / told.config.memory_dir)
    }
