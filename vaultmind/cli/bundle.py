"""`vaultmind bundle`: one file that Claude Desktop installs when it is opened.

It holds a manifest, which asks for the vault's folder, and a line that starts this very
installation: a bundle is for the machine that it was made on.
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import click

from vaultmind import __version__
from vaultmind.cli.options import Answer, Settings, pass_settings
from vaultmind.errors import DISTRIBUTION

START = """\
import sys

from vaultmind.entry import main

sys.exit(main(["mcp", *sys.argv[1:]]))
"""


def manifest(settings: Settings) -> dict[str, Any]:
    """Return what the client reads: who we are, what to ask for, what to run."""
    asked = {
        "vault": (
            "directory",
            "Vault",
            "The folder of your Obsidian vault",
            str(settings.config.vault),
        ),
        "agent": ("string", "Agent", "Whose memory it is", settings.config.agent),
    }
    keys = ("type", "title", "description", "default")
    arguments = [part for name in asked for part in (f"--{name}", f"${{user_config.{name}}}")]
    return {
        "manifest_version": "0.3",
        "name": DISTRIBUTION,
        "display_name": "VaultMind",
        "version": __version__,
        "description": "Long-term memory, kept as plain Markdown in your Obsidian vault.",
        "author": {"name": "VaultMind"},
        "license": "Apache-2.0",
        "server": {
            "type": "python",
            "entry_point": "start.py",
            "mcp_config": {
                "command": sys.executable,
                "args": ["${__dirname}/start.py", *arguments],
            },
        },
        "tools_generated": True,
        "user_config": {
            name: dict(zip(keys, told, strict=True)) | {"required": True}
            for name, told in asked.items()
        },
    }


@click.command(short_help="Make a file that Claude Desktop installs.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), default="vaultmind.mcpb")
@pass_settings
def bundle(settings: Settings, file: Path) -> int:
    """Make FILE, which Claude Desktop installs when you open it.

    It asks for the vault's folder. The bundle starts this installation, so it is for this machine.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("manifest.json", json.dumps(manifest(settings), indent=2))
        made.writestr("start.py", START)
    words = f"Made {file}. Open it with Claude Desktop, or drop it on its window."
    settings.tell(Answer({"file": str(file)}, words))
    return 0
