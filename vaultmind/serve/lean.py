"""Imports the MCP library's server without its client, its framework and half its schemas.

A client waits for the first import of `mcp` at every cold start. The package's `__init__` files
load much that a low-level server never uses, so that they run only when something asks them for
a name; and pydantic builds each of the protocol's several hundred models when it is first used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

PACKAGES = ("mcp", "mcp.server")


@contextmanager
def lean_import() -> Iterator[None]:
    """Make imports of `mcp` cheap for as long as this lasts; what was imported before stays."""
    from pydantic import BaseModel, ConfigDict

    for name in PACKAGES:
        if name not in sys.modules and (spec := find_spec(name)) is not None:
            _stand_in(spec)
    before = BaseModel.model_config
    BaseModel.model_config = ConfigDict(**before, defer_build=True)
    try:
        yield
    finally:
        BaseModel.model_config = before


def _stand_in(spec: ModuleSpec) -> None:
    """Put a package in place whose `__init__` runs when a name of it is asked for."""
    package = module_from_spec(spec)

    def load(name: str) -> Any:  # noqa: ANN401
        if name.startswith("__") or spec.loader is None:
            raise AttributeError(f"module {spec.name!r} has no attribute {name!r}")
        del package.__dict__["__getattr__"]
        spec.loader.exec_module(package)
        return getattr(package, name)

    package.__dict__["__getattr__"] = load
    sys.modules[spec.name] = package
    parent, _, child = spec.name.rpartition(".")
    if isinstance(above := sys.modules.get(parent), ModuleType):
        setattr(above, child, package)
