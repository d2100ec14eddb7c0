"""A worker that does as its name says, and speaks as the real one: for crashes on purpose.

Run as `python scripted.py BEHAVIOUR DIARY`; each start writes a line into the diary.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any


def main(behaviour: str, diary: str) -> None:
    opening = json.loads(sys.stdin.readline())
    with Path(diary).open("a", encoding="utf-8") as file:
        file.write("safe\n" if opening["safe"] else "usual\n")
    say({"ok": {"load_ms": 1.0, "memory_mb": 1.0}})
    for line in sys.stdin:
        job = json.loads(line)
        if behaviour == "aborts" or (behaviour == "aborts unless safe" and not opening["safe"]):
            sys.stderr.write("GGML_ASSERT(false) failed\n")
            sys.stderr.flush()
            os.abort()
        if behaviour == "is killed once" and not opening["safe"]:
            os.kill(os.getpid(), signal.SIGKILL)
        if behaviour == "babbles":
            sys.stdout.write("Loading ...\n")
            sys.stdout.flush()
        say({"ok": {"op": job["op"], "memory_mb": 1.0}})


def say(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main(*sys.argv[1:])
