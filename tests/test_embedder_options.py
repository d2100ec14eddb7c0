"""`index.embedder_options`: a table in the person's own file, in which no key may stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultmind.config import Config, Flags, load_config
from vaultmind.errors import ConfigError

FAKE = "sk-" + "a1B2c3D4e5F6g7H8i9J0k1L2"


def loaded(folder: Path, table: str, **env: str) -> Config:
    (folder / "vault" / ".obsidian").mkdir(parents=True, exist_ok=True)
    file = folder / "config.toml"
    file.write_text(f'[index]\nembedder = "chroma:ollama"\n{table}\n', "utf-8")
    env = {"VAULTMIND_CONFIG": str(file), **env}
    flags = Flags(vault=str(folder / "vault"), state_dir=str(folder / "state"))
    return load_config(flags, env=env, cwd=folder)


def test_a_table_becomes_options(tmp_path: Path) -> None:
    table = """
    [index.embedder_options]
    url = "http://127.0.0.1:11434"
    model_name = "nomic-embed-text"
    api_key_env_var = "OLLAMA_KEY"
    allow_remote = false
    query_config = { task_type = "search_query" }
    """
    options = dict(loaded(tmp_path, table).index.embedder_options)
    assert options["model_name"] == "nomic-embed-text" and options["allow_remote"] is False
    assert options["query_config"] == {"task_type": "search_query"}
    assert loaded(tmp_path, "").index.embedder_options == ()


def test_the_environment_takes_it_in_a_line(tmp_path: Path) -> None:
    config = loaded(
        tmp_path, "", VAULTMIND_INDEX_EMBEDDER_OPTIONS='{ model_name = "bge-m3", batch = 4 }'
    )
    assert config.index.embedder_options == (("model_name", "bge-m3"), ("batch", 4))
    with pytest.raises(ConfigError, match="wanted: a table"):
        loaded(tmp_path, "", VAULTMIND_INDEX_EMBEDDER_OPTIONS="bge-m3")


@pytest.mark.parametrize(
    "line",
    [
        f'api_key = "{FAKE}"',
        'api_key = "short"',
        f'api_key_env_var = "{FAKE}"',
        'api_key_env_var = "a key with spaces"',
        "api_key_env_var = 12",
        f'model_name = "{FAKE}"',
        'url = "http://anna:secret@127.0.0.1:11434"',
        'url = "http://127.0.0.1:11434/?key=abc"',
        f'default_headers = {{ Authorization = "Bearer {FAKE}" }}',
        f'models = ["{FAKE}"]',
        'access_token = "abc"',
        'password = "abc"',
    ],
)
def test_a_key_in_the_file_is_refused_and_never_repeated(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError, match="environment variable") as raised:
        loaded(tmp_path, f"[index.embedder_options]\n{line}")
    said = f"{raised.value} {raised.value.hint}"
    assert "index.embedder_options" in said
    assert FAKE not in said and "secret" not in said.replace("secrets", "")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('allow_remote = "yes"', "allowed: true, false"),
        ("timeout_seconds = 0", "allowed: 1 to 600"),
        ('timeout_seconds = "60"', "wanted: a number"),
        ("batch = 100000", "allowed: 1 to 512"),
        ("batch = true", "wanted: a number"),
    ],
)
def test_a_bad_option_names_what_is_allowed(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        loaded(tmp_path, f"[index.embedder_options]\n{line}")


@pytest.mark.parametrize(
    "value",
    ["nomic-embed-text:v1.5", "text-embedding-3-small", "intfloat/multilingual-e5-large-instruct",
     "hf.co/CompendiumLabs/bge-m3-gguf", "snowflake-arctic-embed2:568m", "/home/anna/models/bge-m3",
     "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"],
)  # fmt: skip
def test_names_of_models_are_no_keys(tmp_path: Path, value: str) -> None:
    table = f'[index.embedder_options]\nmodel_name = "{value}"'
    assert dict(loaded(tmp_path, table).index.embedder_options) == {"model_name": value}


def test_a_vault_may_not_set_it(tmp_path: Path) -> None:
    memory = tmp_path / "vault" / "VaultMind"
    memory.mkdir(parents=True)
    (memory / "config.toml").write_text(
        '[index]\nembedder = "chroma:cohere"\n[index.embedder_options]\nallow_remote = true\n',
        "utf-8",
    )
    config = loaded(tmp_path, "")
    assert config.index.embedder == "chroma:ollama" and config.index.embedder_options == ()
    assert len(config.warnings) == 2
