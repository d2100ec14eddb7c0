"""`vaultmind chat`: a plain talk with the minion, which shows what it was given and what it cost.

Every turn goes the way of any other agent's: the context is built, the model answers, both
messages are written down.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.output.output import aside, bold, dim, odd, paragraph, print_json, say
from vaultmind.cli.ready import wait_for_index
from vaultmind.cli.sessions.context import NAMES, show_explained, show_text
from vaultmind.errors import BadArgument, MinionFailed, NotFound
from vaultmind.redact import blank_private, mask
from vaultmind.types import Prompt, Turn

if TYPE_CHECKING:
    from vaultmind.minion.choice import ClosableGenerator

COMMANDS = {
    "/why": "what the last context held, what it cost, and what was left out",
    "/context": "the last context itself",
    "/new": "begin a new segment: what was said stands in the summary alone",
    "/help": "these lines",
    "/end": "end the conversation, as Ctrl-D does",
}
ROOM_TOKENS = 64
"""Of the model's window: the marks around the turns."""
LEAST_TOKENS = 200
"""A context needs so many; a model whose window leaves fewer cannot talk."""
LEAVES_OUT = ("skip", "forget_that", "forget_topic")
"""What is asked so is not said to a model again: it may name what is to be gone."""
OWN_TURNS = 40
"""Messages of this talk that are shown to the model as turns at most."""


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
    generator = _open(settings, model)
    try:
        wait_for_index(settings, patient=False)
        talk = Talk(settings, generator, _budget(settings, generator, budget))
        if not settings.json:
            _greet(generator)
        for line in _lines(quiet=settings.json):
            if line.startswith("/"):
                if not _command(talk, line.casefold()):
                    break
            else:
                _show(settings, talk.answer(line), talk.built, explain=explain)
        talk.end()
    finally:
        generator.close()
    return 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What one message came to: words of the model or of the memory, and their cost."""

    answer: str = ""
    did: str = ""
    """What the memory did because the message asked for it."""
    fault: str = ""
    """Why the model did not answer."""
    prompt_tokens: int = 0
    tokens: int = 0
    took_ms: float = 0.0
    ended: str = ""


@dataclass(slots=True)
class Talk:
    """A conversation between the person and a model over the memory of an agent."""

    settings: Settings
    generator: ClosableGenerator
    budget: int
    said: dict[str, Turn] = field(default_factory=dict)
    """The turns of this talk by their messages' ids, oldest first, as the memory keeps them."""
    unkept: set[str] = field(default_factory=set)
    """The ids of messages that the memory keeps nothing of: no model is shown them again."""
    count: int = 0
    """Messages that were written down."""
    built: dict[str, Any] = field(default_factory=dict)
    name: str = field(default_factory=lambda: f"chat-{secrets.token_hex(4)}")

    def answer(self, text: str) -> Reply:
        """Write the message down, build the context, ask the model, write its answer down.

        The context is that of the session which the message is in: never of one that has ended.
        """
        did, leaves_out = self._heard(text)
        session = self._log("user", text, kept=not leaves_out)
        args = {"messages": [text], "budget": self.budget, "session": session}
        self.built = self.settings.backend().call("context_build", args | self.settings.target)
        if did:
            return Reply(did=did)
        config = self.settings.config.minion
        prompt = Prompt(
            self._turns(text), max_tokens=config.answer_tokens, seconds=config.job_seconds
        )
        began = time.monotonic()
        try:
            generated = self.generator.generate(prompt)
        except MinionFailed as failure:
            return Reply(fault=failure.message)
        finally:
            self._count(time.monotonic() - began)
        reply = generated.text.strip()
        if reply:
            self._log("assistant", reply)
        return Reply(
            reply,
            prompt_tokens=generated.prompt_tokens,
            tokens=generated.tokens,
            took_ms=round(generated.took_ms, 1),
            ended=generated.ended,
        )

    def new_segment(self) -> None:
        """Begin a segment: the model no longer sees the turns before it."""
        self.settings.backend().call("session_log", {"new_segment": True} | self.settings.target)
        self.said.clear()
        self.unkept.clear()

    def end(self) -> None:
        """End the session, if anything was said in it."""
        if self.count:
            self.settings.backend().call("session_log", {"end": True} | self.settings.target)

    def _heard(self, text: str) -> tuple[str, bool]:
        """Return what the memory did because it was asked to, and whether it keeps nothing of it.

        Nothing was done for any other words.
        """
        args = {"utterances": [text]} | self.settings.target
        (heard,) = self.settings.backend().call("say", args)["heard"]
        if heard["intent"] == "none":
            return "", False
        if heard["intent"] == "skip":
            self._leave_out(str(heard["payload"]))
        did = "\n".join((heard["message"], *(f"- {fact}" for fact in heard["facts"])))
        return did, heard["intent"] in LEAVES_OUT

    def _leave_out(self, words: str) -> None:
        """Leave out of later turns what is not to be kept: what was said last, if nothing is named.

        What was answered to it goes with it.
        """
        from vaultmind.memory.match import mentions

        ids = list(self.said)
        users = [at for at, id_ in enumerate(ids) if self.said[id_].role == "user"]
        meant = [at for at in users if words and mentions(self.said[ids[at]].text, words)]
        for at in meant if words else users[-1:]:
            end = next((other for other in users if other > at), len(ids))
            for id_ in ids[at:end]:
                del self.said[id_]
                self.unkept.add(id_)

    def _log(self, role: str, text: str, *, kept: bool = True) -> str:
        """Write a message down; return the session it is in."""
        self.count += 1
        id_ = f"{self.name}:{self.count}"
        args = {"messages": [{"role": role, "text": text, "id": id_}]} | self.settings.target
        logged = self.settings.backend().call("session_log", args)
        if kept:
            shown = mask(blank_private(text)).text
            self.said[id_] = Turn("user" if role == "user" else "assistant", shown)
        else:
            self.unkept.add(id_)
        return str(logged["session"])

    def _count(self, seconds: float) -> None:
        """Count what the model worked into the day's seconds, which a talk is not bound by."""
        from vaultmind.minion.spending import Spending

        config = self.settings.config
        now = datetime.now().astimezone
        Spending(config.state_dir, config.minion.daily_seconds, now).add(seconds)

    def _turns(self, text: str) -> tuple[Turn, ...]:
        """Return what the model is shown: the memory as its instructions, then the talk.

        What of the window was said before this talk began stands among the instructions.
        """
        window = next((one for one in self.built["parts"] if one["name"] == "window"), None)
        ids = window["messages"] if window else []
        shown = [id_ for id_ in ids if id_ and id_ not in self.unkept]
        own = [self.said[id_] for id_ in shown if id_ in self.said][-OWN_TURNS:]
        earlier = window is not None and any(id_ not in self.said for id_ in shown)
        texts = [one["text"] for one in self.built["parts"] if one is not window]
        if window is not None and earlier:
            texts.append(_before(window["text"], text))
        system = "\n\n".join(filter(None, texts))
        if earlier or (own and own[0].role == "assistant"):
            own = [] if earlier else own[1:]
        if own and own[-1].role == "user":
            own = own[:-1]  # the message itself, as it is written down
        head = (Turn("system", system),) if system.strip() else ()
        return (*head, *own, Turn("user", text))


def _before(window: str, text: str) -> str:
    """Return the last messages without the one that is to be answered, which is a turn itself."""
    at = window.rfind(f": {text}")
    return window[: window.rfind("\n", 0, at) + 1].rstrip() if at >= 0 else window


def _open(settings: Settings, model: str | None) -> ClosableGenerator:
    """Return the model to talk with; raise NotFound where there is none."""
    from vaultmind.minion.choice import EXTRACTIVE, open_generator
    from vaultmind.minion.report import named

    config = settings.config
    name = named(model) if model else config.minion.model
    if name == EXTRACTIVE:
        raise NotFound(
            "A talk needs a model, and none is set.",
            hint="`vaultmind minion use MODEL`, or --model MODEL here. Without one `vaultmind "
            'context "…" --explain` shows a context.',
        )
    return open_generator(name, config.minion, config.state_dir, os.environ, background=False)


def _budget(settings: Settings, generator: ClosableGenerator, asked: int | None) -> int:
    """Return how many tokens a context may have; raise BadArgument for a window too small."""
    config = settings.config
    window = generator.context_tokens
    room = window - config.minion.answer_tokens - ROOM_TOKENS if window else asked or 0
    most = asked or config.context.max_tokens
    if window and room < LEAST_TOKENS:
        raise BadArgument(
            "minion.context_tokens",
            window,
            f"minion.answer_tokens ({config.minion.answer_tokens}) and {LEAST_TOKENS} more",
        )
    return min(most, room) if window else most


def _lines(*, quiet: bool) -> Iterator[str]:
    """Yield what the person types until the end of it; empty lines are passed over."""
    asks = sys.stdin.isatty() and not quiet
    while True:
        try:
            line = click.prompt(bold("you"), prompt_suffix=" › ") if asks else sys.stdin.readline()
        except (click.Abort, EOFError):
            say()
            return
        if not line:
            return
        if line.strip():
            yield line.strip()


def _greet(generator: ClosableGenerator) -> None:
    say(f"{bold(generator.id)}{dim(' · /help for commands, Ctrl-D ends the conversation')}")


def _command(talk: Talk, line: str) -> bool:
    """Do what a line that begins with a slash asks for; tell whether the talk goes on."""
    if line in ("/end", "/quit", "/exit"):
        return False
    if line == "/new":
        talk.new_segment()
        aside(dim("A new segment."))
    elif line in ("/why", "/context"):
        if not talk.built:
            aside(dim("No context was built yet."))
        elif talk.settings.json:
            print_json(talk.built, indent=None)
        else:
            (show_explained if line == "/why" else show_text)(talk.built)
    else:
        if line != "/help":
            aside(odd(f"There is no {line[:40]}."))
        for name, help_ in COMMANDS.items():
            aside(f"  {bold(f'{name:10}')}{dim(help_)}")
    return True


def _show(settings: Settings, reply: Reply, built: dict[str, Any], *, explain: bool) -> None:
    """Show a reply, and below it what it and its context cost."""
    if settings.json:
        context = {name: built[name] for name in ("tokens", "budget", "parts")}
        said = asdict(reply)
        said.pop("ended")
        print_json({**said, "context": context}, indent=None)
        return
    if explain:
        show_explained(built)
    if reply.fault:
        say(odd(paragraph(f"The model did not answer: {reply.fault}")))
    else:
        say(reply.did or paragraph(reply.answer or "(the model said nothing)"))
    names = (f"{NAMES.get(one['name'], one['name'])} {one['tokens']:,}" for one in built["parts"])
    aside(dim(f"context {built['tokens']:,} of {built['budget']:,} tokens ({', '.join(names)})"))
    if reply.tokens:
        cut = ", cut" if reply.ended == "length" else ""
        aside(dim(f"answer {reply.tokens:,} tokens in {reply.took_ms / 1000:.1f} s{cut}"))
