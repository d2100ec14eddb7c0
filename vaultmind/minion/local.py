"""A GGUF file as a generator: llama.cpp in a process of its own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaultmind import tokens
from vaultmind.config import MinionConfig
from vaultmind.errors import MinionFailed
from vaultmind.minion.gguf import Head, read_head
from vaultmind.minion.marks import harmless
from vaultmind.minion.notes import Notes, model_key
from vaultmind.minion.process import Opening, Worker
from vaultmind.types import Generated, Prompt

COUNT_SECONDS = 20.0
"""For counting tokens, which may have to wait until the model is loaded."""
ENOUGH_TOKENS = 16
"""Written or read by a job whose speed is worth remembering."""
FALLBACK_CONTEXT = 2048
"""Of a model that does not say what it was trained on."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The window a model is opened with."""

    tokens: int
    rope: str
    """`none`, or how it goes beyond what the model was trained on."""


def stretch(head: Head, config: MinionConfig) -> Stretch:
    """Return the window: the trained one up to the cap, or beyond it where that is asked for."""
    trained = head.context_tokens or FALLBACK_CONTEXT
    if config.rope != "none" and config.context_tokens > trained:
        return Stretch(config.context_tokens, config.rope)
    return Stretch(min(trained, config.context_tokens), "none")


def opening_of(path: Path, head: Head, config: MinionConfig, *, background: bool) -> Opening:
    """Return how a model file is opened for writing text."""
    window = stretch(head, config)
    return Opening(
        path=str(path),
        context_tokens=window.tokens,
        trained=head.context_tokens or FALLBACK_CONTEXT,
        rope=window.rope,
        threads=threads(config),
        gpu_layers=config.gpu_layers,
        memory_mb=config.memory_mb,
        background=background,
        idle_seconds=config.idle_seconds,
    )


def threads(config: MinionConfig) -> int:
    """Return the configured threads, or half of the cores: the other half is for people."""
    return config.threads or max(1, (os.cpu_count() or 1) // 2)


class LocalGenerator:
    """Implements ports.Generator with a model file. Its process starts with the first prompt.

    In the background it lets everybody else go first; not where a person waits for it.
    """

    def __init__(
        self, path: Path, config: MinionConfig, folder: Path, *, background: bool = True
    ) -> None:
        self.path = path.expanduser().absolute()
        self.folder = folder
        self._config = config
        self._head = read_head(self.path)
        if 0 < config.memory_mb < self._head.size_mb:
            raise MinionFailed(
                "memory",
                f"{self.path} has {self._head.size_mb:,.0f} MB; minion.memory_mb allows "
                f"{config.memory_mb:,}.",
                hint="Raise it, or name a smaller model.",
            )
        self._window = stretch(self._head, config)
        self._key = model_key(self.path)
        self._notes = Notes(folder)
        self._crash: MinionFailed | None = None
        """One that came while tokens were counted: the job that they were counted for tells it."""
        opening = opening_of(self.path, self._head, config, background=background)
        self.worker = Worker(opening, self._key, folder)

    @property
    def id(self) -> str:
        """Return the file's name without `.gguf`."""
        return self.path.stem

    @property
    def head(self) -> Head:
        """Return what the file says of itself."""
        return self._head

    @property
    def context_tokens(self) -> int:
        """Return the window's size."""
        return self._window.tokens

    def count(self, text: str) -> int:
        """Return the tokens of a text by the model's own tokenizer, or an estimate without it."""
        try:
            answer = self.worker.ask("count", {"text": text}, COUNT_SECONDS)
        except MinionFailed as failure:
            if failure.why == "crash":
                self._crash = failure
            return tokens.count(text)
        return int(answer["tokens"])

    def generate(self, prompt: Prompt) -> Generated:
        """Answer a prompt; raises MinionFailed."""
        if crash := self._crash:
            self._crash = None
            raise crash
        job = {
            "turns": [(turn.role, harmless(turn.text)) for turn in prompt.turns],
            "schema": dict(prompt.schema) if prompt.schema is not None else None,
            "max_tokens": min(prompt.max_tokens, self._config.answer_tokens),
            "temperature": prompt.temperature,
            "seed": prompt.seed,
        }
        answer = self.worker.ask("generate", job, min(prompt.seconds, self._config.job_seconds))
        names = ("text", "ended", "prompt_tokens", "tokens", "took_ms", "prompt_ms")
        done = Generated(**{name: answer[name] for name in names})
        self._learn(done, answer["memory_mb"])
        return done

    def close(self) -> None:
        """End the process."""
        self.worker.close()

    def _learn(self, done: Generated, memory_mb: float) -> None:
        known: dict[str, Any] = {"memory_mb": memory_mb, "failure": ""}
        known["jobs"] = self._notes.of(self._key).jobs + 1
        writing = done.took_ms - done.prompt_ms
        if done.tokens >= ENOUGH_TOKENS and writing > 0:
            known["tokens_per_second"] = round(done.tokens / writing * 1000, 1)
        if done.prompt_tokens >= ENOUGH_TOKENS and done.prompt_ms > 0:
            known["prompt_tokens_per_second"] = round(done.prompt_tokens / done.prompt_ms * 1000, 1)
        self._notes.learn(self._key, **known)
