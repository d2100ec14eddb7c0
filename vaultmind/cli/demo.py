"""`vaultmind demo`: the whole story on a temporary copy of the example vault, in a minute."""

from __future__ import annotations

import hashlib
import shlex
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import click

import vaultmind
from vaultmind.cli.connect import program_words
from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.terminal import EXIT_OTHER, bad, bold, good, paragraph, place, print_json, say
from vaultmind.errors import NotFound

QUESTIONS = (
    ("What is wrong with a clay oven in our climate?", "Projects/Bread oven.md",
     "cracks by the second winter"),
    ("Co obiecałam pani Mroczek w sprawie dymu?", "People/Pani Mroczek.md",
     "tylko w soboty przed południem"),
    ("Из-за какого слова мы поссорились на вокзале?", "Languages/Русские выражения.md",
     "поссорились на вокзале"),
)  # fmt: skip
"""Each with the note that answers it and the words there; found among the first three hits."""
FACT = "My sourdough starter is called Gerald and lives on the second shelf of the fridge"
FACT_QUERY = "what is the name of my sourdough starter?"
TYPED = "The spare key to the allotment shed hangs behind the blue watering can"
TYPED_QUERY = "where is the spare key of the shed?"
OLD_FACT = "Saltmarsh Press pays half in advance, or the work does not start"
OLD_FACT_SAID = "pays half in advance"
OLD_FACT_QUERY = "does Saltmarsh pay in advance?"
FOUND_WITHIN_SECONDS, POLL_SECONDS = 15.0, 0.02
ENDING = """
The copy  {vault}: open it in Obsidian, edit it, ask on:
  cd {vault} && {program} search "what shall I pack for Kazakhstan?" --state-dir ../state
  rm -r {folder}

Now your own. In your vault's folder:
  {program} init
  {program} connect claude-desktop --write
then restart Claude Desktop and ask: what do you know about me?"""


@click.command(cls=VaultCommand)
@click.option("--clean", is_flag=True, help="Remove the copy at the end.")
@pass_settings
def demo(settings: Settings, *, clean: bool) -> int:
    """Show what VaultMind does, on a temporary copy of the example vault.

    Nothing of yours is read or written. Takes less than a minute.
    """
    folder = Path(tempfile.mkdtemp(prefix="vaultmind-demo-"))
    shutil.copytree(example_vault(), folder / "vault")
    told = Settings()
    told.values = {"vault": folder / "vault", "agent": "main", "state_dir": folder / "state",
                   "in_process": True, "json": settings.json}  # fmt: skip
    story, started = Story(told), time.monotonic()
    try:
        story.tell()
    finally:
        told.close()
        if clean:
            shutil.rmtree(folder)
    took = round(time.monotonic() - started, 1)
    well = all(step["ok"] for step in story.steps)
    if settings.json:
        where = {"vault": str(folder / "vault"), "took_seconds": took, "kept": not clean}
        print_json({"ok": well, "steps": story.steps} | where)
    else:
        say(f"\n{good('✓ All of it')} in {took} seconds." if well else bad("✗ A step went wrong."))
        names = {"vault": folder / "vault", "folder": folder}
        quoted = {name: shlex.quote(str(one)) for name, one in names.items()}
        say(ENDING.format(program=program_words(), **quoted))
    return 0 if well else EXIT_OTHER


def example_vault() -> Path:
    """Return the example vault: packaged, or beside the package in a checkout."""
    package = Path(vaultmind.__file__).parent
    for folder in (package / "_example", package.parent / "vault-example"):
        if folder.is_dir():
            return folder
    raise NotFound("The example vault is not installed.", hint="Reinstall vaultmind.")


class Story:
    """The demo as it goes: index, ask, remember, edit by hand, forget, look what was touched."""

    def __init__(self, settings: Settings) -> None:
        self.steps: list[dict[str, Any]] = []
        """What each step came to: `step`, `ok` and more."""
        self._settings = settings
        self._memory = settings.config.vault / settings.config.memory_dir
        self._brain = self._memory / "agents/main/memory/brain.md"

    def tell(self) -> None:
        """Play every scene."""
        before = self._fingerprint()
        self._say(bold("1  Index a vault: bread oven, translations, family; en, pl, ru"))
        state = self._settings.call("index")
        self._done("index", state["phase"] == "ready" and state["vectors"] > 0)
        self._say(bold("\n2  Ask, in three languages"))
        for question, note, words in QUESTIONS:
            held = self._find(question, words)[:3]
            self._done("ask", any(hit["path"] == note for hit in held), query=question)
        self._say(bold(f"\n3  Remember: “{FACT}”"))
        outcome = self._update("remember", FACT)
        self._done("remember", outcome["outcome"] == "written", path=outcome["path"])
        self._done("find", bool(self._find(FACT_QUERY, "Gerald")), query=FACT_QUERY)
        self._say(bold(f"\n4  Edit brain.md by hand, as you would in Obsidian: “{TYPED}”"))
        text = self._brain.read_text("utf-8")
        self._brain.write_text(f"{text.rstrip()}\n- {TYPED}\n", "utf-8")
        self._done("edit", bool(self._find(TYPED_QUERY, "watering can")), query=TYPED_QUERY)
        self._say(bold("\n5  Forget, and an older fact with the conversation that said it"))
        for fact, query, words in ((FACT, FACT_QUERY, "Gerald"),
                                   (OLD_FACT, OLD_FACT_QUERY, OLD_FACT_SAID)):  # fmt: skip
            was, outcome = self._holding(query, words), self._update("forget", fact)
            now = self._holding(query, words)
            self._say(f"  “{query}”: {len(was)} before, {len(now)} now")
            gone = bool(was) and not now and words not in self._brain.read_text("utf-8")
            self._done("forget", gone and outcome["outcome"] == "written", fact=fact)
        self._say(bold("\n6  What was touched outside the memory folder?"))
        self._say(f"  {len(before)} files are to be byte for byte as they were.")
        self._done("untouched", self._fingerprint() == before, files=len(before))

    def _find(self, query: str, words: str) -> list[dict[str, Any]]:
        """Ask until a hit holds the words; the watcher needs a moment after a hand edit."""
        deadline = time.monotonic() + FOUND_WITHIN_SECONDS
        while not (found := self._holding(query, words)) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        self._say(f"  {bold(query)}")
        for hit in found[:1]:
            line = next((one for one in hit["text"].splitlines() if words in one), hit["text"])
            text = paragraph(line.strip().lstrip("-*> "), "  │ ").replace(words, good(words))
            self._say(f"{text}\n  {place(hit['path'] + hit['anchor'])}")
        return found

    def _holding(self, query: str, words: str) -> list[dict[str, Any]]:
        """Return the hits whose text holds some words, however it is wrapped."""
        hits = self._settings.call("memory_search", {"query": query})["hits"]
        wanted = words.casefold()
        return [hit for hit in hits if wanted in " ".join(hit["text"].casefold().split())]

    def _update(self, op: str, text: str) -> dict[str, Any]:
        outcome = self._settings.call("memory_update", {"op": op, "text": text})
        self._say(paragraph(outcome["message"], "  "))
        return outcome

    def _done(self, step: str, ok: bool, **more: Any) -> None:  # noqa: ANN401
        """Keep and show what a step came to."""
        self.steps.append({"step": step, "ok": ok, **more})
        self._say(f"  {good('✓') if ok else bad('✗ not as it should be')}")

    def _say(self, text: str) -> None:
        if not self._settings.json:
            say(text)

    def _fingerprint(self) -> dict[str, str]:
        """Return the hash of every file of the vault outside the memory folder."""
        return {
            str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in self._settings.config.vault.rglob("*")
            if path.is_file() and not path.is_relative_to(self._memory)
        }
