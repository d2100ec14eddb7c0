"""The program `vaultmind`: its commands, and errors turned into words and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click
from click.exceptions import NoSuchCommand

from vaultmind import __version__
from vaultmind.cli.options import VaultGroup, settings_of
from vaultmind.cli.output.output import (
    EXIT_INTERRUPTED,
    EXIT_OTHER,
    aside,
    exit_code,
    show_error,
    use_unicode,
)
from vaultmind.errors import VaultMindError

COMMANDS = {
    "To begin": {
        "demo": ("setup.demo", "See it work on a copy of the example vault."),
        "init": ("setup.vault", "Make the memory folder in your vault."),
        "connect": ("connect.connect", "Connect Claude, Cursor, VS Code or another client."),
    },
    "To find": {
        "search": ("memory.search", "Search notes and memory."),
        "fetch": ("memory.search", "Print a note, a section or a hit whole."),
    },
    "To read for a task": {
        "plan": ("planning.plan", "Show what to read for a task, within a token budget."),
        "link": (
            "planning.links",
            "Link a folder of code or documents, to be read and never written.",
        ),
        "unlink": ("planning.links", "Unlink it and drop its index."),
        "links": ("planning.links", "List what is linked, and how far each index is."),
        "explore": ("planning.explore", "Show what the vault or a linked folder is made of."),
        "delta": ("planning.explore", "Show what changed in it."),
        "refresh": ("planning.explore", "Compare it with the disk now."),
        "gain": ("episodes.gain", "Show what plans saved, as a table."),
    },
    "What was done for a task": {
        "episode": ("episodes.episode", "Keep what is done for a task, or look at what was kept."),
        "feedback": ("episodes.episode", "Say what came of it, or whether a search helped."),
        "purge": ("episodes.purge", "Shrink what is past its retention; shown first."),
        "model": ("planning.model", "Train what ranks plans and searches, list it, or go back."),
    },
    "Memory": {
        "show": ("memory.memory", "Show what the agent knows about you."),
        "remember": ("memory.memory", "Write a fact."),
        "say": ("memory.say", "Ask it in plain words, in your language."),
        "suggestions": ("memory.suggestions", "List, accept or reject what waits for you."),
        "forget": (
            "memory.forgetting",
            "Take a fact out and hide what said it, or erase every trace.",
        ),
        "import": ("setup.vault", "Take in conversations from a file."),
        "consolidate": ("sessions.consolidate", "Take facts and summaries from what was said."),
        "log": ("memory.log", "Show what was changed, by whom and whose."),
        "undo": ("memory.log", "Take back the last change, or any by its id."),
    },
    "The conversation": {
        "context": ("sessions.context", "Show what the agent is given before it answers, and why."),
        "chat": ("sessions.chat", "Talk with the minion, and see what its memory gave it."),
        "session": (
            "sessions.sessions",
            "Write a conversation down, end it, or list what there is.",
        ),
    },
    "Agents": {
        "agents": ("memory.agents", "List, show or make agents, or let one do more."),
    },
    "The index": {
        "status": ("setup.vault", "Show how complete it is and who is connected."),
        "doctor": ("setup.vault", "Check everything and say how to mend it."),
        "index": ("setup.vault", "Wait until everything is searchable."),
        "reindex": ("setup.vault", "Build it anew."),
    },
    "Processes": {
        "daemon": ("setup.daemon", "Run, start or stop the vault's daemon, or look at it."),
        "mcp": ("setup.daemon", "What an MCP client starts: the pipe to the daemon."),
        "hook": ("setup.hook", "What Claude Code runs: takes a conversation down, and reminds."),
        "minion": (
            "sessions.minion",
            "Show, try or choose the language model, if you want one.",
        ),
    },
}
"""By purpose: each command's module and its line of help. A module is imported when it is used."""
EXIT_CODES = """\
Exit codes: 0 done or unchanged, 1 other, 2 usage, 3 suggested, 4 denied, 5 not found."""


class Program(VaultGroup):
    """The group of all commands, which imports only the one that runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return [name for part in COMMANDS.values() for name in part]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now; None for an unknown name."""
        for part in COMMANDS.values():
            if cmd_name in part:
                module = import_module(f"vaultmind.cli.{part[cmd_name][0]}")
                suffix = "_" if cmd_name == "import" else ""
                command: click.Command = getattr(module, cmd_name + suffix)
                return command
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that arguments name; a mistyped name brings up its likes."""
        try:
            return super().resolve_command(ctx, args)
        except NoSuchCommand as error:
            names = self.list_commands(ctx)
            raise NoSuchCommand(error.command_name, possibilities=names, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by purpose."""
        for title, part in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:8}", words) for name, (_, words) in part.items()])


@click.group(
    cls=Program,
    epilog=EXIT_CODES,
    context_settings={
        "max_content_width": 100,
        "color": False if os.environ.get("NO_COLOR") else None,
    },
)
@click.version_option(__version__, prog_name="vaultmind")
@click.pass_context
def cli(context: click.Context) -> None:
    """Give AI agents a long-term memory that lives in your Obsidian vault.

    Start with `vaultmind demo`, then `vaultmind init` inside your vault and
    `vaultmind connect claude-desktop --write`. The options below go before or after a command.
    """
    context.call_on_close(settings_of(context).close)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code; every error of ours is shown in words."""
    use_unicode()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        result = cli.main(args=arguments, prog_name="vaultmind", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        aside("Stopped.")
        return EXIT_INTERRUPTED
    except (click.ClickException, VaultMindError, OSError) as error:
        return _tell(error, as_json="--json" in arguments)


def _tell(error: click.ClickException | VaultMindError | OSError, *, as_json: bool) -> int:
    """Show an error with what to do next, and return its exit code."""
    if isinstance(error, VaultMindError):
        show_error(type(error).__name__, error.message, error.hint, as_json=as_json)
        return exit_code(error)
    if isinstance(error, OSError):
        show_error("OSError", f"{error}.", "", as_json=as_json)
        return EXIT_OTHER
    context = error.ctx if isinstance(error, click.UsageError) else None
    help_of = context.command_path if context else "vaultmind"
    message = " ".join(error.format_message().split())
    show_error("UsageError", message, f"See `{help_of} --help`.", as_json=as_json)
    return error.exit_code
