"""The program's first step: what a client waits for goes the short way, all else to the CLI.

`mcp` goes straight to the thin pipe, `hook` to the thin messenger.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PIPE_FLAGS = {"--vault": "vault", "--agent": "agent", "--state-dir": "state_dir"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `vaultmind` and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    flags, commands = thin_flags(arguments)
    if commands == ["mcp"]:
        from vaultmind.client import bridge

        return bridge.main(**flags)
    if commands[:1] == ["hook"] and os.environ.get("VAULTMIND_QUIET"):
        return 0  # in a command that runs for the minion: what it does is no conversation
    if commands[:1] == ["hook"] and len(commands) == len(["hook", "CLIENT", "EVENT"]):
        from vaultmind.client import hook

        if hook.knows(*commands[1:]):
            return hook.main(commands[2], **flags)
    from vaultmind.cli.main import main as command_line

    code = command_line(arguments)
    return min(code, 1) if commands[:1] == ["hook"] else code  # 2 would block the host's prompt


def thin_flags(arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the flags and the other words of a plain command; no words where a flag is amiss."""
    flags: dict[str, str] = {}
    commands: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name in PIPE_FLAGS:
            value = value if equals else next(rest, "")
            if not value:
                return {}, commands[:1] if commands[:1] == ["hook"] else []
            flags[PIPE_FLAGS[name]] = value
        else:
            commands.append(argument)
    return flags, commands
