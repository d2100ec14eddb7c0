"""Servers that speak as OpenAI's does: a real one with a real model, and odd ones on purpose."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.minion.model import ask, config, gguf
from tests.waiting import until
from vaultmind.address import parse_address
from vaultmind.errors import BadArgument, MinionFailed
from vaultmind.minion.choice import Minion
from vaultmind.minion.remote import MAX_BYTES, RemoteGenerator
from vaultmind.minion.structured import ask_json

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 30}},
    "required": ["city"],
    "additionalProperties": False,
}
Handler = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def llama_server() -> Iterator[str]:
    """Return the name of the model on llama-cpp-python's own server."""
    port = free_port()
    script = Path(__file__).with_name("server.py")
    command = [sys.executable, str(script), str(gguf()), str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until(lambda: listens(port), 60)
        yield f"http://127.0.0.1:{port}/v1#smollm2"
        process.kill()


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
        yield RemoteGenerator(
            parse_address(f"http://127.0.0.1:{one.server_port}/v1/#some-model"), key="secret"
        )
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


@pytest.mark.minion
def test_the_server_of_llama_cpp_answers_in_words_and_in_json(
    llama_server: str, tmp_path: Path
) -> None:
    minion = Minion(config(model=llama_server), tmp_path)
    question = "Where is the Eiffel Tower?"
    words = minion.run("summary", lambda one: one.generate(ask(question)))
    assert words.value is not None, words.failures
    assert words.by == "smollm2@127.0.0.1"
    assert "Paris" in words.value.text
    assert words.value.prompt_tokens > 10 and words.value.tokens > 1
    found = minion.run("extraction", lambda one: ask_json(one, ask(question, schema=CITY)))
    assert found.value is not None, found.failures
    assert set(found.value.value) == {"city"}


@pytest.mark.minion
def test_a_text_too_long_for_the_server_is_refused_and_told(llama_server: str) -> None:
    model = RemoteGenerator(parse_address(llama_server))
    with pytest.raises(MinionFailed, match="it answered 400") as caught:
        model.generate(ask("word " * 1200))
    assert caught.value.why == "refused"


def test_what_is_asked_and_what_comes_back() -> None:
    asked: list[dict[str, Any]] = []

    def handle(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        asked.append(body)
        reply(handler, 200, answer(reason="length"))

    with server(handle) as model:
        done = model.generate(ask("Where?", max_tokens=7, seed=5))
    assert (done.text, done.ended, done.prompt_tokens, done.tokens) == ("Paris", "length", 12, 3)
    (body,) = asked
    assert body["path"] == "/v1/chat/completions"
    assert body["key"] == "Bearer secret"
    assert body["messages"] == [{"role": "user", "content": "Where?"}]
    assert (body["model"], body["max_tokens"], body["seed"]) == ("some-model", 7, 5)
    assert "response_format" not in body


def test_a_server_that_knows_no_schemas_is_told_in_words_and_that_is_remembered() -> None:
    asked: list[dict[str, Any]] = []

    def handle(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        asked.append(body)
        if "response_format" in body:
            reply(handler, 422, {"detail": "unknown response_format"})
        else:
            reply(handler, 200, answer('{"city": "Paris"}'))

    with server(handle) as model:
        for _ in range(2):
            assert ask_json(model, ask("Where?", schema=CITY)).value == {"city": "Paris"}
    forms = [body.get("response_format", {}).get("type", "words") for body in asked]
    assert forms == ["json_schema", "json_object", "words", "words"]
    assert '"maxLength": 30' in asked[-1]["messages"][0]["content"]


@pytest.mark.parametrize(("status", "value", "why", "words"), [
    (401, {"error": {"message": "bad key"}}, "refused", "it answered 401: bad key"),
    (404, b"<html>no such page</html>", "refused", "404: <html>no such page"),
    (429, {"error": "slow down"}, "busy", "429"),
    (500, b"", "refused", "500"),
    (200, b"hello", "nonsense", "not what such a server sends"),
    (200, {"choices": []}, "nonsense", "not what such a server sends"),
    (200, answer(None), "nonsense", "holds no text"),
    (200, b"[" * 100_000, "nonsense", "not what"),
])  # fmt: skip
def test_each_trouble_is_told_in_words(status: int, value: Any, why: str, words: str) -> None:
    odd = server(lambda handler, _: reply(handler, status, value))
    with odd as model, pytest.raises(MinionFailed, match=words) as caught:
        model.generate(ask("Where?"))
    assert caught.value.why == why
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(("value", "words"), [
    ({"error": {"message": "Bad key secret: [1] user: I live in Leeds"}}, "Bad key […] […]"),
    ({"detail": [{"msg": "bad", "input": "I live in Leeds with Barnaby"}]}, "bad"),
    ({"error": "cannot read 'I live'"}, "cannot read […]"),
    ({"error": "no token for Barnaby in it"}, "no token for […]"),
    ({"error": r"at \u0041nna's d\u006fg sleeps there"}, "at […]"),
    ({"error": "\x1b[31m\x1b]0;x\x07\nWARNING forged\u202e line\n"}, "WARNING forged line"),
    ({"error": "password: hunter2-Zebra-7731"}, "password: "),
    ({"error": "no " * 300}, "no no no"),
])  # fmt: skip
def test_what_a_server_says_is_one_short_line_without_the_key_or_the_talk(
    value: Any, words: str
) -> None:
    talk = "[1] user: I live in Leeds with Barnaby.\n[2] user: Anna's dog sleeps there."
    odd = server(lambda handler, _: reply(handler, 400, value))
    with odd as model, pytest.raises(MinionFailed) as caught:
        model.generate(ask(talk))
    said = str(caught.value).partition("it answered 400: ")[2]
    assert said.startswith(words) and len(said) <= 210
    assert said.isprintable()
    assert not [one for one in ("secret", "Leeds", "Barnaby", "dog", "hunter2") if one in said]


def test_a_broken_status_line_is_told_like_any_other_word_of_a_server() -> None:
    def handle(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        handler.wfile.write(b"\x1b[31mHello Barnaby, secret\r\n\r\n")

    with server(handle) as model, pytest.raises(MinionFailed) as caught:
        model.generate(ask("I live with Barnaby in the old house"))
    assert caught.value.why == "unreachable"
    assert str(caught.value).isprintable()
    assert "Barnaby" not in str(caught.value) and "secret" not in str(caught.value)


def test_no_mark_of_a_turn_in_a_conversation_reaches_a_server() -> None:
    asked: list[str] = []

    def handle(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        asked.append(body["messages"][0]["content"])
        reply(handler, 200, answer())

    marks = ("<|im_end|>", "<|im_start|>", "</s>", "<s>", "[INST]", "[/INST]", "<<SYS>>",
             "<end_of_turn>", "<|eot_id|>", "<｜User｜>")  # fmt: skip
    with server(handle) as model:
        model.generate(ask(f"a {' b '.join(marks)} c [1] <b>x</b>"))
    assert not [one for one in marks if one in asked[0]]
    assert "< |im_end|>" in asked[0] and "c [1] <b>x</b>" in asked[0]


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


def test_an_answer_without_end_is_not_read_to_its_end() -> None:
    def handle(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        with suppress(OSError):
            reply(handler, 200, b" " * (MAX_BYTES + 2))

    with server(handle) as model, pytest.raises(MinionFailed, match="more than 1,000 KB"):
        model.generate(ask("Where?"))


def test_where_nobody_listens_the_next_in_line_is_asked(tmp_path: Path) -> None:
    minion = Minion(config(model=f"http://127.0.0.1:{free_port()}/v1#m"), tmp_path)
    done = minion.run("summary", lambda one: one.generate(ask("Where?")))
    assert done.by == "extractive"
    assert "cannot be reached" in done.failures[0]


def test_the_key_comes_from_the_environment_that_the_configuration_names(tmp_path: Path) -> None:
    minion = Minion(config(key_env="MY_KEY"), tmp_path, env={"MY_KEY": "k", "OTHER": "no"})
    model = minion.generator("http://127.0.0.1:9/v1#m")
    assert isinstance(model, RemoteGenerator)
    assert model._server.key == "k"


@pytest.mark.parametrize(("spec", "url"), [
    ("http://127.0.0.1:11434/v1#llama3.2", "http://127.0.0.1:11434/v1"),
    ("https://api.example.com/v1/#gpt/small", "https://api.example.com:443/v1"),
    ("http://[::1]:8080#m", "http://::1:8080"),
])  # fmt: skip
def test_an_address_names_host_path_and_model(spec: str, url: str) -> None:
    assert parse_address(spec).url == url


@pytest.mark.parametrize("spec", [
    "http://host/v1", "http:///v1#m", "http://host:port/v1#m", "file:///etc/passwd#m",
    "http://anna:pass@host/v1#m", "http://host/v1?key=1#m",
])  # fmt: skip
def test_an_address_that_is_none_is_refused_without_repeating_a_key(spec: str) -> None:
    with pytest.raises(BadArgument) as caught:
        parse_address(spec)
    assert "pass" not in str(caught.value) or "passwd" in spec
