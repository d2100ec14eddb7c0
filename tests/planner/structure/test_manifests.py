"""What manifests ask for, read and never run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.planner.structure.manifests import data_record, is_manifest

PYPROJECT = """
[project]
name = "shop"
dependencies = ["httpx[http2]>=0.27 ; python_version > '3.9'", "rich"]
[project.optional-dependencies]
dev = ["pytest>=8"]
[tool.poetry.group.docs.dependencies]
mkdocs = {version = "^1.6"}
"""


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("pyproject.toml", PYPROJECT,
         [("httpx", ">=0.27"), ("rich", ""), ("pytest", ">=8"), ("mkdocs", "^1.6")]),
        ("requirements-dev.txt", "# tools\n-r base.txt\nruff==0.9\n\nmypy\n",
         [("ruff", "==0.9"), ("mypy", "")]),
        ("web/package.json", '{"dependencies": {"react": "^19"}, "devDependencies": {"vite": "6"}}',
         [("react", "^19"), ("vite", "6")]),
        ("Cargo.toml", '[dependencies]\nserde = "1"\n[dev-dependencies]\ninsta = {version="2"}\n',
         [("serde", "1"), ("insta", "2")]),
        ("go.mod", "module x\n\nrequire (\n\tgithub.com/a/b v1.2.3\n)\n",
         [("github.com/a/b", "v1.2.3")]),
        ("Gemfile", "gem 'rails', '~> 8'\ngem \"puma\"\n", [("rails", "~> 8"), ("puma", "")]),
        ("pom.xml", "<dependency><groupId>a</groupId><artifactId>b</artifactId>"
         "<version>1</version></dependency>", [("a:b", "1")]),
        ("build.gradle.kts", 'dependencies {\n  implementation("a.b:c:1.0")\n}\n',
         [("a.b:c", "1.0")]),
        ("App.csproj", '<PackageReference Include="Serilog" Version="4" />', [("Serilog", "4")]),
        ("composer.json", '{"require": {"php": "^8"}}', [("php", "^8")]),
        ("Pipfile", '[packages]\nflask = "*"\n', [("flask", "*")]),
    ],
)  # fmt: skip
def test_each_kind_of_manifest_says_its_packages(
    path: str, text: str, found: list[tuple[str, str]]
) -> None:
    assert is_manifest(path)
    record = data_record(path, text, "sha")
    assert list(record.dependencies) == found
    assert record.fault == ""


def test_a_broken_manifest_is_a_fault_and_no_error() -> None:
    record = data_record("package.json", "{", "sha")
    assert record.dependencies == ()
    assert "manifest" in record.fault


def test_a_token_in_an_address_is_not_kept() -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    record = data_record(
        "package.json", f'{{"dependencies": {{"x": "git+https://{token}@github.com/a/x"}}}}', "sha"
    )
    assert token not in repr(record)


NAMES = ("pyproject.toml", "package.json", "Cargo.toml", "requirements.txt", "go.mod", "Pipfile")


@given(st.text(max_size=200), st.sampled_from(NAMES))
def test_any_text_has_a_record(text: str, name: str) -> None:
    assert data_record(name, text, "sha").path == name
