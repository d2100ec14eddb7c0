"""`vaultmind bundle`: one file that Claude Desktop installs when it is opened.

It holds a manifest, which asks for the vault's folder, and a line that starts this very
installation: a bundle is for the machine that it was made on.
"""

from __future__ import annotations

import json
import sys
import zipfile
from importlib.resources import files as resources
from pathlib import Path

import click

from vaultmind import __version__
from vaultmind.cli.options import Answer, Settings, pass_settings

START = """\
import sys

from vaultmind.entry import main

sys.exit(main(["mcp", *sys.argv[1:]]))
"""


@click.command(short_help="Make a file that Claude Desktop installs.")
@click.argument(
    "file", type=click.Path(path_type=Path, dir_okay=False), default=Path.home() / "vaultmind.mcpb"
)
@pass_settings
def bundle(settings: Settings, file: Path) -> int:
    """Make FILE, which Claude Desktop installs when you open it.

    It asks for the vault's folder. The bundle starts this installation, so it is for this machine.
    """
    manifest = json.loads((resources("vaultmind.cli") / "bundle.json").read_text("utf-8"))
    manifest["version"] = __version__
    manifest["server"]["mcp_config"]["command"] = sys.executable
    for name in ("vault", "agent"):
        manifest["user_config"][name]["default"] = str(getattr(settings.config, name))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("manifest.json", json.dumps(manifest, indent=2))
        made.writestr("start.py", START)
    words = f"Made {file}. Open it with Claude Desktop, or drop it on its window."
    settings.tell(Answer({"file": str(file)}, words))
    return 0
