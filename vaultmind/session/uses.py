"""What a host says of a tool that an agent used, reduced to what an episode keeps of it.

Standard library only: the hook imports this while its host waits, and a pattern is compiled when it
is first asked for. Claude Code tells of a tool that went well with PostToolUse, and of one that
failed with PostToolUseFailure, which has `error` in the place of `tool_response`; neither names an
exit status. No content of a file is kept, and no command: what leaves the hook is paths, what was
searched for, and how a check went. Of a command that checks something (tests, a build, a linter)
the program's name from a fixed list is kept: secrets stand in a command's other words.
"""

from __future__ import annotations

import os
import re
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOOLS = ("Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "Grep", "Glob", "Bash")
"""What Claude Code calls the tools that are looked at."""
FAILED = "PostToolUseFailure"
MAX_WORDS, MAX_PATH, MAX_CHARS = 200, 4096, 10_000
"""Characters of what was searched for, of a path, and of a command."""
MAX_FOUND, MAX_RUNS = 5, 3
"""Files of what a search found, and checks of a command."""
TAIL_CHARS = 4000
"""Characters at the end of what a command printed, from which it is told how its tests went."""
_BEFORE = (
    r"(?:(?:sudo|env|time|nice|command|exec|npx|bunx|nohup|uv|poetry|pipenv|hatch|pdm|rye|bundle"
    r"|run|timeout|python3?|[A-Za-z_]\w*=\S*|-\S*|\d+[smh]?)\s+)*(?:\S*/)?"
)
"""What may stand before the program that is meant."""
_CHECK = (
    rf"\s*{_BEFORE}(?:(?P<check>pytest|py\.test|tox|nox|unittest|doctest|jest|vitest|mocha|ava"
    r"|ctest|rspec|phpunit|playwright|cypress|bats|ruff|mypy|pyright|flake8|pylint|eslint|tsc"
    r"|shellcheck|prettier|black|golangci-lint)(?=\s|$)|(?P<program>npm|yarn|pnpm|bun|deno|make"
    r"|just|cargo|go|gradlew?|mvnw?|dotnet|bazel|swift|flutter|dart|mix|rake|rails|composer|sbt"
    r"|zig|nix|meson|ninja)(?:\s+(?:-\S*|run))*\s+(?P<word>tests?|t|check|build|lint|typecheck"
    r"|verify|vet|clippy|nextest|e2e|unit|integration|ci|package|format|fmt)\b)"
)
"""A program that checks something, or one that does with one of these words."""
_BAD = (
    r"(?im)\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|^(?:FAILED|FAIL)\b|^not ok "
    r"|failures=[1-9]|errors=[1-9]"
)
_GOOD = (
    r"(?im)\b\d+ (?:passed|passing)\b|^OK\b|test result: ok|All checks passed"
    r"|Success: no issues"
)


def reduced(given: dict[str, Any], event: str) -> dict[str, Any] | None:
    """Return what an episode keeps of a tool's use; None where there is nothing to keep.

    {id, at, cwd, reads, edits, made, found, query, runs, chars}: paths are absolute, `made` says
    that the edited file is new, `chars` how long what was read is.
    """
    tool = str(given.get("tool_name") or "")
    is_told = tool in TOOLS and (event != FAILED or tool == "Bash")
    if not is_told or not given.get("session_id"):  # of no conversation: of no episode
        return None
    asked, answered = _object(given.get("tool_input")), _object(given.get("tool_response"))
    cwd = os.path.abspath(str(given.get("cwd") or os.getcwd()))
    if tool == "Bash":
        done = _bash(asked, answered, event, given)
    elif tool in ("Grep", "Glob"):
        done = _search(asked, answered, cwd)
    else:
        done = _file(tool, asked, answered, cwd)
    for name in ("reads", "edits", "found"):
        every = done.get(name, ())  # no path has a NUL or half a character in it
        done[name] = [one for one in every if one.isprintable() and len(one) <= MAX_PATH]
    if not any(done.values()):
        return None
    whole = {"id": str(given.get("tool_use_id") or "")[:MAX_WORDS], "at": time.time()}
    whole |= {"cwd": cwd[:MAX_PATH], **done}
    return {name: value for name, value in whole.items() if value}


def _file(tool: str, asked: dict[str, Any], answered: dict[str, Any], cwd: str) -> dict[str, Any]:
    name = str(asked.get("file_path") or asked.get("notebook_path") or "")
    paths = [os.path.join(cwd, os.path.expanduser(name))] if name else []
    if tool != "Read":
        return {"edits": paths, "made": answered.get("type") == "create" and bool(paths)}
    content = _object(answered.get("file")).get("content")
    return {"reads": paths, "chars": len(content) if isinstance(content, str) and paths else 0}


def _search(asked: dict[str, Any], answered: dict[str, Any], cwd: str) -> dict[str, Any]:
    """Return the files that were found: named, or at the beginning of lines: `src/a.py:12:`."""
    content = str(answered.get("content") or "")[:20_000]
    there = dict.fromkeys(re.findall(r"(?m)^([^\s:][^:\n]*):\d+[:-]", content))
    names = answered.get("filenames") or [*there]
    found = [os.path.join(cwd, one) for one in names[:MAX_FOUND]]
    return {"query": str(asked.get("pattern") or "")[:MAX_WORDS], "found": found}


def _bash(
    asked: dict[str, Any], answered: dict[str, Any], event: str, given: dict[str, Any]
) -> dict[str, Any]:
    """Return what a command checked and how that went.

    How the whole went tells of its last part; of other parts what was printed tells, or nobody.
    """
    failed = event == FAILED
    unknown = answered.get("interrupted") or given.get("is_interrupt")
    went = "" if unknown or answered.get("backgroundTaskId") else "no" if failed else "yes"
    printed = f"{answered.get('stdout') or ''}\n{answered.get('stderr') or ''}"
    tail = (str(given.get("error") or "") if failed else printed)[-TAIL_CHARS:]
    told = "no" if re.search(_BAD, tail) else "yes" if re.search(_GOOD, tail) else ""
    command, runs = str(asked.get("command") or "")[:MAX_CHARS], list[str]()
    bare = re.sub(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"", "_", command)
    parts = re.split(r"&&|\|\||\|&|(?<![<>])&(?!>)|[;|()\n]", bare.strip())
    for left, words in zip(range(len(parts) - 1, -1, -1), parts, strict=True):
        if check := re.match(_CHECK, words):
            word = {"t": "test"}.get(check["word"], check["word"])
            name = check["check"] or f"{check['program']} {word}"
            runs.append(f"{('' if left else went) or told} {name}")
    return {"runs": runs[:MAX_RUNS]}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
