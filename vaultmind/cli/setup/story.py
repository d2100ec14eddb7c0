"""The scenes of the demo: index, ask, remember, edit by hand, forget, and look what was touched."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vaultmind.cli.backend import Backend
from vaultmind.cli.output.bars import progress
from vaultmind.cli.output.output import bad, bold, dim, good, paragraph, place, say
from vaultmind.config import Config

FIRST_HITS = 3
"""A question is answered when the expected note is among so many hits."""
FACT = "My sourdough starter is called Gerald and lives on the second shelf of the fridge"
FACT_QUERY = "what is the name of my sourdough starter?"
TYPED = "The spare key to the allotment shed hangs behind the blue watering can"
TYPED_QUERY = "where is the spare key of the shed?"
OLD_FACT = "Saltmarsh Press pays half in advance, or the work does not start"
OLD_FACT_SAID = "pays half in advance"
OLD_FACT_QUERY = "does Saltmarsh pay in advance?"
FOUND_WITHIN_SECONDS = 15.0
POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the note that answers it, and the answer's words there."""

    lang: str
    text: str
    note: str
    answer: str


QUESTIONS = (
    Question(
        "English",
        "What is wrong with a clay oven in our climate?",
        "Projects/Bread oven.md",
        "cracks by the second winter",
    ),
    Question(
        "Polish",
        "Co obiecałam pani Mroczek w sprawie dymu?",
        "People/Pani Mroczek.md",
        "tylko w soboty przed południem",
    ),
    Question(
        "Russian",
        "Из-за какого слова мы поссорились на вокзале?",
        "Languages/Русские выражения.md",
        "поссорились на вокзале",
    ),
)


@dataclass(slots=True)
class Story:
    """The demo's stage: where it plays, through what, and what came out so far."""

    config: Config
    backend: Backend
    quiet: bool
    steps: list[dict[str, Any]] = field(default_factory=list)
    before: dict[str, str] = field(default_factory=dict)
    """Hashes of the person's own files, taken before anything ran."""

    def tell(self, title: str, scene: Callable[[Story], Iterator[dict[str, Any]]]) -> None:
        """Play a scene; show and keep what each of its steps came to and how long it took."""
        self.say(f"\n{bold(title)}")
        began = time.monotonic()
        for step in scene(self):
            took = round(time.monotonic() - began, 2)
            self.steps.append(step | {"took_seconds": took})
            words = good("✓") if step["ok"] else bad("✗ not as it should be")
            self.say(f"  {words} {dim(f'{took:.2f} s')}")
            began = time.monotonic()

    def say(self, text: str) -> None:
        """Show a line, unless the output is for a script."""
        if not self.quiet:
            say(text)

    def hits(self, query: str) -> list[dict[str, Any]]:
        """Return what a search finds."""
        found: list[dict[str, Any]] = self.backend.call("memory_search", {"query": query})["hits"]
        return found

    def update(self, op: str, text: str) -> dict[str, Any]:
        """Change the memory and show what came of it."""
        outcome = self.backend.call("memory_update", {"op": op, "text": text})
        self.say(paragraph(outcome["message"], "  "))
        return outcome

    def show_hit(self, hit: dict[str, Any], words: str) -> None:
        """Show the line of a hit that holds some words, and where it stands."""
        line = next((one for one in hit["text"].splitlines() if words in one), hit["text"])
        text = paragraph(line.strip().lstrip("-*> "), "  │ ")
        self.say(text.replace(words, good(words)))
        self.say(f"  {place(hit['path'] + hit['anchor'])}")


def _index(story: Story) -> Iterator[dict[str, Any]]:
    story.before.update(_fingerprint(story.config))
    notes = sum(path.endswith(".md") for path in story.before)
    story.say(f"  {notes} notes of one person: bread oven, translations, family; en, pl, ru.")
    with progress(quiet=story.quiet) as report:
        state = story.backend.call("index", {}, report)
    counts = {name: state[name] for name in ("files", "chunks", "vectors")}
    story.say(f"  {', '.join(f'{count} {name}' for name, count in counts.items())}")
    yield {"step": "index", "ok": state["phase"] == "ready" and state["vectors"] > 0} | counts


def _ask(story: Story) -> Iterator[dict[str, Any]]:
    for question in QUESTIONS:
        story.say(f"  {bold(question.text)} {dim(question.lang)}")
        hits = story.hits(question.text)[:FIRST_HITS]
        right = [hit for hit in hits if hit["path"] == question.note]
        told = next((hit for hit in right if question.answer in hit["text"]), None)
        for hit in [told] if told else hits[:1]:
            story.show_hit(hit, question.answer)
        place_ = 1 + hits.index(told) if told else 0
        paths = [hit["path"] for hit in hits]
        yield {"step": "ask", "ok": bool(told), "query": question.text, "expected": question.note,
               "rank": place_, "paths": paths}  # fmt: skip


def _remember(story: Story) -> Iterator[dict[str, Any]]:
    story.say(paragraph(f"vaultmind remember “{FACT}”", "  "))
    outcome = story.update("remember", FACT)
    yield {"step": "remember", "ok": outcome["outcome"] == "written", "path": outcome["path"]}
    yield _finds(story, "find", FACT_QUERY, "Gerald")


def _edit(story: Story) -> Iterator[dict[str, Any]]:
    brain = _brain(story.config)
    text = brain.read_text("utf-8")
    brain.write_text(f"{text.rstrip()}\n- {TYPED}\n", "utf-8")
    story.say(paragraph(f"Typed into the file: “{TYPED}”", "  "))
    yield _finds(story, "edit", TYPED_QUERY, "watering can")


def _forget(story: Story) -> Iterator[dict[str, Any]]:
    yield _forgets(story, FACT, FACT_QUERY, "Gerald")
    story.say("  And an older fact, with the conversation of March that said it:")
    yield _forgets(story, OLD_FACT, OLD_FACT_QUERY, OLD_FACT_SAID)


def _untouched(story: Story) -> Iterator[dict[str, Any]]:
    after = _fingerprint(story.config)
    count = sum(after.get(path) == digest for path, digest in story.before.items())
    same = after == story.before
    story.say(f"  {count} of {len(story.before)} files are byte for byte as they were.")
    yield {"step": "untouched", "ok": same, "files": count}


SCENES: tuple[tuple[str, Callable[[Story], Iterator[dict[str, Any]]]], ...] = (
    ("1  Index a vault", _index),
    ("2  Ask, in three languages", _ask),
    ("3  Remember", _remember),
    ("4  Edit brain.md by hand, as you would in Obsidian", _edit),
    ("5  Forget", _forget),
    ("6  What was touched outside the memory folder?", _untouched),
)


def _finds(story: Story, step: str, query: str, words: str) -> dict[str, Any]:
    """Ask until a hit holds the words; the watcher needs a moment after a hand edit."""
    story.say(f"  {bold(query)}")
    deadline = time.monotonic() + FOUND_WITHIN_SECONDS
    while not (told := _holding(story, query, words)) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    if told:
        story.show_hit(told[0], words)
    return {"step": step, "ok": bool(told), "query": query}


def _forgets(story: Story, fact: str, query: str, words: str) -> dict[str, Any]:
    """Forget a fact; well done when it was there, and no way leads to it any more."""
    before = _holding(story, query, words)
    outcome = story.update("forget", fact)
    in_brain = words in _brain(story.config).read_text("utf-8")
    after = _holding(story, query, words)
    story.say(f"  {bold(query)}")
    story.say(f"  {_hits_words(len(before))} before, {_hits_words(len(after))} now; in brain.md "
              f"{bad('still there') if in_brain else good('gone')}.")  # fmt: skip
    gone = bool(before) and outcome["outcome"] == "written" and not in_brain and not after
    hidden = outcome["hidden_messages"]
    return {"step": "forget", "ok": gone, "fact": fact, "hits_before": len(before),
            "hits_after": len(after), "in_brain": in_brain, "hidden_messages": hidden}  # fmt: skip


def _holding(story: Story, query: str, words: str) -> list[dict[str, Any]]:
    """Return the hits whose text holds some words, however it is wrapped or capitalised."""
    pattern = re.compile(r"\s+".join(map(re.escape, words.split())), re.IGNORECASE)
    return [hit for hit in story.hits(query) if pattern.search(hit["text"])]


def _hits_words(count: int) -> str:
    return "no hit" if not count else f"{count} hit{'s' if count > 1 else ''}"


def _brain(config: Config) -> Path:
    return config.vault / config.memory_dir / "agents/main/memory/brain.md"


def _fingerprint(config: Config) -> dict[str, str]:
    """Return the hash of every file of the vault outside the memory folder."""
    memory = config.vault / config.memory_dir
    files = (path for path in sorted(config.vault.rglob("*")) if path.is_file())
    return {
        str(path.relative_to(config.vault)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if not path.is_relative_to(memory)
    }
