"""A server on this machine that embeds as Ollama and OpenAI's API do."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.fakes import HashEmbedder


class EmbeddingServer:
    """Answers with hashed words, not normalised; what it was asked is kept."""

    def __init__(self, port: int = 0) -> None:
        self.asked: list[list[str]] = []
        self.headers: list[dict[str, str]] = []
        self.spoils: list[list[float]] | None = None
        """What it answers with instead of vectors."""
        self.status = 200
        self.location = ""
        """Where it sends whoever asks, with a status of its own for that."""
        self.dim = 96
        handler = type("Handler", (_Handler,), {"owner": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def vectors(self, texts: list[str]) -> list[list[float]]:
        if self.spoils is not None:
            return self.spoils
        rows: list[list[float]] = (3.0 * HashEmbedder(self.dim).embed(texts)).tolist()
        return rows

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    owner: EmbeddingServer

    def do_POST(self) -> None:
        told = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = told["input"]
        self.owner.asked.append(texts)
        self.owner.headers.append(dict(self.headers))
        rows = self.owner.vectors(texts)
        data = [{"object": "embedding", "index": at, "embedding": row}
                for at, row in enumerate(rows)]  # fmt: skip
        answer = {"object": "list", "model": told["model"], "usage": {}, "data": data}
        key = self.headers.get("authorization", "")
        body = json.dumps(answer if self.owner.status == 200 else {"error": f"no, {key}"})
        self.send_response(self.owner.status)
        self.send_header("content-type", "application/json")
        if self.owner.location:
            self.send_header("location", f"{self.owner.location}{self.path}")
        self.send_header("content-length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[EmbeddingServer]:
    server = EmbeddingServer()
    try:
        yield server
    finally:
        server.close()
