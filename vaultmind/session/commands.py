"""What a shell command did, as far as an episode keeps it: never its words.

Standard library only: the hook imports this while its host waits. Of a command that checks
something (tests, a build, a linter) the program's name from a fixed list is kept and whether it
went well. Secrets stand in a command's other words.
"""

from __future__ import annotations

import os
import re
import shlex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_CHARS = 10_000
"""Characters of a command that are looked at."""
MAX_FOUND, MAX_RUNS = 5, 3
TAIL_CHARS = 4000
"""Characters at the end of what a command printed, from which it is told how its tests went."""
_CHECKS = frozenset({
    "pytest", "py.test", "tox", "nox", "unittest", "doctest", "jest", "vitest", "mocha", "ava",
    "ctest", "rspec", "phpunit", "playwright", "cypress", "bats", "ruff", "mypy", "pyright",
    "flake8", "pylint", "eslint", "tsc", "shellcheck", "prettier", "black", "golangci-lint",
})  # fmt: skip
_BY_WORD = frozenset({
    "npm", "yarn", "pnpm", "bun", "deno", "make", "just", "cargo", "go", "gradle", "gradlew",
    "mvn", "mvnw", "dotnet", "bazel", "swift", "flutter", "dart", "mix", "rake", "rails",
    "composer", "sbt", "zig", "nix", "meson", "ninja",
})  # fmt: skip
"""Programs that check something only with one of the words below."""
_WORDS = frozenset({
    "test", "tests", "t", "check", "build", "lint", "typecheck", "verify", "vet", "clippy",
    "nextest", "e2e", "unit", "integration", "ci", "package", "format", "fmt",
})  # fmt: skip
_BEFORE = frozenset({
    "sudo", "env", "time", "nice", "command", "exec", "npx", "bunx", "nohup", "uv", "poetry",
    "pipenv", "hatch", "pdm", "rye", "bundle", "run", "timeout", "python", "python3",
})  # fmt: skip
"""Words that may stand before the program that is meant."""
_SEPARATORS = frozenset(";&|()\n")
_ASIDE = re.compile(r"[A-Za-z_]\w*=|-|\d+[smh]?$")
_COMMITS = re.compile(
    r"(?:^|[;&|(\s/])git(?:\s+-{1,2}\S+(?:\s+[^-\s]\S*)?)*\s+"
    r"(?:commit|merge|cherry-pick|revert|rebase|pull|am)\b"
)
_LINE = re.compile(r"(?m)^([^\s:][^:\n]*):\d+[:-]")
_BAD = re.compile(
    r"(?i)\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|^(?:FAILED|FAIL)\b|^not ok "
    r"|failures=[1-9]|errors=[1-9]",
    re.MULTILINE,
)
_GOOD = re.compile(
    r"(?i)\b\d+ (?:passed|passing)\b|^OK\b|test result: ok|All checks passed"
    r"|Success: no issues",
    re.MULTILINE,
)


def told_of(command: str, printed: str, went: str) -> dict[str, Any]:
    """Return what a command did: {runs, commits}.

    `went` is how the whole went: `yes`, `no` or empty where nobody knows. A run is its outcome
    and its program: `yes pytest`, ` npm test`.
    """
    command, runs = command[:MAX_CHARS], list[str]()
    commits = bool(_COMMITS.search(command))
    for words, after in _simple(command):
        name, rest = _program(words)
        if check := _check(name, [one for one in rest if not one.startswith("-")]):
            passed_on = {"&&", "|", "|&"} if "pipefail" in command else {"&&"}
            sure = went if set(after) <= passed_on and (went == "yes" or not after) else ""
            runs.append(f"{sure or _by_words(printed)} {check}")
    failed = [f"{went} git commit"] if commits and went == "no" else []
    return {"runs": runs[:MAX_RUNS] or failed, "commits": commits and went != "no"}


def paths_in(printed: str, cwd: str) -> list[str]:
    """Return the files that lines like `src/a.py:12:` begin with, a few and each once."""
    named = dict.fromkeys(one[1] for one in _LINE.finditer(printed[:20_000]))
    return [os.path.join(cwd, one) for one in named][:MAX_FOUND]


def _simple(command: str) -> list[tuple[list[str], list[str]]]:
    """Return the simple commands, each with every separator that follows it in the whole."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    found: list[tuple[list[str], list[str]]] = [([], [])]
    skip = False
    try:
        for token in lexer:
            if set(token) <= _SEPARATORS:
                for _, after in found:
                    after.append(token)
                found.append(([], []))
            elif set(token) <= set("<>&"):
                skip = True  # where to, or where from
            elif skip:
                skip = False
            else:
                found[-1][0].append(token)
    except ValueError:  # an open quote, as in a here-document: what was read before it counts
        found.pop()
    return [(words, after) for words, after in found if words]


def _program(words: list[str]) -> tuple[str, list[str]]:
    """Return a simple command's program by its name, and its other words."""
    for at, word in enumerate(words):
        name = os.path.basename(word)
        if name not in _BEFORE and not _ASIDE.match(word):
            return name, words[at + 1 :]
    return "", []


def _check(name: str, plain: list[str]) -> str:
    """Return the name of what checks something; empty for any other program."""
    if name in _CHECKS:
        return name
    words = [one.partition(":")[0] for one in plain][:2] if name in _BY_WORD else []
    told = next((one for one in words if one in _WORDS), "")
    return f"{name} {'test' if told == 't' else told}" if told else ""


def _by_words(printed: str) -> str:
    """Return how tests went by what they printed; empty where it does not say."""
    tail = printed[-TAIL_CHARS:]
    if _BAD.search(tail):
        return "no"
    return "yes" if _GOOD.search(tail) else ""
