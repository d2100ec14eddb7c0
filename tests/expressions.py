"""Feed each compiled expression of the package its worst; name those that are not linear.

Run as a process of its own: an expression that never ends is stopped by an alarm.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import vaultmind

RUNS = (
    *("a", "1", ".", " ", "-", "(", "[", "<", "{", '"', "`", "_", "?", ",", "*", "\n", "%", "/"),
    *("a=b&", "a.b.", "a ", "a_", "1 ", ", ", "# ", "- ", "> ", "[[a", "](", "a@", " \n", "x: "),
)
SMALL, BIG = 12_500, 50_000
LIMIT = 2.0
"""Seconds after which an expression counts as one that never ends."""
FAST = 0.4
"""Seconds below which nothing is said of a growth: the machine's noise is as large."""
MOST_GROWTH = 8.0
"""A linear expression takes 4 times as long for 4 times the text, a quadratic one 16 times."""
METHODS = {"search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn"}
WHOLE = {"match", "fullmatch"}


class Endless(Exception):
    """The alarm rang."""


def found() -> Iterator[tuple[str, re.Pattern[str], set[str]]]:
    """Yield each expression once, by its name, with the methods that its module calls on it."""
    seen: set[tuple[str, int]] = set()
    for info in pkgutil.walk_packages(vaultmind.__path__, "vaultmind."):
        if info.name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(info.name)
        except ImportError:
            continue
        calls = methods(Path(str(module.__file__)).read_text("utf-8"))
        for name, value in list(vars(module).items()):
            for one in patterns(value, 4):
                if (one.pattern, one.flags) not in seen:
                    seen.add((one.pattern, one.flags))
                    yield f"{info.name}.{name}", one, calls.get(name, set())


def methods(source: str) -> dict[str, set[str]]:
    """Return which methods of an expression a module calls, by the expression's name."""
    calls: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            inner = node.value
            name = inner.id if isinstance(inner, ast.Name) else getattr(inner, "attr", "")
            calls.setdefault(name, set()).add(node.attr)
    return calls


def patterns(value: object, depth: int) -> Iterator[re.Pattern[str]]:
    """Yield the expressions in a module's value: itself, or what it holds."""
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif type(value).__name__ == "_Lazy":
        yield value.compiled  # type: ignore[attr-defined]
    elif depth and isinstance(value, dict):
        for pair in value.items():
            yield from patterns(pair, depth - 1)
    elif depth and isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from patterns(one, depth - 1)


def seconds(one: re.Pattern[str], text: str, calls: set[str]) -> float:
    """Return how long an expression takes, as its module calls it; LIMIT and more if endless."""
    begun = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        if calls and calls <= WHOLE:
            for call in sorted(calls):
                getattr(one, call)(text)
        else:
            for _ in one.finditer(text):
                pass
    except Endless:
        return LIMIT * MOST_GROWTH
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return time.process_time() - begun


def fault(one: re.Pattern[str], calls: set[str]) -> str:
    """Return the run that an expression is not linear in; empty where there is none."""
    for run in RUNS:
        for end in ("", "\x00!"):
            before = seconds(one, (run * SMALL)[:SMALL] + end, calls)
            if before < FAST / 16:  # even a quadratic one is fast enough
                continue
            took = seconds(one, (run * BIG)[:BIG] + end, calls)
            if took >= LIMIT or (took >= FAST and took / before > MOST_GROWTH):
                return f"{run + end!r}: {before:.2f} s, then {took:.2f} s"
    return ""


def main() -> int:
    """Print each expression that grows too fast, and how many there are."""

    def ring(*_: object) -> None:
        raise Endless

    signal.signal(signal.SIGPROF, ring)
    count, faults = 0, []
    for name, one, calls in found():
        count += 1
        if why := fault(one, calls):
            faults.append(f"{name} {one.pattern[:100]!r} {why}")
    sys.stdout.write("\n".join([*faults, f"{count} expressions"]) + "\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
