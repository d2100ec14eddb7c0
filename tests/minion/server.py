"""llama-cpp-python's own server on a model file: `python server.py MODEL PORT`.

The careful settings are for machines on which the usual ones crash llama.cpp.
"""

from __future__ import annotations

import sys
from typing import Any

import llama_cpp
from llama_cpp.server.__main__ import main

defaults = llama_cpp.llama_cpp.llama_model_default_params


def careful() -> Any:
    params = defaults()
    params.use_extra_bufts = False
    return params


if __name__ == "__main__":
    llama_cpp.llama_cpp.llama_model_default_params = careful
    _, model, port = sys.argv
    sys.argv = ["server", "--model", model, "--host", "127.0.0.1", "--port", port,
                "--n_ctx", "1024", "--n_threads", "1", "--n_threads_batch", "1"]  # fmt: skip
    main()
