"""What a shell command did, as far as an episode keeps it: never its words.

Standard library only: the hook imports this while its host waits. Of a command that checks
something (tests, a build, a linter) the program's name from a fixed list is kept and whether it
went well; of one that reads or searches, the files. Secrets stand in a command's other words.
"""

from __future__ import annotations

import os
import re
import shlex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_CHARS = 10_000
"""Of a command that is looked at."""
MAX_PATHS, MAX_FOUND, MAX_RUNS = 10, 5, 3
TAIL_CHARS = 4000
"""Of what a command printed, from which it is told how its tests went."""
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
    "sudo", "env", "time", "nice", "command", "exec", "npx", "bunx", "nohup", "xvfb-run", "stdbuf",
})  # fmt: skip
_RUNNERS = frozenset({"uv", "poetry", "pipenv", "hatch", "pdm", "rye", "bundle", "pnpm", "yarn"})
_HARMLESS = frozenset({"cd", "export", "set", "source", ".", "echo", "true", ":", "pushd"})
_READERS = frozenset({"cat", "head", "tail", "less", "more", "bat", "nl", "sed", "view"})
_SEARCHERS = frozenset({"grep", "egrep", "rg", "ag", "ack"})
_SEPARATORS = frozenset(";&|()\n")
_VARIABLE = re.compile(r"[A-Za-z_]\w*=")
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


def told_of(command: str, cwd: str, printed: str, went: str) -> dict[str, Any]:
    """Return what a command did: {reads, found, query, runs, commits}.

    `went` is how the whole went: `yes`, `no` or empty where nobody knows. A run is its outcome
    and its program: `yes pytest`, ` npm test`.
    """
    reads: list[str] = []
    runs: list[str] = []
    query, found = "", list[str]()
    commits = bool(_COMMITS.search(command[:MAX_CHARS]))
    simple = list(_simple(command[:MAX_CHARS]))
    piped_fails = "pipefail" in command
    for at, (words, after) in enumerate(simple):
        name, rest = _program(words)
        if name == "cd" and rest:
            cwd = os.path.join(cwd, os.path.expanduser(rest[0]))
        elif name in _READERS:
            reads += [os.path.join(cwd, one) for one in _files(name, rest)]
        elif name in _SEARCHERS and not query:
            query, found = _search(rest, cwd, printed)
        if check := _check(name, rest):
            others = [one for one, _ in simple[:at]]
            sure = _sure(went, after, others, piped_fails)
            runs.append(f"{sure or _by_words(printed)} {check}")
    return {
        "reads": reads[:MAX_PATHS],
        "found": found[:MAX_FOUND],
        "query": query,
        "runs": runs[:MAX_RUNS] or ([f"{went} git commit"] if commits and went == "no" else []),
        "commits": commits and went != "no",
    }


def paths_in(printed: str, cwd: str) -> list[str]:
    """Return the files that lines like `src/a.py:12:` begin with, a few and each once."""
    named = dict.fromkeys(one[1] for one in _LINE.finditer(printed[:20_000]))
    return [os.path.join(cwd, one) for one in named][:MAX_FOUND]


def _simple(command: str) -> Iterator[tuple[list[str], tuple[str, ...]]]:
    """Yield the simple commands, each with every separator that follows it in the whole."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    words: list[str] = []
    found: list[tuple[list[str], str]] = []
    skip = False
    try:
        for token in lexer:
            if token and set(token) <= _SEPARATORS:
                found.append((words, token))
                words = []
            elif token and set(token) <= set("<>&"):
                skip = True  # where to, or where from
            elif skip:
                skip = False
            else:
                words.append(token)
    except ValueError:  # an open quote, as in a here-document: what was read so far counts
        words = words if not found else []
    found.append((words, ""))
    separators = [after for _, after in found]
    for at, (one, _) in enumerate(found):
        if one:
            yield one, tuple(filter(None, separators[at:]))


def _program(words: list[str]) -> tuple[str, list[str]]:
    """Return a simple command's program by its name, and its other words."""
    rest = list(words)
    while rest:
        name = os.path.basename(rest[0])
        if _VARIABLE.match(rest[0]) or name in _BEFORE or rest[0].startswith("-"):
            rest = rest[1:]
        elif name == "timeout":
            rest = rest[2:]
        elif name in _RUNNERS and len(rest) > 1 and rest[1] in ("run", "exec"):
            if name in _BY_WORD and len(rest) > 2 and _stem(rest[2]) in _WORDS:  # noqa: PLR2004
                return name, rest[2:]
            rest = rest[2:]
        elif name.startswith("python") and "-m" in rest[1:3]:
            rest = rest[rest.index("-m") + 1 :]
        else:
            return name, rest[1:]
    return "", []


def _check(name: str, rest: list[str]) -> str:
    """Return the name of what checks something; empty for any other program."""
    if name in _CHECKS:
        return name
    if name not in _BY_WORD:
        return ""
    words = [_stem(one) for one in rest if not one.startswith("-")][:2]
    told = next((one for one in words if one in _WORDS), "")
    return f"{name} {'test' if told == 't' else told}" if told else ""


def _stem(word: str) -> str:
    return word.partition(":")[0]


def _sure(went: str, after: tuple[str, ...], before: list[list[str]], piped_fails: bool) -> str:
    """Return how one part of a command went, as far as the whole's outcome says so."""
    if went == "yes":
        passed_on = ("&&", "|", "|&") if piped_fails else ("&&",)
        return "yes" if all(one in passed_on for one in after) else ""
    harmless = all(_program(words)[0] in _HARMLESS for words in before)
    return "no" if went == "no" and not after and harmless else ""


def _by_words(printed: str) -> str:
    """Return how tests went by what they printed; empty where it does not say."""
    tail = printed[-TAIL_CHARS:]
    if _BAD.search(tail):
        return "no"
    return "yes" if _GOOD.search(tail) else ""


def _files(name: str, rest: list[str]) -> list[str]:
    """Return the words that may be files which a reading program reads."""
    plain = [one for one in rest if not one.startswith("-") and not one.isdigit()]
    if name == "sed":
        if any(one.startswith(("-i", "--in-place")) for one in rest):
            return []
        plain = plain[1:]
    return [os.path.expanduser(one) for one in plain if "*" not in one]


def _search(rest: list[str], cwd: str, printed: str) -> tuple[str, list[str]]:
    plain = [one for one in rest if not one.startswith("-")]
    return (plain[0] if plain else ""), paths_in(printed, cwd)
