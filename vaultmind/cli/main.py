"""The program `vaultmind`: its commands, and errors turned into words and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from vaultmind import __version__
from vaultmind.cli import commands as _declared  # noqa: F401
from vaultmind.cli import options
from vaultmind.cli.made import MADE
from vaultmind.errors import VaultMindError

PURPOSES = {
    "To begin": "demo init connect bundle",
    "To find": "search fetch related",
    "To read for a task": "plan link unlink links explore delta refresh gain",
    "What was done for a task": "episode feedback model",
    "Memory": "show remember say suggestions forget import consolidate log undo",
    "The conversation": "context session",
    "Agents": "agents",
    "The index": "status doctor index reindex",
    "Processes": "daemon mcp hook minion",
}
HANDMADE = {one: one for one in ("demo", "connect", "bundle")}
HANDMADE |= dict.fromkeys(("daemon", "mcp", "hook"), "processes")
"""Commands with a terminal of their own: the module, imported when it is used."""
GROUPS = {
    "episode": "Record what is done for a task, or show it.",
    "model": "Train, list or switch the models that rank plans and searches.",
    "suggestions": "List, accept or reject suggestions.",
    "session": "Log, end or list conversations.",
    "agents": "List, show or create agents, or allow one to do more.",
    "minion": "Show the language models, if any.",
}
ANYWHERE = options.global_options(hidden=True)
"""The global options as each command takes them."""
EXIT_CODES = """\
Exit codes: 0 done or unchanged, 1 other, 2 usage, 3 suggested, 4 denied, 5 not found."""


@click.pass_context
def _listed(context: click.Context) -> object:
    """List what a group is about, where no command of it is named."""
    group = context.command
    if context.invoked_subcommand or not isinstance(group, click.Group):
        return None
    return context.invoke(group.commands["list"])


class Program(click.Group):
    """The group of all commands, which imports only the one that runs."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, made or imported now; None for an unknown name."""
        command: click.Command | None = None
        if cmd_name in HANDMADE:
            command = getattr(import_module(f"vaultmind.cli.{HANDMADE[cmd_name]}"), cmd_name)
        elif cmd_name in GROUPS:
            parts = ((name.partition(" "), one) for name, one in MADE.items())
            within = {own: one.build(own) for (above, _, own), one in parts if above == cmd_name}
            command = click.Group(
                cmd_name,
                commands=within,
                help=GROUPS[cmd_name],
                callback=_listed if "list" in within else None,
                invoke_without_command="list" in within,
            )
        elif cmd_name in MADE:
            command = MADE[cmd_name].build(cmd_name)
        inner = command.commands.values() if isinstance(command, click.Group) else ()
        for one in (command, *inner) if command else ():
            one.params += [option for option in ANYWHERE if option not in one.params]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by purpose, each with the first sentence of its help."""
        for title, names in PURPOSES.items():
            found = {name: self.get_command(ctx, name) for name in names.split()}
            helps = [
                (f"{name:8}", one.get_short_help_str(90)) for name, one in found.items() if one
            ]
            with formatter.section(title):
                formatter.write_dl(helps)


COLOR = False if os.environ.get("NO_COLOR") else None


@click.group(cls=Program, epilog=EXIT_CODES, params=options.global_options(hidden=False),
             context_settings={"max_content_width": 100, "color": COLOR})  # fmt: skip
@click.version_option(__version__, prog_name="vaultmind")
@click.pass_context
def cli(context: click.Context) -> None:
    """Give AI agents a long-term memory that lives in your Obsidian vault.

    Start with `vaultmind demo`, then `vaultmind init` inside your vault and
    `vaultmind connect claude-desktop --write`. Options go before or after the command.
    """
    context.call_on_close(options.settings_of(context).close)


cli.commands.update(dict.fromkeys(" ".join(PURPOSES.values()).split(), cli))
"""Their names; each command is made or imported when it is asked for."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code; every error of ours is shown in words."""
    options.use_unicode()
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
        options.aside("Stopped.")
        return options.EXIT_INTERRUPTED
    except VaultMindError as error:
        code, kind, message, hint = error.exit, type(error).__name__, error.message, error.hint
    except OSError as error:
        code, kind, message, hint = options.EXIT_OTHER, "OSError", f"{error}.", ""
    except click.ClickException as error:
        context = error.ctx if isinstance(error, click.UsageError) else None
        hint = f"See `{context.command_path if context else 'vaultmind'} --help`."
        code, kind = error.exit_code, "UsageError"
        message = " ".join(error.format_message().split())
    options.show_error(kind, message, hint, as_json="--json" in arguments)
    return code
