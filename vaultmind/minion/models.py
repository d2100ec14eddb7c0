"""Language models as generators: any OpenAI-compatible server, or a GGUF file.

A server is Ollama, LM Studio, llama-server, a hosted one: one host, the one that the person's own
configuration names. A file is served by llama.cpp in a process of our own, asked like the others.
"""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from vaultmind import tokens
from vaultmind.address import Address, Server
from vaultmind.config import MinionConfig
from vaultmind.errors import MinionFailed
from vaultmind.minion import state
from vaultmind.minion.gguf import Head, read_head
from vaultmind.redact import mask
from vaultmind.types import Generated, Prompt

MAX_BYTES = 1_000_000
"""Of an answer with all that is around it. A server that sends more is not read to the end."""
MOST_CHARACTERS = 200
"""Of a server's words about its own trouble."""
CUT = "[…]"
QUIET_VARIABLE = "VAULTMIND_QUIET"
"""Set in the environment of a command that we run: hooks tell nothing of what happens there."""
_OK, _REDIRECT, _REFUSED, _BUSY = 200, 300, 400, (429, 503)
_FORM_REFUSED = (400, 422, 500, 501)
"""A server that does not know a way to ask for JSON answers with one of these."""
_IN_WORDS = "Answer with one JSON value and nothing else. It follows this JSON schema:\n{schema}"
_MARK = re.compile(
    r"<[|｜][^<>|｜\s]{1,40}[|｜]>"  # ChatML, Llama 3, Phi, DeepSeek, GPT-OSS
    r"|</?(?:s|bos|eos|unk|pad|think|[a-z]{2,20}(?:_[a-z]{2,20}){1,3})>"  # Gemma, Qwen, old ones
    r"|</?<?SYS>?>|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]",
    re.IGNORECASE,
)
"""What models know the beginning and the end of a turn by."""
_WORD = re.compile(r"\w+")
WORKER = (sys.executable, "-P", str(Path(__file__).with_name("worker.py")))
LOG = "minion.log"
"""What llama.cpp says, of the last start alone; lies in the state folder."""
COUNT_SECONDS = 20.0
"""For counting tokens, which may have to wait until the model is loaded."""
END_SECONDS = 2.0
"""So long may a process take to end that hung up on us."""
REST_SECONDS = 600.0
"""After a crash in spite of careful settings, a model is left alone for so long."""
FALLBACK_CONTEXT = 2048
"""Of a model that does not say what it was trained on."""
ROPE = {"linear": 1, "yarn": 2}
"""llama.cpp's numbers of the ways to stretch a window."""
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
"""Threads that wait for each other sleep: where others want the cores, spinning costs tenfold."""
_NOT_ITS_FAULT = (0, -9)
"""How a process ends that was killed, for want of memory or by a person, or had nothing to do."""

log = logging.getLogger(__name__)
Request = tuple[str, dict[str, Any], float, int]


class RemoteGenerator:
    """Implements ports.Generator over HTTP."""

    forms: tuple[str, ...] = ("json_schema", "json_object", "words")
    """Ways to ask for JSON, the strictest first; older servers know only the later ones."""

    def __init__(
        self, server: Server, name: str, config: MinionConfig, context_tokens: int
    ) -> None:
        """Take the model's name and where it runs as `name`: `llama3.2@localhost`."""
        self.id = name
        self.context_tokens = context_tokens
        self._server = server
        self._config = config

    def count(self, text: str) -> int:
        """Return an estimate: these servers do not count for others."""
        return tokens.count(text)

    def generate(self, prompt: Prompt) -> Generated:
        """Answer a prompt; raises MinionFailed."""
        began = time.monotonic()
        until = began + min(prompt.seconds, self._config.job_seconds)
        forms = self.forms if prompt.schema else self.forms[-1:]
        for form in forms:  # the strictest that the server knows
            status, answer = self._post("/chat/completions", self._body(prompt, form), until)
            if status == _OK:
                break
            if status not in _FORM_REFUSED or form == forms[-1]:
                raise self._refusal(status, answer, prompt)
        self.forms = self.forms[self.forms.index(form) :] if prompt.schema else self.forms
        try:
            choice, usage = answer["choices"][0], answer.get("usage") or {}
            text = choice["message"]["content"] + ""
            read, written = (usage.get(name) for name in ("prompt_tokens", "completion_tokens"))
        except (KeyError, IndexError, TypeError, AttributeError):
            raise self._failed("nonsense", "its answer is not what such a server sends") from None
        return Generated(
            text=text,
            ended="length" if choice.get("finish_reason") == "length" else "stop",
            prompt_tokens=read if isinstance(read, int) else 0,
            tokens=written if isinstance(written, int) else tokens.count(text),
            took_ms=(time.monotonic() - began) * 1000,
        )

    def close(self) -> None:
        """Do nothing: each job has a connection of its own."""

    def _post(self, path: str, body: dict[str, Any], until: float) -> tuple[int, dict[str, Any]]:
        try:
            status, raw = self._server.post(path, body, until, MAX_BYTES)
        except TimeoutError:
            raise self._failed("timeout", "it took too long") from None
        except ConnectionError as error:  # a broken status line is the server's words
            why = shown(str(error), json.dumps(body, ensure_ascii=False), self._server.key)
            raise self._failed("unreachable", f"it cannot be reached ({why})") from None
        with suppress(ValueError, RecursionError):
            value = json.loads(raw)
            if isinstance(value, dict):
                return status, value
        return status, {"error": raw.decode("utf-8", "replace")}

    def _refusal(self, status: int, answer: Mapping[str, Any], prompt: Prompt) -> MinionFailed:
        sent = "\n".join(turn.text for turn in prompt.turns)
        error = answer.get("error", answer.get("detail", answer.get("message", "")))
        error = error if isinstance(error, dict) else {"message": error}
        said = shown(str(error.get("message", "")), sent, self._server.key)
        words = ": ".join(filter(None, (f"it answered {status}", said)))
        if error.get("code") == "context_length_exceeded":
            return self._failed("too_long", words)
        if _REDIRECT <= status < _REFUSED:
            words += "; it leads elsewhere, which is not followed"
        return self._failed("busy" if status in _BUSY else "refused", words)

    def _failed(self, why: str, what: str) -> MinionFailed:
        return MinionFailed(why, f"The model {self.id} gave no answer: {what.rstrip('.')}.")

    def _body(self, prompt: Prompt, form: str) -> dict[str, Any]:
        """Return a request, with the schema in the form that a server understands."""
        turns = [{"role": turn.role, "content": harmless(turn.text)} for turn in prompt.turns]
        body: dict[str, Any] = {
            "model": self.id.rpartition("@")[0] or self.id,
            "messages": turns,
            "max_tokens": min(prompt.max_tokens, self._config.answer_tokens),
            "temperature": prompt.temperature,
            "seed": prompt.seed,
            "stream": False,
        }
        schema = prompt.schema
        if not schema:
            return body
        if form == "json_schema":
            inner = {"name": "answer", "schema": schema, "strict": True}
            return body | {"response_format": {"type": "json_schema", "json_schema": inner}}
        if form != "grammar":  # a server that takes no schema has to be told in words
            turns[-1]["content"] += "\n\n" + _IN_WORDS.format(schema=json.dumps(schema))
        if form != "words":
            body["response_format"] = {"type": "json_object", "schema": schema}
        return body


def harmless(text: str) -> str:
    """Return a text in which no model takes anything for the end of a turn.

    A server puts a conversation into the form of its model itself, and many do not tell such a
    mark that somebody typed from their own. A space after its first character breaks it.
    """
    return _MARK.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)


def shown(words: str, sent: str, key: str) -> str:
    """Return what of a server's words may stand in a log or on a screen: one printable line.

    They may hold anything: the key, the conversation that it was sent, orders to a terminal. So
    they are cut where a name, a number or two words in a row stand in what was sent, too.
    """
    words = words[: 20 * MOST_CHARACTERS].replace(key, CUT) if key else words
    line = "".join(c if c.isprintable() else " " for c in words)
    line = mask(" ".join(line.split())).text
    known = _WORD.findall(sent.casefold())
    pairs = set(pairwise(known))
    found = [(one.start(), one[0], one[0].casefold()) for one in _WORD.finditer(line)]
    ends = [at for (at, _, low), (*_, then) in pairwise(found) if (low, then) in pairs]
    ends += [at for at, word, low in found[1:] if low in known and (word != low or low.isdigit())]
    line = f"{line[: min(ends)].rstrip()} {CUT}".strip() if ends else line
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1]}…"


# --- a command ------------------------------------------------------------------------------


class CommandGenerator:
    """Implements ports.Generator with the person's own command: a prompt in, an answer out.

    It runs as they would run it, but for a variable by which our own hooks know to keep still: what
    it is asked and does is no conversation of theirs.
    """

    context_tokens = 200_000
    """One call a conversation: so all of it."""

    def __init__(self, config: MinionConfig) -> None:
        self.id = f"command {config.command[0]}"
        self._config = config
        self._lock = threading.Lock()
        self._runs = 0
        """The process group of what runs now."""

    def count(self, text: str) -> int:
        """Return an estimate."""
        return tokens.count(text)

    def generate(self, prompt: Prompt) -> Generated:
        """Answer a prompt; raises MinionFailed."""
        began = time.monotonic()
        text = "\n\n".join(harmless(turn.text) for turn in prompt.turns)
        seconds = min(prompt.seconds, self._config.job_seconds)
        with self._lock, tempfile.TemporaryFile() as said:
            try:
                process = subprocess.Popen(
                    self._config.command, stdin=subprocess.PIPE, stdout=said,
                    stderr=subprocess.DEVNULL, env={**os.environ, QUIET_VARIABLE: "1"},
                    cwd=tempfile.gettempdir(), start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                raise self._failed("missing", f"it could not be run: {error.strerror}") from error
            self._runs = process.pid
            try:
                process.communicate(text.encode(), seconds)
            except subprocess.TimeoutExpired:
                raise self._failed("timeout", "it took too long and was ended") from None
            finally:
                self.close()
                self._runs = 0
                code = process.wait()
            if code:
                raise self._failed("refused", f"it ended with code {code}")
            said.seek(0)
            answer = said.read(MAX_BYTES).decode("utf-8", "replace")
        took_ms = (time.monotonic() - began) * 1000
        return Generated(answer, "stop", tokens.count(text), tokens.count(answer), took_ms)

    def close(self) -> None:
        """End it, and what it started."""
        with suppress(OSError):
            if self._runs:
                os.killpg(self._runs, signal.SIGKILL)

    def _failed(self, why: str, what: str) -> MinionFailed:
        return MinionFailed(why, f"The {self.id} gave no answer: {what}.")


# --- a model in a file ---------------------------------------------------------------------


class LocalGenerator(RemoteGenerator):
    """Implements ports.Generator with a model file. Its process starts with the first prompt.

    In the background it lets everybody else go first; not where a person waits for it.
    """

    forms = ("grammar",)

    def __init__(
        self, path: Path, config: MinionConfig, folder: Path, *, background: bool = True
    ) -> None:
        self.folder, self.head = folder, read_head(path)
        size = self.head.size_mb
        if 0 < config.memory_mb < size:
            told = f"{path} has {size:,.0f} MB; minion.memory_mb allows {config.memory_mb:,}."
            raise MinionFailed("memory", told, hint="Raise it, or name a smaller model.")
        model = window(self.head, config)
        self.process = Process(self.head, config, folder, model, background=background)
        super().__init__(self.process, path.stem, config, model["n_ctx"])

    def count(self, text: str) -> int:
        """Return the tokens of a text by the model's own tokenizer, or an estimate without it.

        Raises MinionFailed for a crash alone: no job is to be begun after it.
        """
        until = time.monotonic() + COUNT_SECONDS
        try:
            return int(self._post("/extras/tokenize/count", {"input": text}, until)[1]["count"])
        except (MinionFailed, LookupError) as failure:
            if getattr(failure, "why", "") == "crash":
                raise
            return tokens.count(text)

    def generate(self, prompt: Prompt) -> Generated:
        """Answer a prompt; raises MinionFailed."""
        try:
            done = super().generate(prompt)
        except MinionFailed as failure:
            state.learn(self.folder, self.head.key, failure=failure.message)
            raise
        speed = round(done.tokens / max(done.took_ms, 1.0) * 1000, 1)
        state.learn(self.folder, self.head.key, failure="", tokens_per_second=speed)
        return done

    def close(self) -> None:
        """End the process."""
        self.process.close()

    def _body(self, prompt: Prompt, form: str) -> dict[str, Any]:
        """Return a request; small models go round in circles, but JSON must repeat."""
        return super()._body(prompt, form) | {"repeat_penalty": 1.0 if prompt.schema else 1.1}


def window(head: Head, config: MinionConfig) -> dict[str, Any]:
    """Return the window: the trained one up to the cap, or beyond it where that is asked for."""
    trained = head.context_tokens or FALLBACK_CONTEXT
    wanted = config.context_tokens
    if config.rope == "none" or wanted <= trained:
        return {"n_ctx": min(trained, wanted)}
    stretched = {"rope_freq_scale": trained / wanted, "yarn_orig_ctx": trained}
    return {"n_ctx": wanted, "rope_scaling_type": ROPE[config.rope], **stretched}


class Process(Server):
    """A child that serves one model, started when it is first asked. One job at a time.

    A job that takes too long ends with the process; one that a crash ended is tried once more
    with careful settings, and what worked is remembered. The process ends when it has nothing to
    do for a while, unless it embeds, and when this process is gone.
    """

    command = WORKER

    def __init__(
        self,
        head: Head,
        config: MinionConfig,
        folder: Path,
        model: dict[str, Any],
        *,
        background: bool = False,
    ) -> None:
        """Take what the model is opened with beside the usual as `model`."""
        super().__init__(Address("http", "127.0.0.1", 0, "", head.path.stem))
        threads = config.threads or max(1, (os.cpu_count() or 1) // 2)  # the rest is for people
        usual = {"model": str(head.path), "n_gpu_layers": config.gpu_layers, "use_mlock": False,
                 "n_threads": threads, "n_threads_batch": threads, "logits_all": False}  # fmt: skip
        embeds = "embedding" in model
        self._opening = {"model": usual | model, "memory_mb": config.memory_mb,
                         "pool": embeds and not head.pools, "background": background,
                         "idle_seconds": None if embeds else config.idle_seconds}  # fmt: skip
        self._head, self._folder = head, folder
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._safe = self._closed = False
        self._rests_until = 0.0

    @property
    def pid(self) -> int:
        """Return the pid of the running process; 0 when there is none."""
        return self._child.pid if self._child and self._child.poll() is None else 0

    def post(
        self, path: str, body: dict[str, Any], until: float, most_bytes: int
    ) -> tuple[int, bytes]:
        """Send a request within the time, whatever stands in its way.

        Raises TimeoutError, and MinionFailed: crash, resting, busy, closed, or why the model
        cannot be opened.
        """
        if not self._lock.acquire(timeout=max(0.0, until - time.monotonic())):
            raise self._failed("busy", "another job took all of the time")
        try:
            if time.monotonic() < self._rests_until:
                raise self._failed("resting", "it crashed before and rests for some minutes")
            path = path if path.startswith("/extras") else f"/v1{path}"
            return self._tried((path, body, until, most_bytes))
        except TimeoutError:
            self._end()
            raise
        finally:
            self._lock.release()

    def close(self) -> None:
        """End the process, and with it any job; nothing can be asked any more."""
        self._closed = True
        if child := self._child:
            child.kill()
        with self._lock:
            self._end()

    hang_up = close

    def _tried(self, request: Request) -> tuple[int, bytes]:
        """Send a request, once more with careful settings after the process ended."""
        safe = bool(state.learned(self._folder, self._head.key).get("safe"))
        try:
            return self._once(request, safe=safe)
        except ConnectionError as first:
            (code,) = first.args
            log.warning("%s ended (%s); once more, carefully", self._head.path.name, code)
            try:
                answer = self._once(request, safe=safe or code != 0)
            except ConnectionError as again:
                self._rests_until = time.monotonic() + REST_SECONDS
                raise self._failed("crash", f"it crashed twice ({again})") from None
            if code not in _NOT_ITS_FAULT:
                state.learn(self._folder, self._head.key, safe=True)
            return answer

    def _once(self, request: Request, *, safe: bool) -> tuple[int, bytes]:
        """Send a request; raises ConnectionError with the process's code where that ended."""
        if not self.pid or self._safe != safe:
            self._start(request[2], safe=safe)
        try:
            return super().post(*request)
        except ConnectionError:
            raise ConnectionError(self._end(END_SECONDS)) from None

    def _start(self, until: float, *, safe: bool) -> None:
        """Start the process and wait until its model is open; raises what `post` and `_once` do."""
        self._end()
        self._safe, self.key = safe, secrets.token_urlsafe(16)
        opening = self._opening | {"safe": safe, "key": self.key}
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with (self._folder / LOG).open("wb") as said:
                child = self._child = subprocess.Popen(
                    self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said,
                    env={**os.environ, **_ENVIRONMENT}, cwd="/", start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            what = f"its process could not be started: {error.strerror}"
            raise self._failed("missing", what) from error
        if self._closed:
            self._end()
            raise self._failed("closed", "it was closed")
        alarm = threading.Timer(max(0.0, until - time.monotonic()), child.kill)
        alarm.start()
        assert child.stdin is not None and child.stdout is not None
        try:
            child.stdin.write(json.dumps(opening).encode() + b"\n")
            child.stdin.flush()
            answer = json.loads(child.stdout.readline())
        except (OSError, ValueError):  # a broken pipe, half a line
            code = self._end(END_SECONDS)
            if time.monotonic() >= until:
                raise TimeoutError from None
            raise ConnectionError(code) from None
        finally:
            alarm.cancel()
        if answer["failed"]:
            raise self._failed(*answer["failed"])
        self.address = Address("http", "127.0.0.1", answer["port"], "", "")

    def _end(self, patience: float = 0.0) -> int:
        """End the process and let go of its pipes; return its code once it is gone."""
        if (child := self._child) is None:
            return 0
        with suppress(subprocess.TimeoutExpired):
            child.wait(patience)
        child.kill()
        for pipe in (child.stdin, child.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        return child.wait()

    def _failed(self, why: str, what: str) -> MinionFailed:
        told = f"The model {self._head.path.name} gave no answer: {what}."
        said = why in ("crash", "not_a_model", "memory")
        hint = f"What llama.cpp said is in {self._folder / LOG}." if said else ""
        return MinionFailed(why, told, hint=hint)
