"""Any OpenAI-compatible server as a generator: Ollama, LM Studio, llama-server, a hosted one.

Standard library alone. One host, the one that the person's own configuration names: no
redirect is followed and no proxy is used.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from vaultmind import tokens
from vaultmind.errors import BadArgument, MinionFailed
from vaultmind.minion import refusal
from vaultmind.minion.marks import harmless
from vaultmind.types import Generated, Prompt

MAX_BYTES = 1_000_000
"""Of an answer with all that is around it. A server that sends more is not read to the end."""
_OK, _REDIRECT, _REFUSED, _BUSY = 200, 300, 400, (429, 503)
_FORM_REFUSED = (400, 422, 500, 501)
"""A server that does not know a way to ask for JSON answers with one of these."""
_FORMS = ("json_schema", "json_object", "words")
"""Ways to ask for JSON, the strictest first; older servers know only the later ones."""
_WORDS = "Answer with one JSON value and nothing else. It follows this JSON schema:\n{schema}"


@dataclass(frozen=True, slots=True)
class Address:
    """A server and a model on it."""

    scheme: Literal["http", "https"]
    host: str
    port: int
    path: str
    model: str

    @property
    def url(self) -> str:
        """Return the server's address, without the model."""
        return f"{self.scheme}://{self.host}:{self.port}{self.path}"


def parse_address(spec: str) -> Address:
    """Return the address of `http://127.0.0.1:11434/v1#llama3.2`; raises BadArgument."""
    allowed = "an address like http://127.0.0.1:11434/v1#llama3.2, the model after the #"
    try:
        parts = urlsplit(spec)
        port = parts.port
    except ValueError:
        raise BadArgument("minion.model", spec, allowed) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not parts.fragment:
        raise BadArgument("minion.model", spec, allowed)
    if parts.username or parts.password or parts.query:
        raise BadArgument("minion.model", parts.hostname, f"{allowed}; a key goes into the "
                          "environment variable that minion.key_env names")  # fmt: skip
    secure = parts.scheme == "https"
    return Address(
        scheme="https" if secure else "http",
        host=parts.hostname,
        port=port or (443 if secure else 80),
        path=parts.path.rstrip("/"),
        model=parts.fragment,
    )


class RemoteGenerator:
    """Implements ports.Generator over HTTP."""

    def __init__(
        self, address: Address, *, key: str = "", context_tokens: int = 0, job_seconds: float = 120
    ) -> None:
        self._address = address
        self._key = key
        self._job_seconds = job_seconds
        self._form = 0
        self._lock = threading.Lock()
        self.context_tokens = context_tokens

    @property
    def id(self) -> str:
        """Return the model's name and where it runs."""
        return f"{self._address.model}@{self._address.host}"

    def count(self, text: str) -> int:
        """Return an estimate: these servers do not count for others."""
        return tokens.count(text)

    def generate(self, prompt: Prompt) -> Generated:
        """Answer a prompt; raises MinionFailed."""
        began = time.monotonic()
        seconds = min(prompt.seconds, self._job_seconds)
        if not self._lock.acquire(timeout=seconds):
            raise self._failed("busy", f"another job took all of the {seconds:.0f} seconds")
        try:
            answer = self._asked(prompt, began + seconds)
        finally:
            self._lock.release()
        return self._generated(answer, (time.monotonic() - began) * 1000)

    def close(self) -> None:
        """Do nothing: each job has a connection of its own."""

    def _asked(self, prompt: Prompt, until: float) -> dict[str, Any]:
        """Ask in the strictest form that the server knows; it is found out once."""
        forms = _FORMS[self._form :] if prompt.schema is not None else _FORMS[-1:]
        refusals = []
        for form in forms:
            status, answer = self._post(_body(self._address.model, prompt, form), prompt, until)
            if status == _OK:
                if prompt.schema is not None:
                    self._form = _FORMS.index(form)
                return answer
            refusals.append(self._refusal(status, answer, prompt))
            if status not in _FORM_REFUSED:
                break
        raise refusals[0] if len(refusals) == len(forms) else refusals[-1]

    def _post(
        self, body: dict[str, Any], prompt: Prompt, until: float
    ) -> tuple[int, dict[str, Any]]:
        connection = self._connection(until)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        path = f"{self._address.path}/chat/completions"
        try:
            with self._deadline(connection, prompt, until):
                connection.request("POST", path, json.dumps(body).encode(), headers)
                with closing(connection.getresponse()) as answer:
                    raw = answer.read(MAX_BYTES + 1)
        finally:
            connection.close()
        if len(raw) > MAX_BYTES:
            raise self._failed("nonsense", f"it sent more than {MAX_BYTES // 1000:,} KB")
        with suppress(ValueError, RecursionError):
            value = json.loads(raw)
            if isinstance(value, dict):
                return answer.status, value
        return answer.status, {"error": raw[: refusal.LOOKED_AT].decode("utf-8", "replace")}

    def _connection(self, until: float) -> http.client.HTTPConnection:
        seconds = max(0.1, until - time.monotonic())
        at = self._address
        if at.scheme == "https":
            secure = ssl.create_default_context()
            return http.client.HTTPSConnection(at.host, at.port, timeout=seconds, context=secure)
        return http.client.HTTPConnection(at.host, at.port, timeout=seconds)

    @contextmanager
    def _deadline(
        self, connection: http.client.HTTPConnection, prompt: Prompt, until: float
    ) -> Iterator[None]:
        """Hang up when the time is over, also on a server that sends a byte now and then."""
        rung = threading.Event()
        lines: list[socket.socket] = []

        def ring() -> None:
            rung.set()
            for line in lines:
                with suppress(OSError):
                    line.shutdown(socket.SHUT_RDWR)

        alarm = threading.Timer(max(0.0, until - time.monotonic()), ring)
        alarm.daemon = True
        alarm.start()
        try:
            connection.connect()
            lines.append(connection.sock)  # the connection lets go of it before the last byte
            yield
        except (OSError, http.client.HTTPException) as error:
            if rung.is_set() or isinstance(error, TimeoutError):
                raise self._failed("timeout", "it took too long") from None
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            why = refusal.shown(why, prompt, self._key)  # a broken status line is the server's
            raise self._failed("unreachable", f"it cannot be reached ({why})") from None
        finally:
            alarm.cancel()
        if rung.is_set():  # hung up between two pieces: what was read may be a part
            raise self._failed("timeout", "it took too long")

    def _refusal(self, status: int, answer: Mapping[str, Any], prompt: Prompt) -> MinionFailed:
        said = refusal.shown(refusal.said(answer), prompt, self._key)
        words = f"it answered {status}: {said}" if said else f"it answered {status}"
        if status in _BUSY:
            return self._failed("busy", words)
        if _REDIRECT <= status < _REFUSED:
            return self._failed("refused", f"{words}; it leads elsewhere, which is not followed")
        return self._failed("refused", words)

    def _generated(self, answer: Mapping[str, Any], took_ms: float) -> Generated:
        try:
            choice = answer["choices"][0]
            text = choice["message"]["content"]
            usage = answer.get("usage") or {}
            read, written = (usage.get(name) for name in ("prompt_tokens", "completion_tokens"))
        except (KeyError, IndexError, TypeError, AttributeError):
            raise self._failed("nonsense", "its answer is not what such a server sends") from None
        if not isinstance(text, str):
            raise self._failed("nonsense", "its answer holds no text")
        return Generated(
            text=text,
            ended="length" if choice.get("finish_reason") == "length" else "stop",
            prompt_tokens=read if isinstance(read, int) else 0,
            tokens=written if isinstance(written, int) else tokens.count(text),
            took_ms=took_ms,
        )

    def _failed(self, why: str, what: str) -> MinionFailed:
        at = self._address
        return MinionFailed(why, f"The model {at.model} at {at.url} gave no answer: {what}.")


def _body(model: str, prompt: Prompt, form: str) -> dict[str, Any]:
    """Return a request, with the schema in the form that a server understands."""
    turns = [{"role": turn.role, "content": harmless(turn.text)} for turn in prompt.turns]
    body: dict[str, Any] = {
        "model": model,
        "messages": turns,
        "max_tokens": prompt.max_tokens,
        "temperature": prompt.temperature,
        "seed": prompt.seed,
        "stream": False,
    }
    if prompt.schema is None:
        return body
    schema = dict(prompt.schema)
    if form == "json_schema":
        inner = {"name": "answer", "schema": schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": inner}
    elif form == "json_object":
        body["response_format"] = {"type": "json_object", "schema": schema}
    if form != "json_schema":  # a server that takes no schema has to be told in words
        words = _WORDS.format(schema=json.dumps(schema))
        body["messages"] = [
            *turns[:-1],
            {**turns[-1], "content": f"{turns[-1]['content']}\n\n{words}"},
        ]
    return body
