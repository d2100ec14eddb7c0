"""The server is imported without what it does not need, and nothing is missing afterwards."""

from __future__ import annotations

import subprocess
import sys

CLIENT_SIDE = ("mcp.client.session", "mcp.server.mcpserver", "httpx2")


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_server_loads_neither_client_nor_framework() -> None:
    code = f"import sys, vaultmind.serve.mcp;print([m for m in {CLIENT_SIDE} if m in sys.modules])"
    assert run(code) == "[]"


def test_the_library_is_whole_for_whoever_asks_for_the_rest() -> None:
    code = (
        "import vaultmind.serve.mcp, mcp; from mcp import Client, stdio_client;"
        "from mcp.server import MCPServer, Server;"
        "print(mcp.types.Tool.__name__, mcp.server.Server is Server, hasattr(mcp, 'nonsense'))"
    )
    assert run(code) == "Tool True False"


def test_models_of_others_are_built_as_ever() -> None:
    code = (
        "import vaultmind.serve.mcp; from pydantic import BaseModel;"
        "print(BaseModel.model_config.get('defer_build', False))"
    )
    assert run(code) == "False"
