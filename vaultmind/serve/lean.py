"""Imports the MCP library without building its models: a client waits for that at a cold start.

Pydantic builds each of the protocol's several hundred models when it is first used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def lean_import() -> Iterator[None]:
    """Put off the building of models that are declared for as long as this lasts."""
    from pydantic import BaseModel, ConfigDict

    before = BaseModel.model_config
    BaseModel.model_config = ConfigDict(**before, defer_build=True)
    try:
        yield
    finally:
        BaseModel.model_config = before
