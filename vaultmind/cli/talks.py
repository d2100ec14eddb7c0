"""Commands made from operations on conversations and agents; see `commands`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from vaultmind.cli.made import confirmed, flag, made, option, read_lines
from vaultmind.cli.options import Answer, Settings
from vaultmind.cli.terminal import EXIT_OTHER, aside, bold, dim, odd, say, show

Args = dict[str, Any]
MESSAGES = 500
"""Messages of a file that go in one call."""
ALL = option("--all", "limit", flag_value=0, type=int, help="All of them.")


@made("context.context_build", "[messages:message…]", only=("session", "budget", "task"),
      also=[flag("--explain", "Show what each part costs, why, and what is left out.")],
      many="messages", waits=True)  # fmt: skip
def context(settings: Settings, args: Args) -> int:
    """Show what the agent is given before it answers, and why.

    That is before it answers MESSAGE; without one, before any.

    Example: vaultmind context "what did we decide about the oven?" --budget 1800 --explain
    """
    explain = args.pop("explain", False)
    args |= {"messages": [args["messages"]]} if "messages" in args else {}
    answer = settings.ask("context_build", args)
    if explain and not settings.json:
        show("\n".join(explained(answer.json)))
        return 0
    built = settings.tell(answer)
    if not settings.json:
        for note in built["notes"]:
            aside(f"{odd('!')} {note}")
        aside(dim(f"{built['tokens']:,} of {built['budget']:,} tokens · why: --explain"))
    return 0


def explained(built: Args) -> Iterator[str]:
    """Yield what each part of a context costs and why it is there, then what was left out."""
    from vaultmind.serve.show import table

    yield f"{built['tokens']:,} of {built['budget']:,} tokens, {built['agent']} {built['session']}"
    parts = [(one["name"], one["tokens"], one["why"] or one["sources"]) for one in built["parts"]]
    yield from table(("part", "tokens", "why"), parts)
    dropped = [(one["what"], one["reason"]) for one in built["dropped"]]
    yield from table(("left out", "because"), dropped)
    yield from (f"! {note}" for note in built["notes"])


@made("sessions.session_log", "[text…]", only=(),
      also=[option("--role", help="Who speaks. [default: user]"),
            option("--id", metavar="ID", help="The same id again is not written twice."),
            option("--speaker", metavar="NAME", help="The speaker's name."),
            option("--file", metavar="FILE", type=click.Path(dir_okay=False, allow_dash=True),
                   help="Messages as JSON Lines ({role, content, id?, …}); - is stdin.")],
)  # fmt: skip
def session_log(settings: Settings, args: Args) -> int:
    """Append TEXT, or the messages of FILE, to the running session; a new one begins if need be.

    Example: vaultmind session log --role assistant "We decided to bake on Fridays."
    """
    target = {"agent": args.pop("agent")} if "agent" in args else {}
    file = args.pop("file", "")
    if ("text" in args) == bool(file) or (file and args):
        raise click.UsageError("Give TEXT with its options, or --file FILE.")
    lines = read_lines(Path(file), "{}") if file else [args]
    # both kinds of file may call the words `content` or `text`
    messages = [{"text" if key == "content" else key: value for key, value in one.items()}
                for one in lines]  # fmt: skip
    logged, new, known = Answer({}), 0, 0
    for at in range(0, max(1, len(messages)), MESSAGES):
        batch = {"messages": messages[at : at + MESSAGES]}
        logged = settings.ask("session_log", batch | target)
        new, known = new + logged.json["new"], known + logged.json["known"]
    settings.tell(Answer(logged.json | {"new": new, "known": known}, logged.json["message"]))
    return 0


@made("sessions.session_log", only=(), given={"new_segment": True})
def session_new() -> None:
    """Begin a new segment in the running session, as `/new` does.

    What was said before it is summarised, searched, and no longer in the window.
    """


@made("sessions.session_log", "[session:id]", only=(), given={"end": True})
def session_end() -> None:
    """End the running session, or the one with ID; the next conversation knows what it left."""


@made("sessions.sessions", also=[ALL])
def session_list() -> None:
    """List the agent's sessions, newest last: when, how long, about what."""


@made("agents.agents")
def agents_list() -> None:
    """Show every agent: its level, what it has, who may write to it and who may not read it."""


@made("agents.agent_show", "name")
def agents_show() -> None:
    """Show what agent NAME may do and what it has, and where that is written."""


@made("agents.agent_new", "name")
def agents_new(settings: Settings, args: Args) -> int:
    """Make agent NAME: its folder and an identity.md to begin with.

    A client that names no agent is this one if it calls itself so.
    """
    settings.tell(settings.ask("agent_new", args))
    if not settings.json:
        name = args["name"].strip().lower()
        say("Write there who it is. `autonomy: 1` makes it ask before it remembers.")
        say(f"\nNext: {bold(f'vaultmind connect CLIENT --agent {name} --write')}")
    return 0


@made("agents.agent_allow", "name", only=(),
      also=[flag("--yes", "Do not ask: you know what it raises.")])  # fmt: skip
def agents_allow(settings: Settings, args: Args) -> int:
    """Let agent NAME do what its identity.md asks for beyond what is in force.

    What that is is shown first, and you are asked. Lowering needs no leave: it counts at once.
    """
    yes = args.pop("yes", False)
    answer = settings.ask("agent_allow", args)
    one = answer.json["agent"]
    if one["waiting"] and not yes:
        aside(answer.json["message"])
        if not confirmed(settings, "Allow it on this device?"):
            return EXIT_OTHER
    if one["waiting"]:
        answer = settings.ask("agent_allow", args | {"seen": one["mark"]})
    settings.tell(answer)
    return 0
