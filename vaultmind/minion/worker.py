"""The process in which llama.cpp runs: llama-cpp-python's own server, on a port of this machine.

`python -P worker.py`. The first line of its input is JSON and says what to open; it answers with
one line, the port or what failed. llama.cpp may crash here or eat memory, and nobody else is
hurt. When its input closes, which the system sees to when the parent dies, it ends at once.
Imports nothing of ours.
"""

from __future__ import annotations

import json
import os
import resource
import select
import socket
import sys
import threading
from contextlib import suppress
from functools import partial
from typing import Any

NICE = 10
POOL_MEAN = 1


def main() -> None:
    """Open a model as the first line says, and serve it until nobody wants it any more."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # llama.cpp prints what it likes: not among the answers
    opening = json.loads(sys.stdin.readline())
    if opening["background"]:
        with suppress(OSError):
            os.nice(NICE)  # everybody else goes first
    if size := opening["memory_mb"] * 1_000_000:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (size, size))
    failed, server, port = None, None, socket.create_server(("127.0.0.1", 0))
    try:
        server = served(opening)
    except Exception as error:  # whatever a library cannot do: the parent is told
        why = "missing" if isinstance(error, ImportError) else "not_a_model"
        failed = why, f"{type(error).__name__}: {error}"[:500]
    answers.write(json.dumps({"port": port.getsockname()[1], "failed": failed}) + "\n")
    answers.flush()
    if server is not None:
        watch = threading.Thread(target=_watch, args=(server.server_state, opening["idle_seconds"]))
        watch.start()
        server.run(sockets=[port])


def _watch(state: Any, idle_seconds: float | None) -> None:  # noqa: ANN401
    """End the process when its parent is gone, or when nobody has asked for so long."""
    seen = -1
    while not select.select([sys.stdin], [], [], idle_seconds)[0]:
        if state.total_requests == seen and not state.tasks:
            break
        seen = state.total_requests
    os._exit(0)


def served(opening: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return a server with the model loaded, which answers only those who know the key."""
    import llama_cpp
    import uvicorn
    from llama_cpp.server import app, settings

    own = {*settings.Settings.model_fields, "config_file"}
    for name in [one for one in os.environ if one.lower() in own]:
        del os.environ[name]  # the server would read its settings from there, too
    if opening["pool"]:
        llama_cpp.Llama = partial(llama_cpp.Llama, pooling_type=POOL_MEAN)
    model = opening["model"]
    if opening["safe"]:
        without_extra_buffers(llama_cpp.llama_cpp)
        model["n_gpu_layers"] = 0
    made = app.create_app(
        server_settings=settings.ServerSettings(api_key=opening["key"]),
        model_settings=[settings.ModelSettings(**model)],
    )
    return uvicorn.Server(uvicorn.Config(made, log_level="warning", lifespan="off"))


def without_extra_buffers(inner: Any) -> None:  # noqa: ANN401
    """Leave the processor's matrix units alone: some virtual machines crash in them."""
    defaults = inner.llama_model_default_params

    def careful() -> Any:  # noqa: ANN401
        params = defaults()
        params.use_extra_bufts = False
        return params

    inner.llama_model_default_params = careful


if __name__ == "__main__":
    main()
