"""Servers that speak as OpenAI's does: a real one with a real model, and odd ones on purpose."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.minion.model import ask, config
from vaultmind.address import Server, parse_address
from vaultmind.errors import BadArgument, MinionFailed
from vaultmind.minion.models import RemoteGenerator, shown
from vaultmind.minion.structured import ask_json

WORD = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
Handler = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


@contextmanager
def server(handle: Handler) -> Iterator[RemoteGenerator]:
    """Run a server that does with each request as it is told; yield a generator that asks it."""

    class Odd(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(size))
            body["path"], body["key"] = self.path, self.headers.get("Authorization", "")
            handle(self, body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Odd) as one:
        threading.Thread(target=one.serve_forever, args=(0.01,), daemon=True).start()
        at = parse_address(f"http://127.0.0.1:{one.server_port}/v1/#some-model")
        yield RemoteGenerator(Server(at, "secret"), "some-model@127.0.0.1", config(), 0)
        one.shutdown()


def reply(handler: BaseHTTPRequestHandler, status: int, value: Any, **headers: str) -> None:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    handler.send_response(status)
    for name, text in ({"Content-Length": str(len(raw))} | headers).items():
        handler.send_header(name, text)
    handler.end_headers()
    handler.wfile.write(raw)


def answer(text: Any = "Paris", reason: str = "stop") -> dict[str, Any]:
    return {
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": reason}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3},
    }


@pytest.mark.parametrize(("status", "value", "why", "words"), [
    (401, {"error": {"message": "bad key"}}, "refused", "it answered 401: bad key"),
    (404, b"<html>no such page</html>", "refused", "404: <html>no such page"),
    (400, {"error": {"message": "long", "code": "context_length_exceeded"}}, "too_long", "400"),
    (429, {"error": "slow down"}, "busy", "429"),
    (500, b"", "refused", "500"),
    (200, b"hello", "nonsense", "not what such a server sends"),
    (200, {"choices": []}, "nonsense", "not what such a server sends"),
    (200, answer(None), "nonsense", "not what such a server sends"),
    (200, b"[" * 100_000, "nonsense", "not what"),
])  # fmt: skip
def test_each_trouble_is_told_in_words(status: int, value: Any, why: str, words: str) -> None:
    odd = server(lambda handler, _: reply(handler, status, value))
    with odd as model, pytest.raises(MinionFailed, match=words) as caught:
        model.generate(ask("Where?"))
    assert caught.value.why == why
    assert "secret" not in str(caught.value)


def test_json_is_asked_for_in_the_strictest_way_that_a_server_knows() -> None:
    asked: list[dict[str, Any]] = []

    def handle(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        asked.append(body)
        strict = body.get("response_format", {}).get("type") == "json_schema"
        reply(handler, *((400, {"error": "?"}) if strict else (200, answer('{"city": "P"}'))))

    with server(handle) as model:
        for _ in range(2):
            assert ask_json(model, ask("Where is <|im_end|> it?", schema=WORD)) == {"city": "P"}
    kinds = [body["response_format"]["type"] for body in asked]
    assert kinds == ["json_schema", "json_object", "json_object"], "found out once"
    first, second = (body["messages"][0]["content"] for body in asked[:2])
    assert "< |im_end|>" in first and "JSON schema" in second and "JSON schema" not in first
    assert (asked[0]["model"], asked[0]["key"]) == ("some-model", "Bearer secret")


@pytest.mark.parametrize(("words", "kept"), [
    ("bad key sk-secret", "bad key […]"),
    ("cannot read: about the boat", "cannot read: […]"),
    ("the name Anna is not allowed", "the name […]"),
    ("\x1b[31mfail\x07ed at 4711", "[31mfail ed at […]"),
    ("password=hunter22secret99 refused", None),
    ("model not found, try pulling it first", "model not found, try pulling it first"),
])  # fmt: skip
def test_what_a_server_says_is_told_without_what_it_was_sent(words: str, kept: str | None) -> None:
    said = shown(words, "I told Anna about the boat, number 4711.", "sk-secret")
    assert "hunter22" not in said if kept is None else said == kept
    assert len(shown("w" * 9000, "", "")) == 200


def test_no_redirect_is_followed_to_another_host() -> None:
    asked: list[str] = []

    def handle(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        asked.append(body["path"])
        reply(handler, 307, b"", Location="/elsewhere")

    with server(handle) as model, pytest.raises(MinionFailed, match="not followed"):
        model.generate(ask("Where?"))
    assert asked == ["/v1/chat/completions"]


def test_a_server_that_sends_a_byte_now_and_then_is_hung_up_on() -> None:
    over = threading.Event()

    def handle(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            while not over.wait(0.05):
                handler.wfile.write(b" ")
        except OSError:
            over.set()

    with server(handle) as model:
        with pytest.raises(MinionFailed) as caught:
            model.generate(ask("Where?", seconds=0.4))
        over.set()
    assert caught.value.why == "timeout"


@pytest.mark.parametrize("spec", [
    "http://host/v1", "http:///v1#m", "http://host:port/v1#m", "file:///etc/passwd#m",
    "http://anna:pass@host/v1#m", "http://host/v1?key=1#m",
])  # fmt: skip
def test_an_address_that_is_none_is_refused_without_repeating_a_key(spec: str) -> None:
    with pytest.raises(BadArgument) as caught:
        parse_address(spec)
    assert "pass" not in str(caught.value) or "passwd" in spec
