"""`vaultmind chat`: a plain talk with the minion, which shows what it was given and what it cost.

Every turn goes the way of any other agent's: the context is built, the model answers, both
messages are written down. What was said before is shown to the model as the memory keeps it.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from vaultmind.cli.commands import explained
from vaultmind.cli.made import wait_for_index
from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.terminal import aside, bold, dim, odd, paragraph, print_json, say, show
from vaultmind.errors import BadArgument, MinionFailed, NotFound
from vaultmind.types import Prompt, Turn

if TYPE_CHECKING:
    from vaultmind.minion.choice import ClosableGenerator

HELP = """\
  /why      what the last context held, what it cost, and what was left out
  /context  the last context itself
  /new      begin a new segment: what was said stands in the summary alone
  /end      end the conversation, as Ctrl-D does"""
ROOM_TOKENS, LEAST_TOKENS = 64, 200
"""Of the model's window: the marks around the turns; and what a context needs at least."""


@click.command(cls=VaultCommand)
@click.option("--model", metavar="MODEL", help="Another model than the configured one.")
@click.option("--budget", type=click.IntRange(min=LEAST_TOKENS), metavar="N",
              help="Tokens of a context at most. [default: what the window holds]")  # fmt: skip
@click.option("--explain", is_flag=True, help="Show each context in full, as /why does.")
@pass_settings
def chat(settings: Settings, model: str | None, budget: int | None, *, explain: bool) -> int:
    """Talk with the minion, and see what its memory gave it for each answer and at what cost.

    The conversation is written down like any other. It needs a model: see `vaultmind minion use`.
    Lines from a pipe are taken as messages; with --json each turn is a line.
    """
    from vaultmind.minion.choice import EXTRACTIVE, open_generator
    from vaultmind.minion.report import named

    config = settings.config
    name = named(model) if model else config.minion.model
    if name == EXTRACTIVE:
        hint = "`vaultmind minion use MODEL`, or --model MODEL here. Without one `vaultmind "
        hint += 'context "…" --explain` shows a context.'
        raise NotFound("A talk needs a model, and none is set.", hint=hint)
    generator = open_generator(name, config.minion, config.state_dir, os.environ, background=False)
    try:
        wait_for_index(settings, patient=False)
        talk = Talk(settings, generator, _budget(settings, generator, budget))
        if not settings.json:
            say(f"{bold(generator.id)}{dim(' · /help for commands, Ctrl-D ends the conversation')}")
        for line in _lines(quiet=settings.json):
            if line in ("/end", "/quit", "/exit"):
                break
            talk.take(line, explain=explain)
        if talk.count:
            talk.log(end=True)
    finally:
        generator.close()
    return 0


class Talk:
    """A conversation between the person and a model over the memory of an agent."""

    def __init__(self, settings: Settings, generator: ClosableGenerator, budget: int) -> None:
        self.settings = settings
        self.built: dict[str, Any] = {}
        """The context of the last message."""
        self.count = 0
        """Messages that were written down."""
        self._generator = generator
        self._budget = budget
        self._name = f"chat-{secrets.token_hex(4)}"

    def take(self, line: str, *, explain: bool) -> None:
        """Do what a line that begins with a slash asks for, or answer it and tell what it cost."""
        as_json, built = self.settings.json, self.built
        if line == "/new":
            self.log(new_segment=True)
            aside(dim("A new segment."))
        elif line in ("/why", "/context") and as_json:
            print_json(built, indent=None)
        elif line in ("/why", "/context") and built:
            texts = [part["text"] for part in built["parts"]]
            show("\n".join(explained(built) if line == "/why" else texts))
        elif line.startswith("/"):
            aside(dim(HELP))
        else:
            reply = self.answer(line)
            self._show(reply, explain=explain)

    def answer(self, text: str) -> dict[str, Any]:
        """Write the message down, build the context, ask the model, write its answer down.

        The context is that of the session which the message is in: never of one that has ended.
        Returns what was `did` where the message asked the memory for something, else the `answer`
        or the `fault` of the model, and what it cost.
        """
        from vaultmind.minion.spending import Spending

        target, config = self.settings.target, self.settings.config
        (heard,) = self.settings.call("say", {"utterances": [text]} | target)["heard"]
        session = self._write("user", text)
        args = {"messages": [text], "budget": self._budget, "session": session}
        self.built = self.settings.call("context_build", args | target)
        reply = {"answer": "", "did": "", "fault": "", "prompt_tokens": 0, "tokens": 0}
        if heard["intent"] != "none":
            did = "\n".join((heard["message"], *(f"- {fact}" for fact in heard["facts"])))
            return reply | {"did": did, "took_ms": 0.0}
        began, tokens = time.monotonic(), config.minion.answer_tokens
        prompt = Prompt(self._turns(text), max_tokens=tokens, seconds=config.minion.job_seconds)
        try:
            generated = self._generator.generate(prompt)
            reply |= {"answer": generated.text.strip(), "tokens": generated.tokens}
            reply["prompt_tokens"] = generated.prompt_tokens
        except MinionFailed as failure:
            reply["fault"] = failure.message
        took, now = time.monotonic() - began, datetime.now().astimezone
        Spending(config.state_dir, config.minion.daily_seconds, now).add(took)
        if reply["answer"]:
            self._write("assistant", str(reply["answer"]))
        return reply | {"took_ms": round(took * 1000, 1)}

    def log(self, **args: Any) -> dict[str, Any]:  # noqa: ANN401
        """Write messages down, begin a segment or end the session."""
        return self.settings.call("session_log", args | self.settings.target)

    def _write(self, role: str, text: str) -> str:
        """Write a message down; return the session it is in."""
        self.count += 1
        message = {"role": role, "text": text, "id": f"{self._name}:{self.count}"}
        return str(self.log(messages=[message])["session"])

    def _turns(self, text: str) -> tuple[Turn, ...]:
        """Return what the model is shown: the memory as its instructions, then the message.

        The end of the window is the message itself, as it was written down.
        """
        texts = []
        for part in self.built["parts"]:
            shown = part["text"]
            if part["name"] == "window" and (at := shown.rfind(f": {text}")) >= 0:
                shown = shown[: shown.rfind("\n", 0, at) + 1].rstrip()
            texts.append(shown)
        system = "\n\n".join(filter(None, texts))
        head = (Turn("system", system),) if system.strip() else ()
        return (*head, Turn("user", text))

    def _show(self, reply: dict[str, Any], *, explain: bool) -> None:
        """Show a reply, and below it what it and its context cost."""
        built = self.built
        if self.settings.json:
            context = {name: built[name] for name in ("tokens", "budget", "parts")}
            print_json(reply | {"context": context}, indent=None)
            return
        if explain:
            show("\n".join(explained(built)))
        fault = odd(f"The model did not answer: {reply['fault']}") if reply["fault"] else ""
        say(reply["did"] or paragraph(fault or reply["answer"] or "(the model said nothing)"))
        cost = f"context {built['tokens']:,} of {built['budget']:,} tokens"
        aside(dim(f"{cost}, answer {reply['tokens']:,} in {reply['took_ms'] / 1000:.1f} s"))


def _budget(settings: Settings, generator: ClosableGenerator, asked: int | None) -> int:
    """Return how many tokens a context may have; raise BadArgument for a window too small."""
    config, window = settings.config, generator.context_tokens
    most = asked or config.context.max_tokens
    room = window - config.minion.answer_tokens - ROOM_TOKENS if window else most
    if room < LEAST_TOKENS:
        least = f"minion.answer_tokens ({config.minion.answer_tokens}) and {LEAST_TOKENS} more"
        raise BadArgument("minion.context_tokens", window, least)
    return min(most, room)


def _lines(*, quiet: bool) -> Iterator[str]:
    """Yield what the person types until the end of it; empty lines are passed over."""
    asks = sys.stdin.isatty() and not quiet
    while True:
        try:
            line = click.prompt(bold("you"), prompt_suffix=" › ") if asks else sys.stdin.readline()
        except (click.Abort, EOFError):
            line = ""
        if not line:
            return
        if line.strip():
            yield line.strip()
