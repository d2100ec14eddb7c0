"""An agent in a process of its own: `python agent_process.py VAULT AGENT PLANS`; plans and saves.

It waits for a line on its standard input, so that many begin at once, and prints each answer.
"""

from __future__ import annotations

import json
import sys

from vaultmind.client.client import Client
from vaultmind.config import Flags, load_config
from vaultmind.types import Caller


def plans(vault: str, agent: str, count: int) -> None:
    """Plan so often, now over the vault, now over the linked folder, and save each plan."""
    caller = Caller("agent", agent, "test")
    with Client.connect(load_config(Flags(vault=vault)), caller, start=False) as client:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        for number in range(count):
            task = f"{agent} asks for the {number}. time: how hot must the oven be?"
            root = "shop" if number % 2 else ""
            answer = client.call("context_plan", {"task": task, "project_root": root, "save": True})
            sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    plans(sys.argv[1], sys.argv[2], int(sys.argv[3]))
