"""Any OpenAI-compatible server as a generator: Ollama, LM Studio, llama-server, a hosted one.

One host, the one that the person's own configuration names.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from vaultmind import tokens
from vaultmind.address import Address, Server
from vaultmind.errors import MinionFailed
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


class RemoteGenerator:
    """Implements ports.Generator over HTTP."""

    def __init__(
        self, address: Address, *, key: str = "", context_tokens: int = 0, job_seconds: float = 120
    ) -> None:
        self._address = address
        self._server = Server(address, key)
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
        try:
            status, raw = self._server.post("/chat/completions", body, until, MAX_BYTES)
        except TimeoutError:
            raise self._failed("timeout", "it took too long") from None
        except ConnectionError as error:  # a broken status line is the server's words
            why = refusal.shown(str(error), prompt, self._server.key)
            raise self._failed("unreachable", f"it cannot be reached ({why})") from None
        if len(raw) > MAX_BYTES:
            raise self._failed("nonsense", f"it sent more than {MAX_BYTES // 1000:,} KB")
        with suppress(ValueError, RecursionError):
            value = json.loads(raw)
            if isinstance(value, dict):
                return status, value
        return status, {"error": raw[: refusal.LOOKED_AT].decode("utf-8", "replace")}

    def _refusal(self, status: int, answer: Mapping[str, Any], prompt: Prompt) -> MinionFailed:
        said = refusal.shown(refusal.said(answer), prompt, self._server.key)
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
