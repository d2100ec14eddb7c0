"""The documents say what there is, and what they say is there."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest

from vaultmind.cli import options
from vaultmind.cli.main import cli
from vaultmind.cli.options import GLOBAL_OPTIONS
from vaultmind.config import KEYS, SECTION_TYPES, TOP_KEYS
from vaultmind.errors import DISTRIBUTION
from vaultmind.serve import mcp, op
from vaultmind.serve.op import Operation

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = (ROOT / "docs/commands.md").read_text("utf-8")
CONFIGURATION = (ROOT / "docs/configuration.md").read_text("utf-8")
INTERFACES = (ROOT / "docs/interfaces.md").read_text("utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("C*.md"))]
LINK = re.compile(r"\[[^\]\[]+\]\(([^)\s]+)\)")
TRANSCRIPTS = sorted(ROOT.glob("tests/transcripts/[0-9]*.md"))
PROMISE = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def leaves(group: click.Group, path: str = "vaultmind") -> Iterator[tuple[str, click.Command]]:
    """Yield every command that does something, with its full name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


LEAVES = dict(leaves(cli))


def options_of(command: click.Command) -> set[str]:
    options = [one for one in command.params if isinstance(one, click.Option)]
    return {one.opts[0] for one in options if not one.hidden}


GROUPS = {" ".join(name.split()[:2]) for name in LEAVES if len(name.split()) > len(["a", "b"])}


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_is_documented_with_its_options(name: str) -> None:
    (row,) = re.findall(rf"^\| `{name}[ `].*$", COMMANDS, re.MULTILINE)
    if name == "vaultmind search":  # whose options have a table of their own
        row = COMMANDS.partition("`vaultmind search` waits")[2].partition("\n## ")[0]
    written = set(re.findall(r"`(--[\w-]+)", row))
    assert options_of(LEAVES[name]) == written


def test_every_global_option_is_documented() -> None:
    assert all(re.search(rf"^\| `{name}[ `]", COMMANDS, re.MULTILINE) for name in GLOBAL_OPTIONS)


def test_every_option_in_the_documents_exists() -> None:
    known = {"--help", "--version", *GLOBAL_OPTIONS}
    known |= {option for one in LEAVES.values() for option in options_of(one)}
    assert set(re.findall(r"`(--[\w-]+)", COMMANDS)) <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_in_the_documents_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    called = re.findall(r"(?:^|`|&& )(?:\.venv/bin/)?(vaultmind [a-z]+(?: [a-z]+)?)", text, re.M)
    for words in called:
        first_two = " ".join(words.split()[:2])
        named = words if first_two in GROUPS else first_two
        assert named in {*LEAVES, *GROUPS}, f"{words!r} in {page.name}"


def test_every_exit_code_is_documented_and_no_other() -> None:
    codes = {value for name, value in vars(options).items() if name.startswith("EXIT_")}
    table = COMMANDS.partition("## Exit codes")[2].partition("\n## ")[0]
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)} == codes | {0}


def names_of(value: Any) -> Iterator[str]:
    """Yield the fields of recorded JSON, but for those of `BY_NAME`."""
    if isinstance(value, list) and value:
        yield from names_of(value[0])
    for name, inner in value.items() if isinstance(value, dict) else ():
        yield name
        if name not in BY_NAME:
            yield from names_of(inner)


BY_NAME = ("counts", "dropped", "scores", "outcomes", "content", "written", "hooks", "writers",
           "error", "purposes", "parts", "intent", "budget_report",
           "context")  # fmt: skip
"""Objects whose keys are data, or stand in a schema."""
RECORDED = re.compile(r"^\$ vaultmind .*--json.*\n(?:<.*\n)*\n((?:    .*\n|\n)+)", re.MULTILINE)


@pytest.mark.parametrize("page", TRANSCRIPTS, ids=lambda page: page.stem)
def test_every_json_name_that_is_recorded_is_documented(page: Path) -> None:
    json_part = COMMANDS.partition("## JSON output")[2]
    for answer in RECORDED.findall(page.read_text("utf-8")):
        text = answer.partition("    [exit")[0].replace(": <n>", ": 0")
        with suppress(ValueError):  # a line a question
            missing = {one for one in names_of(json.loads(text)) if f'"{one}"' not in json_part}
            assert not missing, text


def test_every_configuration_key_is_documented_as_it_is() -> None:
    rows = dict(re.findall(r"^\| `([\w.]+)` \|(.*)\|$", CONFIGURATION, re.MULTILINE))
    top = ((name, "", words) for name, words in TOP_KEYS.items())
    keys = [*top, *((name, it.default, it.metadata["help"]) for name, it in KEYS.items())]
    assert list(rows) == [name for name, *_ in keys]
    for name, default, words in keys:
        cells = [cell.strip() for cell in rows[name].split("|")]
        assert cells[-1] == words
        if default not in ("", ()) and "." in name:
            shown = str(default).lower() if isinstance(default, bool) else str(default)
            assert cells[0] == f"`{shown}`", name


def test_every_bound_of_a_key_is_documented() -> None:
    rows = dict(re.findall(r"^\| `([\w.]+)` \|(.*)\|$", CONFIGURATION, re.MULTILINE))
    for section, kind in SECTION_TYPES.items():
        for item in fields(kind):
            _, allowed, vault, _ = (
                cell.strip() for cell in rows[f"{section}.{item.name}"].split("|")
            )
            meta = item.metadata
            if "min" in meta:
                assert allowed == f"{meta['min']} to {meta['max']}", item.name
            assert (vault == "yes") == bool(meta.get("vault")), item.name


@pytest.mark.parametrize("surface", ["mcp", "http"])
def test_every_tool_and_route_is_documented(surface: str) -> None:
    for operation in op.of(surface):  # type: ignore[arg-type]
        assert f"`{operation.name}`" in INTERFACES
    assert "`POST /v1/NAME`" in INTERFACES and "`/mcp`" in INTERFACES


@pytest.mark.parametrize("operation", op.of("mcp"), ids=lambda one: one.name)
def test_every_argument_of_a_tool_is_documented(operation: Operation) -> None:
    (row,) = re.findall(rf"^\| `{operation.name}` \|.*\|$", INTERFACES, re.MULTILINE)
    arguments = set(re.findall(r"`([a-z_]+)`", row.split("|")[3]))
    assert arguments - {"path"} == set(operation.parameters)


def test_every_resource_and_prompt_is_documented() -> None:
    assert f"`{mcp.NOTE}{{+path}}`" in INTERFACES
    assert all(f"`{name}`" in INTERFACES for name in mcp.PROMPTS)


def test_the_readmes_first_block_is_the_two_commands() -> None:
    block = re.search(r"```\n(.*?)```", README, re.DOTALL)
    assert block
    show, test = block.group(1).splitlines()
    assert show.endswith("vaultmind demo") and test.endswith("pytest")
    script = (ROOT / ".ci/run").read_text("utf-8")
    (expression,) = re.findall(r"\$\(sed -n '(.*?)' README.md \| head -n 1\)", script)
    found = subprocess.run(
        ["sed", "-n", expression, ROOT / "README.md"], capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines()[0] == test


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text("utf-8")):
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page.name}: {target}"
        if anchor:
            assert anchor in anchors(file), f"{page.name}: {target}"


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as they are made on the web."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one).strip().lower().replace(" ", "-") for one in headings}


def test_every_promise_has_its_test() -> None:
    promises = PROMISE.findall(README)
    assert promises
    for path, name in promises:
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_map_names_every_room() -> None:
    rooms = [
        path.name for path in (ROOT / "vaultmind").iterdir() if (path / "__init__.py").exists()
    ]
    block = README.partition("## The map of the package")[2]
    assert all(f"{room}/" in block for room in rooms)


def test_what_a_hint_or_a_page_says_to_install_is_what_this_project_publishes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {"", *project["optional-dependencies"]}
    assert project["name"] == DISTRIBUTION
    sources = [*PAGES, *(ROOT / "vaultmind").rglob("*.py"), ROOT / "pyproject.toml"]
    for path in sources:
        text = path.read_text("utf-8")
        assert not re.findall(r"pip install '?vaultmind(?:\[|'|$)", text, re.M), path
        for name, extra in re.findall(r"'(vaultmind[\w-]*)\[([\w-]+)\]'", text):
            assert (name, extra in extras) == (DISTRIBUTION, True), path
        for extra in re.findall(r"install_hint\([\"'](\w+)[\"']\)", text):
            assert extra in extras, path
