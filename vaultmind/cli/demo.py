"""`vaultmind demo`: the whole story on a temporary copy of the example vault, in a minute."""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.rule import Rule

import vaultmind
from vaultmind.cli.backend import Backend, InProcessBackend
from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.output import EXIT_OTHER, escaped, out, print_json, progress
from vaultmind.config import Config, Flags, load_config
from vaultmind.errors import NotFound

QUESTIONS = (
    ("en", "How hot should the oven be for the first bread?"),
    ("pl", "Ile drożdży babcia dawała do chałki?"),
    ("ru", "Что Тимур хотел на день рождения?"),
)
FACT = "My sourdough starter is called Gerald and lives on the second shelf of the fridge"
FACT_QUERY = "what is the name of my sourdough starter?"
TYPED = "The spare key to the allotment shed hangs behind the blue watering can"
TYPED_QUERY = "where is the spare key of the shed?"
FOUND_WITHIN_SECONDS = 15.0
PREVIEW = 160


@dataclass(slots=True)
class Story:
    """The demo's stage: where it plays, through what, and what came out so far."""

    config: Config
    backend: Backend
    quiet: bool
    steps: list[dict[str, Any]]

    def say(self, text: str) -> None:
        """Show a line, unless the output is for a script."""
        if not self.quiet:
            out.print(text)

    def heading(self, text: str) -> None:
        """Show a rule with a title."""
        if not self.quiet:
            out.print()
            out.print(Rule(text, align="left", style="dim"))

    def note(self, step: str, *, ok: bool, **details: Any) -> None:  # noqa: ANN401
        """Keep what a step came to."""
        self.steps.append({"step": step, "ok": ok, **details})


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
    backend = InProcessBackend(config)
    story = Story(config, backend, settings.json, [])
    try:
        for scene in (_index, _ask, _remember, _edit, _forget):
            scene(story)
    finally:
        backend.close()
        if clean:
            shutil.rmtree(folder)
    took = round(time.monotonic() - started, 1)
    if settings.json:
        where = {"vault": str(vault), "took_seconds": took, "kept": not clean}
        print_json({"steps": story.steps} | where)
    else:
        _farewell(story, took, kept=not clean)
    return 0 if all(step["ok"] for step in story.steps) else EXIT_OTHER


def example_vault() -> Path:
    """Return the example vault: packaged, or beside the package in a checkout."""
    package = Path(vaultmind.__file__).parent
    for folder in (package / "_example", package.parent / "vault-example"):
        if folder.is_dir():
            return folder
    raise NotFound("The example vault is not installed.", hint="Reinstall vaultmind.")


def _index(story: Story) -> None:
    story.heading("A vault of 90 notes in three languages")
    story.say(f"A copy of the example vault: [cyan]{escaped(str(story.config.vault))}[/]")
    with progress(quiet=story.quiet) as report:
        state = story.backend.call("index", {}, report)
    counted = f"{state['indexed']} files, {state['chunks']} chunks, {state['vectors']} vectors"
    story.say(f"[green]✓[/] Indexed: {counted}. No byte of a note was changed.")
    story.note("index", ok=state["indexed"] > 0, files=state["indexed"], chunks=state["chunks"])


def _ask(story: Story) -> None:
    story.heading("Three questions, three languages")
    for lang, question in QUESTIONS:
        answer = story.backend.call("memory_search", {"query": question, "limit": 1})
        story.say(f"[bold]{escaped(question)}[/] [dim]({lang}, {answer['took_ms']:.0f} ms)[/]")
        for hit in answer["hits"]:
            text = " ".join(hit["text"].split())[:PREVIEW]
            story.say(f"   {escaped(text)}…\n   [cyan]{escaped(hit['path'] + hit['anchor'])}[/]")
        path = answer["hits"][0]["path"] if answer["hits"] else ""
        story.note("ask", ok=bool(path), query=question, path=path)


def _remember(story: Story) -> None:
    story.heading("Remember")
    outcome = story.backend.call("memory_update", {"op": "remember", "text": FACT})
    story.say(f"[green]✓[/] {escaped(outcome['message'])}")
    found = _find(story, FACT_QUERY, "Gerald")
    story.say(f"“{FACT_QUERY}” {_found_words(found)}")
    story.note("remember", ok=outcome["outcome"] == "written" and found, path=outcome["path"])


def _edit(story: Story) -> None:
    story.heading("Edit brain.md by hand, as you would in Obsidian")
    brain = story.config.vault / story.config.memory_dir / "agents/main/memory/brain.md"
    text = brain.read_text("utf-8")
    brain.write_text(text.rstrip("\n") + f"\n- {TYPED}\n", "utf-8")
    started = time.monotonic()
    found = _find(story, TYPED_QUERY, "watering can")
    took_ms = round((time.monotonic() - started) * 1000)
    story.say(f"Typed: “{TYPED}”\n“{TYPED_QUERY}” {_found_words(found)} after {took_ms} ms.")
    story.note("edit", ok=found, took_ms=took_ms)


def _forget(story: Story) -> None:
    story.heading("Forget")
    outcome = story.backend.call("memory_update", {"op": "forget", "text": FACT})
    story.say(f"[green]✓[/] {escaped(outcome['message'])}")
    shown = story.backend.call("memory_show", {})
    in_brain = any("Gerald" in fact["text"] for part in shown["sections"] for fact in part["facts"])
    answer = story.backend.call("memory_search", {"query": FACT_QUERY})
    in_search = any("Gerald" in hit["text"] for hit in answer["hits"])
    story.say(f"In the brain: {_presence(in_brain)}. In search: {_presence(in_search)}.")
    gone = outcome["outcome"] == "written" and not in_brain and not in_search
    story.note("forget", ok=gone, in_brain=in_brain, in_search=in_search)


def _farewell(story: Story, took: float, *, kept: bool) -> None:
    story.heading(f"Done in {took} seconds")
    if kept:
        story.say("Open the copy in Obsidian and look at the folder VaultMind/:")
        story.say(f"  [cyan]{escaped(str(story.config.vault))}[/]")
        story.say(f"Its index and log: {escaped(str(story.config.state_dir))}")
        story.say(f"Remove both with: rm -r {escaped(str(story.config.vault.parent))}")
    story.say("\nWith your own vault, inside its folder:")
    story.say("  [bold]vaultmind init[/]")
    story.say("  [bold]vaultmind connect claude-desktop --write[/]")


def _find(story: Story, query: str, word: str) -> bool:
    """Ask until a hit holds the word; the watcher needs a moment after a hand edit."""
    deadline = time.monotonic() + FOUND_WITHIN_SECONDS
    while True:
        answer = story.backend.call("memory_search", {"query": query})
        if any(word in hit["text"] for hit in answer["hits"]):
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)


def _found_words(found: bool) -> str:
    return "[green]finds it[/]" if found else "[red]does not find it[/]"


def _presence(there: bool) -> str:
    return "[red]still there[/]" if there else "[green]gone[/]"
