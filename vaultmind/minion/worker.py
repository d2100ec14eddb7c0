"""The process in which llama.cpp runs: `python -P worker.py`, JSON lines in and out.

The first line says what to open; each one after it is a job. llama.cpp may crash here or eat
memory, and nobody else is hurt. When its standard input closes, which the system sees to when
the parent dies, the process ends at once, whatever it does. Imports nothing of ours.
"""

from __future__ import annotations

import base64
import json
import os
import queue
import re
import resource
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

NICE = 10
ROPE = {"linear": 1, "yarn": 2}
"""llama.cpp's numbers of the ways to stretch a window."""
POOL_MEAN = 1
PLAIN_REPEAT = 1.1
"""Penalty on repetition in plain words: small models go round in circles. JSON must repeat."""
LOG_LINES, LOG_ERROR = 5, 4
SHORTEST_MARK = 3
"""Letters of a model's own mark, such as `</s>`; shorter ones are ordinary text."""
_CUT_SECONDS = 0.05
"""What is kept back of the time, to send what was written so far."""


class JobError(Exception):
    """A job that cannot be done; the process goes on."""

    def __init__(self, why: str, message: str) -> None:
        super().__init__(message)
        self.why = why


def main() -> None:
    """Open a model as the first line says, then do the jobs of the lines that follow."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # llama.cpp prints what it likes: not among the answers
    lines: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    settings = json.loads(lines.get())
    _limit(settings)
    try:
        model = Model(settings)
    except JobError as error:
        _send(answers, {"failed": {"why": error.why, "message": str(error)}})
        return
    _send(answers, {"ok": model.about()})
    while True:
        try:
            line = lines.get(timeout=settings["idle_seconds"] or None)
        except queue.Empty:
            os._exit(0)
        _send(answers, _done(model, json.loads(line)))


def _listen(lines: queue.Queue[bytes]) -> None:
    for line in sys.stdin.buffer:
        lines.put(line)
    os._exit(0)  # the parent is gone, or wants us to be


def _send(answers: Any, value: dict[str, Any]) -> None:  # noqa: ANN401
    left = memoryview(json.dumps(value).encode() + b"\n")
    while left:
        left = left[answers.write(left) :]


def _done(model: Model, job: dict[str, Any]) -> dict[str, Any]:
    try:
        jobs = {"generate": model.generate, "count": model.count, "embed": model.embed}
        return {"ok": {**jobs[job["op"]](job), "memory_mb": memory_mb()}}
    except JobError as error:
        return {"failed": {"why": error.why, "message": str(error)}}
    except MemoryError:
        return {"failed": {"why": "memory", "message": "there is not enough memory for it"}}
    except Exception as error:  # a library's own trouble: the parent decides what to do
        return {"failed": {"why": "nonsense", "message": f"{type(error).__name__}: {error}"[:500]}}


def _limit(settings: dict[str, Any]) -> None:
    """Go behind everybody else, and take no more memory than allowed, where there is a limit."""
    if settings["background"]:
        with suppress(OSError):
            os.nice(NICE)
    if settings["memory_mb"]:
        size = settings["memory_mb"] * 1_000_000
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (size, size))


def memory_mb() -> float:
    """Return the most memory this process has had, in megabytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(most) / (1e6 if sys.platform == "darwin" else 1e3)


class Model:
    """A model that llama.cpp opened."""

    def __init__(self, settings: dict[str, Any]) -> None:
        began = time.monotonic()
        try:
            import llama_cpp
        except ImportError as error:
            raise JobError("missing", f"llama-cpp-python cannot be loaded: {error}") from None
        self._library: Any = llama_cpp
        self._log: deque[str] = deque(maxlen=LOG_LINES)
        self._on_log = llama_cpp.llama_log_callback(self._keep)
        llama_cpp.llama_log_set(self._on_log, None)
        if settings["safe"]:
            self._without_extra_buffers()
        self._settings = settings
        self._llama = self._opened()
        self._llama.verbose = False
        self.load_ms = (time.monotonic() - began) * 1000
        self._template = self._formatter()

    def about(self) -> dict[str, Any]:
        """Return what the model turned out to be."""
        return {
            "context_tokens": self._llama.n_ctx(),
            "dim": self._llama.n_embd(),
            "chat": self._template is not None,
            "load_ms": self.load_ms,
            "memory_mb": memory_mb(),
        }

    def count(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return the tokens of a text."""
        return {"tokens": len(self._tokens(job["text"], special=False))}

    def generate(self, job: dict[str, Any]) -> dict[str, Any]:
        """Answer turns in at most so many tokens and seconds."""
        began = time.monotonic()
        until = began + job["seconds"] - _CUT_SECONDS
        turns = [{"role": role, "content": self._harmless(text)} for role, text in job["turns"]]
        prompt, stop = self._prompt(turns)
        if len(prompt) + job["max_tokens"] > self._llama.n_ctx():
            raise JobError(
                "too_long",
                f"the prompt has {len(prompt)} tokens and the answer may have "
                f"{job['max_tokens']}; together at most {self._llama.n_ctx()} fit",
            )
        self._llama.reset()  # what is left of the last job would change this one's rounding
        text, ended, first = "", "stop", 0.0
        for step in self._llama.create_completion(
            prompt=prompt,
            max_tokens=job["max_tokens"],
            temperature=job["temperature"],
            seed=job["seed"],
            stop=stop,
            grammar=self._grammar(job["schema"]),
            repeat_penalty=1.0 if job["schema"] else PLAIN_REPEAT,
            stream=True,
        ):
            first = first or time.monotonic()
            choice = step["choices"][0]
            text += choice["text"]
            if choice["finish_reason"] == "length" or time.monotonic() > until:
                ended = "length"
                break
        return {
            "text": text,
            "ended": ended,
            "prompt_tokens": len(prompt),
            "tokens": max(0, self._llama.n_tokens - len(prompt) + 1) if text else 0,
            "took_ms": (time.monotonic() - began) * 1000,
            "prompt_ms": ((first or time.monotonic()) - began) * 1000,
        }

    def embed(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return vectors as base64 of float32 rows, one a text."""
        import numpy as np

        rows = self._llama.embed(job["texts"], normalize=True, truncate=True)
        matrix = np.asarray(rows, dtype=np.float32)
        if matrix.ndim != len(["text", "number"]):
            raise JobError("nonsense", f"vectors of shape {matrix.shape} are of no use")
        return {"rows": base64.b64encode(matrix.tobytes()).decode(), "dim": matrix.shape[1]}

    def _keep(self, level: int, text: bytes, _: Any) -> None:  # noqa: ANN401
        if level == LOG_ERROR:
            self._log.append(text.decode("utf-8", "replace").strip())

    def _opened(self) -> Any:  # noqa: ANN401
        settings, rope = self._settings, {}
        if settings["rope"] in ROPE:
            rope = {
                "rope_scaling_type": ROPE[settings["rope"]],
                "rope_freq_scale": settings["trained"] / settings["context_tokens"],
                "yarn_orig_ctx": settings["trained"],
            }
        pooling = {} if settings["pools"] else {"pooling_type": POOL_MEAN}
        batch = settings["context_tokens"] if settings["embedding"] else 512
        try:
            return self._library.Llama(
                settings["path"],
                n_ctx=settings["context_tokens"],
                n_threads=settings["threads"],
                n_threads_batch=settings["threads"],
                n_gpu_layers=0 if settings["safe"] else settings["gpu_layers"],
                n_batch=batch,
                n_ubatch=batch,
                embedding=settings["embedding"],
                verbose=True,  # or it would swallow what the log has to say
                **rope,
                **(pooling if settings["embedding"] else {}),
            )
        except MemoryError:
            raise JobError("memory", "there is not enough memory to load it") from None
        except (ValueError, RuntimeError, OSError) as error:
            why = "; ".join(self._log) or str(error)
            short = "alloc" in why or "mmap" in why or "memory" in why
            raise JobError("memory" if short else "not_a_model", why[:500]) from None

    def _without_extra_buffers(self) -> None:
        """Leave the processor's matrix units alone: some virtual machines crash in them."""
        inner = self._library.llama_cpp
        defaults = inner.llama_model_default_params

        def careful() -> Any:  # noqa: ANN401
            params = defaults()
            params.use_extra_bufts = False
            return params

        inner.llama_model_default_params = careful

    def _formatter(self) -> Any:  # noqa: ANN401
        """Return what turns a talk into the model's own form; None for a model without one."""
        template = self._llama.metadata.get("tokenizer.chat_template", "")
        if not template:
            return None
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        begin, end = (self._piece(token) for token in (self._llama.token_bos(),
                                                       self._llama.token_eos()))  # fmt: skip
        return Jinja2ChatFormatter(template=template, eos_token=end, bos_token=begin)

    def _prompt(self, turns: list[dict[str, str]]) -> tuple[list[int], list[str]]:
        """Return the tokens of a talk, up to where the answer begins, and what ends it."""
        if self._template is None:
            said = "".join(f"{one['role'].title()}: {one['content']}\n\n" for one in turns)
            return self._tokens(f"{said}Assistant:", begin=True), ["\nUser:", "\nSystem:"]
        form = self._template(messages=turns)
        stop = [form.stop] if isinstance(form.stop, str) else list(form.stop or ())
        return self._tokens(form.prompt, begin=not form.added_special), stop

    def _tokens(self, text: str, *, begin: bool = False, special: bool = True) -> list[int]:
        found: list[int] = self._llama.tokenize(text.encode(), add_bos=begin, special=special)
        return found

    def _piece(self, token: int) -> str:
        if token < 0:
            return ""
        piece: bytes = self._llama.detokenize([token], special=True)
        return piece.decode("utf-8", "replace")

    def _harmless(self, text: str) -> str:
        """Break up what the model would take for its own marks, as the end of a turn is one."""
        if self._marks is None:
            return text
        return self._marks.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)

    @cached_property
    def _marks(self) -> re.Pattern[str] | None:
        inner = self._library.llama_cpp
        vocabulary = inner.llama_model_get_vocab(self._llama.model)
        wanted = inner.LLAMA_TOKEN_ATTR_CONTROL | inner.LLAMA_TOKEN_ATTR_USER_DEFINED
        texts = {
            inner.llama_vocab_get_text(vocabulary, token).decode("utf-8", "replace")
            for token in range(self._llama.n_vocab())
            if inner.llama_vocab_get_attr(vocabulary, token) & wanted
        }
        long = sorted(
            (one for one in texts if len(one.strip()) >= SHORTEST_MARK), key=len, reverse=True
        )
        return re.compile("|".join(map(re.escape, long))) if long else None

    def _grammar(self, schema: dict[str, Any] | None) -> Any:  # noqa: ANN401
        return self._library.LlamaGrammar.from_json_schema(json.dumps(schema)) if schema else None


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(f"{Path(__file__).name} takes no arguments")
    main()
