"""The program's first step: `mcp` goes straight to the thin pipe, all else to the command line."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PIPE_FLAGS = {"--vault": "vault", "--agent": "agent", "--state-dir": "state_dir"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `vaultmind` and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    flags = pipe_flags(arguments)
    if flags is not None:
        from vaultmind.serve import bridge

        return bridge.main(**flags)
    from vaultmind.cli.main import main as command_line

    return command_line(arguments)


def pipe_flags(arguments: Sequence[str]) -> dict[str, str] | None:
    """Return the flags of a plain `mcp` command; None for any other, help and mistakes included."""
    flags: dict[str, str] = {}
    commands = []
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name in PIPE_FLAGS:
            value = value if equals else next(rest, "")
            if not value:
                return None
            flags[PIPE_FLAGS[name]] = value
        else:
            commands.append(argument)
    return flags if commands == ["mcp"] else None
