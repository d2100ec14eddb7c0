"""`vaultmind minion`: which language model works in the background, and what it can."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vaultmind.cli.options import Settings, VaultCommand, VaultGroup, pass_settings
from vaultmind.cli.output.output import (
    EXIT_OTHER,
    aside,
    bad,
    bold,
    dim,
    good,
    odd,
    paragraph,
    place,
    print_json,
    say,
)
from vaultmind.plural import counted
from vaultmind.types import PURPOSES

if TYPE_CHECKING:
    from vaultmind.minion.local import LocalGenerator
    from vaultmind.minion.remote import RemoteGenerator
    from vaultmind.minion.report import Model, Standing

RESTART = "The daemon that runs now keeps what it had; `vaultmind daemon stop` ends it."


@click.group(cls=VaultGroup)
def minion() -> None:
    """Show, try or choose the language model that works in the background.

    None is needed: without one the built-in extractive engine does it all.
    """


@minion.command()
@pass_settings
def status(settings: Settings) -> int:
    """Show which model does what, whether it can, and what its last job cost.

    Exit code 1 when a model that is configured cannot be used.
    """
    from vaultmind.minion.report import standing

    config = settings.config
    found = standing(config.minion, config.state_dir, os.environ)
    if settings.json:
        print_json(_standing_json(found))
    else:
        _show(found)
    return EXIT_OTHER if any(one.problem for one in found.models) else 0


@minion.command()
@click.argument("model")
@click.option("--for", "purpose", type=click.Choice(PURPOSES),
              help="Only for this; otherwise for all that has no model of its own.")  # fmt: skip
@pass_settings
def use(settings: Settings, model: str, purpose: str | None) -> int:
    """Try MODEL and, if it answers, print the lines to put into your own config.toml.

    MODEL is the path of a GGUF file, a server's URL#NAME such as
    http://127.0.0.1:11434/v1#llama3.2, or `extractive` for none.
    """
    from vaultmind.config import user_config_path
    from vaultmind.minion.choice import EXTRACTIVE
    from vaultmind.minion.report import named, try_out

    name = named(model)
    if name != EXTRACTIVE:
        generator = _open(settings, name)
        try:
            aside(dim(f"Trying {name} …"))
            try_out(generator, settings.config.minion.job_seconds)
        finally:
            generator.close()
    path, key = user_config_path(os.environ), purpose or "model"
    lines = f"[minion]\n{key} = {json.dumps(name, ensure_ascii=False)}"
    if settings.json:
        print_json({"key": f"minion.{key}", "value": name, "path": str(path), "lines": lines})
    else:
        works = "" if name == EXTRACTIVE else f"{good('✓')} It works. "
        say(f"{works}To use it, put this into {place(str(path))}:\n\n{lines}\n")
        say(dim(RESTART))
    return 0


@minion.command("try", cls=VaultCommand)
@click.argument("session_id", metavar="[SESSION]", required=False)
@click.option("--model", metavar="MODEL", help="Another model than the configured one.")
@pass_settings
def try_(settings: Settings, session_id: str | None, model: str | None) -> int:
    """Show what a model would take from SESSION, or from the latest one; nothing is written.

    Facts, what became of each, what was dropped and why, the summary, the time. Without a model
    it is the extractive engine that reads.
    """
    from vaultmind.cli.sessions.consolidate import show
    from vaultmind.minion.report import named

    args = {"session": session_id or "", "model": named(model) if model else ""}
    aside(dim("Reading …"))
    done = settings.backend().call("minion_try", args | settings.target)
    if settings.json:
        print_json(done)
        return 0
    show(done, dry_run=True)
    say(dim(f"{done['sessions'][0]['by']}, {done['took_ms'] / 1000:.1f} s"))
    return 0


def _open(settings: Settings, name: str) -> LocalGenerator | RemoteGenerator:
    """Return a model that a person waits for: it does not stand back for others."""
    from vaultmind.minion.choice import open_generator

    config = settings.config
    return open_generator(name, config.minion, config.state_dir, os.environ, background=False)


def _show(found: Standing) -> None:
    for purpose, chain in found.purposes:
        line = " → ".join([*map(_short, chain), "extractive"])
        say(f"{bold(f'{purpose:10}')} {line}")
    for model in found.models:
        say()
        for number, line in enumerate(_lines(model)):
            say(line if number == 0 else paragraph(line, "  "))
    if not found.models:
        say()
        say(dim("No model is configured, and none is needed."))


def _short(name: str) -> str:
    """Return a model's name without the folders of its file."""
    return name if "://" in name else Path(name).name


def _lines(model: Model) -> list[str]:
    """Return what is known of a model, its name first."""
    note = model.learned
    mark = bad("✗") if model.problem else good("●") if model.pid else dim("○")
    lines = [f"{mark} {place(model.name)}"]
    if model.problem:
        return [*lines, model.problem, *([f"→ {model.hint}"] if model.hint else [])]
    if model.kind == "server":
        return [*lines, f"a server; window {model.context_tokens:,} tokens"]
    trained = f" of {model.trained_tokens:,}" if model.trained_tokens else ""
    lines.append(f"{model.size_mb:,.0f} MB; window {model.context_tokens:,}{trained} tokens")
    lines.append(f"loaded, pid {model.pid}" if model.pid else "not loaded: it starts when needed")
    if note.jobs:
        speed = f"{note.tokens_per_second:g} tokens/s written"
        speed += f", {note.prompt_tokens_per_second:g} read"
        lines.append(f"{counted(note.jobs, 'job')}; {speed}; {note.memory_mb:,.0f} MB at most")
    if note.safe:
        lines.append("runs with careful settings: it crashed with the usual ones")
    if note.failure:
        lines.append(odd(f"last failure: {note.failure}"))
    return lines


def _standing_json(found: Standing) -> dict[str, Any]:
    purposes = {purpose: [*chain, "extractive"] for purpose, chain in found.purposes}
    models = []
    for one in found.models:
        flat = asdict(one)
        learned = flat.pop("learned")
        learned.pop("pid")
        models.append({**flat, **learned})
    return {"purposes": purposes, "models": models, "llama_cpp": found.llama_cpp}
