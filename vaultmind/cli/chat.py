"""`vaultmind chat`: a plain talk with the minion, which shows what its memory cost.

Every turn goes the way of any other agent's: the context is built, the model answers, both
messages are written down. What was said before is shown to the model as the memory keeps it.
"""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from vaultmind.cli.made import wait_for_index
from vaultmind.cli.options import Settings, pass_settings
from vaultmind.cli.terminal import aside, bold, dim, odd, print_json, say
from vaultmind.errors import MinionFailed, NotFound
from vaultmind.types import Prompt, Turn

if TYPE_CHECKING:
    from vaultmind.ports import Generator

HINT = (
    "`vaultmind minion use MODEL`, or --model MODEL here. Without one `vaultmind context "
    '"…" --explain` shows a context.'
)
ROOM_TOKENS = 64
"""Of the model's window, for the marks around the turns."""


@click.command(short_help="Talk with the minion, and see what its memory gave it.")
@click.option("--model", metavar="MODEL", help="Another model than the configured one.")
@pass_settings
def chat(settings: Settings, model: str | None) -> int:
    """Talk with the minion, and see what its memory cost for each answer.

    The conversation is written down like any other. It needs a model: see `vaultmind minion use`.
    Lines from a pipe are taken as messages; with --json each turn is a line, with its context.
    """
    from vaultmind.minion.choice import EXTRACTIVE, named, opened

    config = settings.config
    name = named(model) if model else config.minion.model
    if name == EXTRACTIVE:
        raise NotFound("A talk needs a model, and none is set.", hint=HINT)
    generator = opened(name, config.minion, config.state_dir, background=False)
    talk, most, number = f"chat-{secrets.token_hex(4)}", config.context.max_tokens, -1
    try:
        wait_for_index(settings, patient=False)
        if window := generator.context_tokens:
            most = min(most, window - config.minion.answer_tokens - ROOM_TOKENS)
        if not settings.json:
            say(f"{bold(generator.id)}{dim(' · Ctrl-D ends the conversation')}")
        for number, line in enumerate(_lines(quiet=settings.json)):
            reply = take_turn(settings, generator, most, f"{talk}:{number}", line)
            if settings.json:
                print_json(reply, None)
            else:
                _show(reply)
        if number >= 0:
            settings.call("session_log", {"end": True} | settings.target)
    finally:
        generator.close()
    return 0


def take_turn(
    settings: Settings, generator: Generator, budget: int, id: str, text: str
) -> dict[str, Any]:
    """Write a message down, build its context, ask the model, write the answer down.

    The context is that of the session which the message is in: never of one that has ended.
    Returns what was `did` where the message asked the memory for something, else the `answer`
    or the `fault` of the model, and what it cost.
    """
    from vaultmind.minion.state import Spending

    target, config = settings.target, settings.config

    def log(role: str, text: str, id: str) -> str:
        message = {"role": role, "text": text, "id": id}
        session: str = settings.call("session_log", {"messages": [message]} | target)["session"]
        return session

    (heard,) = settings.call("say", {"utterances": [text]} | target)["heard"]
    args = {"messages": [text], "budget": budget, "session": log("user", text, id)}
    built = settings.call("context_build", args | target)
    context = {name: built[name] for name in ("tokens", "budget", "parts")}
    reply = {"answer": "", "did": "", "fault": "", "prompt_tokens": 0, "tokens": 0, "took_ms": 0.0}
    if heard["intent"] != "none":
        did = "\n".join((heard["message"], *(f"- {fact}" for fact in heard["facts"])))
        return reply | {"did": did, "context": context}
    memory = "\n\n".join(part["text"] for part in built["parts"])
    turns = (*([Turn("system", memory)] if memory.strip() else ()), Turn("user", text))
    minion, began = config.minion, time.monotonic()
    try:
        prompt = Prompt(turns, max_tokens=minion.answer_tokens, seconds=minion.job_seconds)
        made = generator.generate(prompt)
        reply |= {"answer": made.text.strip(), "tokens": made.tokens}
        reply["prompt_tokens"] = made.prompt_tokens
    except MinionFailed as failure:
        reply["fault"] = failure.message
    took, now = time.monotonic() - began, datetime.now().astimezone
    Spending(config.state_dir, minion.daily_seconds, now).add(took)
    if reply["answer"]:
        log("assistant", str(reply["answer"]), f"{id}a")
    return reply | {"took_ms": round(took * 1000, 1), "context": context}


def _show(reply: dict[str, Any]) -> None:
    """Show a reply, and below it what it and its context cost."""
    context = reply["context"]
    fault = odd(f"The model did not answer: {reply['fault']}") if reply["fault"] else ""
    say(reply["did"] or fault or reply["answer"] or "(the model said nothing)")
    cost = f"context {context['tokens']:,} of {context['budget']:,} tokens"
    aside(dim(f"{cost}, answer {reply['tokens']:,} in {reply['took_ms'] / 1000:.1f} s"))


def _lines(*, quiet: bool) -> Iterator[str]:
    """Yield what the person types until the end of it; empty lines are passed over."""
    asks = sys.stdin.isatty() and not quiet
    while True:
        try:
            line = click.prompt(bold("you"), prompt_suffix=" › ") if asks else sys.stdin.readline()
        except (click.Abort, EOFError):
            return
        if not line or line.strip() in ("/end", "/quit", "/exit"):
            return
        if line.strip():
            yield line.strip()
