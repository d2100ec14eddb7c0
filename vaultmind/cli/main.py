"""The program `vaultmind`: global options, command table, errors into exit codes."""

from __future__ import annotations

import sys

import click

from vaultmind import __version__
from vaultmind.cli.connect import connect
from vaultmind.cli.daemon import daemon, mcp
from vaultmind.cli.demo import demo
from vaultmind.cli.memory import forget, remember, show
from vaultmind.cli.options import VaultGroup, settings_of
from vaultmind.cli.output import EXIT_OTHER, exit_code, show_error
from vaultmind.cli.search import fetch, search
from vaultmind.cli.vault import doctor, import_, index, init, reindex, status
from vaultmind.errors import VaultMindError

EXIT_CODES = """\
Exit codes: 0 done or unchanged · 1 other · 2 usage · 3 suggested · 4 denied · 5 not found."""


@click.group(cls=VaultGroup, epilog=EXIT_CODES, context_settings={"max_content_width": 100})
@click.version_option(__version__, prog_name="vaultmind")
@click.pass_context
def cli(context: click.Context) -> None:
    """Give AI agents a long-term memory that lives in your Obsidian vault.

    Start with `vaultmind demo`, then `vaultmind init` inside your vault and
    `vaultmind connect claude-desktop --write`.
    """
    context.call_on_close(settings_of(context).close)


for command in (
    init, demo, search, fetch, remember, forget, show, status, doctor, index, import_, reindex,
    connect, daemon, mcp,
):  # fmt: skip
    cli.add_command(command)


def main(argv: list[str] | None = None) -> int:
    """Run the program and return its exit code; every error of ours is shown in words."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        result = cli.main(args=arguments, prog_name="vaultmind", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.Abort:
        click.echo("Stopped.", err=True)
        return EXIT_OTHER
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except VaultMindError as error:
        show_error(error, as_json="--json" in arguments)
        return exit_code(error)
    except BrokenPipeError:
        return 0
