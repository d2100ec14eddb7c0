"""Conversations with the program, as a person, an agent and a script have them, replayed.

Each file in `tests/transcripts` is one conversation with a fresh copy of a small vault and its
real daemon. A line that begins with a surface is a step; the indented block below it is what came
back. `pytest tests/test_transcripts.py --record` writes today's answers. The README there says how
a step is written and what is made stable.
"""

from __future__ import annotations

import asyncio
import calendar
import contextlib
import http.client
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client

from vaultmind.entry import main

FOLDER = Path(__file__).parent / "transcripts"
ROOT = FOLDER.parent.parent
METHODS = {
    "tools/list": ("list_tools", "tools"),
    "prompts/list": ("list_prompts", "prompts"),
    "prompts/get": ("get_prompt", "messages"),
    "resources/list": ("list_resources", "resources"),
    "resources/templates": ("list_resource_templates", "resource_templates"),
    "resources/read": ("read_resource", "contents"),
}
"""How the MCP client calls a method, and what of its answer is shown."""
PATIENT = """
import sys
from vaultmind.planner import layers, pack, plan
for module in (layers, pack, plan):
    for name in {"KNOWN_SECONDS", "SETTLE_SECONDS"} & vars(module).keys():
        setattr(module, name, 30.0)
from vaultmind.entry import main
sys.exit(main(["daemon", "run"]))
"""
"""A daemon whose plans wait for names and links, however slow the machine is."""
STEP = re.compile(r"^(\$ vaultmind|mcp|http|file)\b")
START_SECONDS, ANSWER_SECONDS = 90, 60
OLD_DAYS = 30
"""How long ago the notes of the vault were last changed."""
WIDTH = 100


class House:
    """A copy of the small vault, its daemon, and the surfaces on which it is spoken to."""

    def __init__(self, settings: dict[str, str]) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="vm-")).resolve()
        self.vault, self.home = self.base / "vault", self.base / "home"
        shutil.copytree(FOLDER / "vault", self.vault)
        shutil.copytree(FOLDER / "home", self.home)
        then = time.time() - OLD_DAYS * 86400
        for path in self.base.rglob("*"):
            os.utime(path, (then, then))
        (self.vault / ".obsidian").mkdir()
        ours = {
            "state.dir": f"{self.base}/state", "config": f"{self.base}/config/config.toml",
            "index.embedder": "none", "consolidation.auto": "false", "daemon.http": "true",
            "daemon.http.port": "0", "hook.seconds": "20", "index.debounce.ms": "20",
        }  # fmt: skip
        kept = {key: value for key, value in os.environ.items() if "VAULTMIND" not in key}
        named = {
            f"VAULTMIND_{key.upper().replace('.', '_')}": value
            for key, value in (ours | settings).items()
        }
        paths = os.pathsep.join([str(ROOT), str(Path(sys.executable).parent), os.environ["PATH"]])
        self.env = kept | named | {
            "HOME": str(self.home), "NO_COLOR": "1", "TZ": "UTC", "PATH": paths,
            "PYTHONPATH": str(ROOT), "GIT_CONFIG_GLOBAL": os.devnull,
        }  # fmt: skip
        self.stable = Stable(self)
        self.clients: dict[str, Any] = {}
        self.stack = contextlib.AsyncExitStack()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Run the daemon, from its first answer with a whole index on."""
        command = [sys.executable, "-c", PATIENT]
        with (self.base / "daemon.txt").open("wb") as log:
            daemon = subprocess.Popen(command, cwd=self.vault, env=self.env, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + START_SECONDS
            while not self.status().get("http_port"):
                assert daemon.poll() is None, (self.base / "daemon.txt").read_text("utf-8")
                assert time.monotonic() < deadline, "the daemon did not come up"
                time.sleep(0.05)
            self.port = self.status()["http_port"]
            self.say("index")
            yield
        finally:
            daemon.terminate()
            daemon.wait(START_SECONDS)
            shutil.rmtree(self.base, ignore_errors=True)

    def status(self) -> Any:
        return json.loads(self.say("daemon", "status", "--json")[1])

    def say(self, *words: str, given: str = "") -> tuple[int, str, str]:
        """Run the program in this process and return its exit code, output and errors."""
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        before = sys.stdin
        sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode()), "utf-8")
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(words)
        finally:
            sys.stdin = before
        said = [stream.buffer.getvalue().decode() for stream in (out, err)]
        return code, *said  # type: ignore[return-value]

    def cli(self, line: str, given: str) -> str:
        """Answer `$ vaultmind WORDS`."""
        code, out, err = self.say(*shlex.split(line), given=given)
        with contextlib.suppress(ValueError):
            out = shown(json.loads(out)) + "\n"
        told = err.splitlines()
        return out + "".join(f"! {one}\n" for one in told) + f"[exit {code}]"

    async def mcp(self, line: str) -> str:
        """Answer `mcp AGENT WHAT {ARGUMENTS}`; WHAT is a tool's name, or a method with a slash."""
        agent, what, arguments = split(line)
        client = await self.client(agent)
        if "/" in what:
            method, field = METHODS[what]
            answer = await getattr(client, method)(**arguments)
            parts = getattr(answer, field)
            return shown([one.model_dump(mode="json", by_alias=True, exclude_none=True)
                          for one in parts])  # fmt: skip
        result = await client.call_tool(what, arguments)
        text = "\n".join(part.text for part in result.content)
        return ("[error]\n" if result.is_error else "") + text

    async def client(self, agent: str) -> Any:
        """Return the agent's MCP client, connected once through the real pipe."""
        if agent not in self.clients:
            words = ["-m", "vaultmind", "mcp", "--agent", agent, "--vault", str(self.vault)]
            server = StdioServerParameters(command=sys.executable, args=words, env=self.env)
            client = Client(stdio_client(server))
            self.clients[agent] = await self.stack.enter_async_context(client)
        return self.clients[agent]

    def http(self, line: str) -> str:
        """Answer `http AGENT METHOD ROUTE {BODY}`; `Header=value` may stand before the body."""
        agent, method, rest = line.split(" ", 2)
        route, _, rest = rest.partition(" ")
        headers = {"Content-Type": "application/json"}
        if agent != "nobody":
            tokens = next(self.base.glob("state/*/http-tokens.json"))
            token = json.loads(tokens.read_text("utf-8")).get(agent, "x" * 40)
            headers["Authorization"] = f"Bearer {token}"
        while header := re.match(r"([A-Z][\w-]+)=(\S+) ?", rest):
            headers[header[1]] = header[2]
            rest = rest[header.end() :]
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS)
        with contextlib.closing(connection):
            connection.request(method, route, rest.encode() or None, headers)
            response = connection.getresponse()
            body = response.read().decode()
        with contextlib.suppress(ValueError):
            body = shown(json.loads(body))
        return f"[{response.status}]\n{body}"

    def file(self, line: str, given: str) -> str:
        """Answer `file show|write|list|remove PATH`, where `~/` is the home folder."""
        verb, name = line.split(" ", 1)
        path = self.home / name[2:] if name.startswith("~/") else self.vault / name
        if verb == "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(given, "utf-8")
        elif verb == "remove":
            path.unlink()
        elif verb == "list":
            files = (one.relative_to(path) for one in path.rglob("*") if one.is_file())
            return "\n".join(sorted(str(one) for one in files))
        else:
            return path.read_text("utf-8") if path.exists() else "[no such file]"
        return ""

    async def answer(self, step: str, given: str) -> str:
        """Return what a step comes to, made stable."""
        kind, line = STEP.match(step)[0], self.stable.real(STEP.sub("", step).strip())  # type: ignore[index]
        given = self.stable.real(given)
        if kind != "file":
            self.say("refresh", ".")
        match kind:
            case "mcp":
                try:
                    async with asyncio.timeout(ANSWER_SECONDS):
                        said = await self.mcp(line)
                except MCPError as error:
                    said = f"[protocol error]\n{error}"
            case "http":
                said = self.http(line)
            case "file":
                said = self.file(line, given)
            case _:
                said = self.cli(line, given)
        return self.stable.words(said)


class Stable:
    """Replaces what differs from run to run by names, and names in a step by what they stand for.

    An id gets a number when it first appears, so that a later step can use it: `undo <id3>`.
    """

    def __init__(self, house: House) -> None:
        today = date.today()
        days = {offset: today + timedelta(offset) for offset in (-OLD_DAYS, *range(-8, 32))}
        self.days = {
            day.isoformat(): f"<today{offset:+}>" if offset else "<today>"
            for offset, day in days.items()
        }
        self.places = {str(house.base): "<base>", sys.executable: "<python>",
                       str(Path(sys.executable).parent): "<bin>", str(ROOT): "<code>"}  # fmt: skip
        self.ids: dict[str, str] = {}

    def real(self, text: str) -> str:
        """Put what the names of earlier answers stand for into a step."""
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        names = self.ids | self.days | self.places | {now: "<now>"}
        for value, name in names.items():
            text = text.replace(name, value)
        return text

    def words(self, text: str) -> str:
        """Return an answer with names in place of what another run would not repeat."""
        for place, name in self.places.items():
            text = text.replace(place, name)
        for pattern, with_what in MARKS:
            text = re.sub(pattern, with_what, text)
        text = ID.sub(lambda found: self.name(found[0]), text)
        for pattern, with_what in MASKS:
            text = re.sub(pattern, with_what, text)
        text = re.sub(r"\d{4}-\d\d-\d\d", lambda d: self.days.get(d[0], d[0]), text)
        return "\n".join(line.rstrip() for line in text.splitlines())

    def name(self, value: str) -> str:
        """Return the name of an id."""
        return self.ids.setdefault(value, f"<id{len(self.ids) + 1}>")


MONTHS = "|".join(calendar.month_abbr[1:])
MARKS = (
    (r"(<<recalled |<<end )[0-9a-f]{8}", r"\1<mark>"),
    (r"/state/[0-9a-f]{16}", "/state/<vault id>"),
    (r"(?<=vaultmind-backup-)[\d-]+", "<time>"),
    (r'(?m)^device: "?[0-9a-f]{8}"?$', "device: <device>"),
)
MASKS = (
    (r"127\.0\.0\.1:\d+", "127.0.0.1:<port>"),
    (r"(?<=\d)T\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d:\d\d|Z)?", "T<clock>"),
    (r"\b\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d:\d\d|Z)?\b", "<clock>"),
    (rf"\b\d\d? ({MONTHS})[a-z]*( 20\d\d)?\b", "<day>"),
    (r"(?<=_)\d{6}(?=_)", "<clock>"),
    (r"\b[\d,]+(\.\d+)? ?(ms|MB|KB|seconds|s)\b", r"<n> \2"),
    (r"(?<![\d.])\d+\.\d+(?![\d.])", "<n>"),
    (r"\b\d+ ?%", "<n>%"),
    (r"\b[\d,]+ of ([\d,]+ tokens)", r"<n> of \1"),
    (r"[█▉▊▋▌▍▎▏░▒▓]+", "<bar>"),
    (r"\b(process|pid) \d+", r"\1 <n>"),
    (r"\bcache (hit|partial|rebuilt)\b", "cache <state>"),
    (r"\b(VaultMind|version|vaultmind,) \d+\.\d+\.\d+", r"\1 <version>"),
    (r'("llama_cpp": )"[^"]*"', r'\1"<version or none>"'),
    (r"(?<=\S) {3,}(?=\S)", "  "),
    (r"(?m)^(\S+ +)\d{4}-\d\d-\d\d(?=(  \d+){3}  –)", r"\1<monday>"),
)
"""What differs from run to run, or is a measure that other tests look after."""
ID = re.compile(
    r"(?<=\^)[0-9a-z]{4}(?![0-9a-z-])|(?<=block\": \")[0-9a-z]{4}(?=\")|\bs-[0-9a-z]{4}\b"
    r"|(?<![0-9A-Za-z.])[0-9a-f]{8,}(?![0-9A-Za-z])"
)
"""Facts, suggestions, changes, hits."""
MEASURES = re.compile(
    r"(_ms|_mb|_seconds|_p\d\d)$|^(cache_status|estimated_used|pid|port|http_port|bytes|version|week)$"
)


def shown(value: Any, indent: int = 0) -> str:
    """Return JSON for people: on one line where that is short; measures are left out."""
    if indent == 0:
        value = without_measures(value)
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= WIDTH or not isinstance(value, (dict, list)):
        return line
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {shown(one, indent + 2)}" for key, one in value.items()]
    else:
        parts = [shown(one, indent + 2) for one in value]
    open_, close = "{}" if isinstance(value, dict) else "[]"
    inner = ",\n".join(" " * (indent + 2) + part for part in parts)
    return f"{open_}\n{inner}\n{' ' * indent}{close}"


def without_measures(value: Any, key: str = "") -> Any:
    """Return JSON with a name in place of each measure and score."""
    if isinstance(value, dict):
        return {name: without_measures(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [without_measures(one, key) for one in value]
    measured = isinstance(value, float) or (value and MEASURES.search(key))
    return "<n>" if measured and not isinstance(value, bool) else value


def split(line: str) -> tuple[str, str, dict[str, Any]]:
    """Return who, what and the JSON arguments of a step."""
    who, what, *rest = line.split(" ", 2)
    return who, what, json.loads(rest[0]) if rest else {}


async def replay(house: House, text: str) -> str:
    """Return a transcript with today's answers."""
    lines = [line for line in text.splitlines() if not line.startswith("    ")]
    told: list[str] = []
    async with house.stack:
        while lines:
            told.append(lines.pop(0))
            if STEP.match(step := told[-1]):
                given = []
                while lines and lines[0].startswith("<"):
                    given.append(lines.pop(0))
                stdin = "".join(f"{line[2:]}\n" for line in given)
                answer = await house.answer(step, stdin)
                told += [*given, "", *(f"    {line}".rstrip() for line in answer.split("\n")), ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(told)).rstrip() + "\n"


@pytest.mark.timeout(400)
@pytest.mark.parametrize("path", sorted(FOLDER.glob("[0-9]*.md")), ids=lambda path: path.stem)
def test_the_program_answers_as_it_did(
    path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_text("utf-8")
    settings = re.search(r"^settings: (.*)$", before, re.MULTILINE)
    house = House(dict(pair.split("=", 1) for pair in settings[1].split()) if settings else {})
    for name in os.environ:
        if "VAULTMIND" in name:
            monkeypatch.delenv(name)
    for name, value in house.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(house.vault)
    with house.running():
        now = asyncio.run(replay(house, before))
    if request.config.getoption("--record"):
        path.write_text(now, "utf-8")
    assert now == before or request.config.getoption("--record")
