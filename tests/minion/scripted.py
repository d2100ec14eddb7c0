"""A worker that does as its name says, and speaks as the real one: for crashes on purpose.

Run as `python scripted.py BEHAVIOUR DIARY`; each start writes a line into the diary.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

ANSWER = {"choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}], "count": 7}


def main(behaviour: str, diary: str) -> None:
    opening = json.loads(sys.stdin.readline())
    careful = opening["safe"]
    with Path(diary).open("a", encoding="utf-8") as file:
        file.write(f"{'safe' if careful else 'usual'} {json.dumps(opening['model'])}\n")

    class Worker(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.headers["Authorization"] == f"Bearer {opening['key']}"
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if behaviour == "aborts" or (behaviour == "aborts unless careful" and not careful):
                os.abort()
            if behaviour == "is killed once" and len(Path(diary).read_text().splitlines()) == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            if behaviour == "hangs" and b"hang" in body:
                time.sleep(600)
            raw = json.dumps(ANSWER).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Worker)
    failed = ["not_a_model", "it is no model"] if behaviour == "cannot open" else None
    sys.stdout.write(json.dumps({"port": server.server_port, "failed": failed}) + "\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main(*sys.argv[1:])
