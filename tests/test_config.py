"""Configuration comes in layers, and what a vault says about itself is untrusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultmind.config import Config, Flags, load_config
from vaultmind.config.links import Link, write_links
from vaultmind.errors import ConfigError, VaultNotFound


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "Notes 📓"
    (folder / ".obsidian").mkdir(parents=True)
    return folder


def load(
    tmp_path: Path,
    *,
    user: str = "",
    flags: Flags | None = None,
    cwd: Path | None = None,
    **env: str,
) -> Config:
    config = tmp_path / "user.toml"
    config.write_text(user, "utf-8")
    base = {"VAULTMIND_CONFIG": str(config), "VAULTMIND_STATE_DIR": str(tmp_path / "state")}
    return load_config(flags, env=base | env, cwd=cwd or tmp_path)


def test_later_layers_win(tmp_path: Path, vault: Path) -> None:
    user = "[search]\nlimit = 3\n[index]\ndebounce_ms = 40\n"
    own = vault / "VaultMind" / "config.toml"
    own.parent.mkdir()
    own.write_text("[search]\nlimit = 5\n", "utf-8")
    config = load(tmp_path, user=user, cwd=vault, VAULTMIND_INDEX_DEBOUNCE_MS="70")
    assert config.search.limit == 5
    assert config.index.debounce_ms == 70
    assert config.search.per_note == 3


def test_a_vault_may_tune_but_never_open_up(tmp_path: Path, vault: Path) -> None:
    own = vault / "VaultMind" / "config.toml"
    own.parent.mkdir()
    own.write_text("[daemon]\nhttp = true\n[memory]\nautonomy = 3\n[index]\nexclude = ['a/**']\n")
    config = load(tmp_path, cwd=vault)
    assert not config.daemon.http
    assert config.memory.autonomy == 2
    assert config.index.exclude == ("a/**",)
    assert len(config.warnings) == 2
    assert "daemon.http" in config.warnings[0]


def test_a_broken_vault_file_is_a_warning_not_an_end(tmp_path: Path, vault: Path) -> None:
    own = vault / "VaultMind" / "config.toml"
    own.parent.mkdir()
    own.write_text("this is = = not toml", "utf-8")
    assert "cannot be used" in load(tmp_path, cwd=vault).warnings[0]


@pytest.mark.parametrize(
    ("user", "words"),
    [
        ("[search]\nlimit = 0\n", ("search.limit", "0", "1 to 100")),
        ("[search]\nlimt = 3\n", ("search.limt", "Did you mean 'limit'?")),
        ("[recall]\ntopk = 5\n", ("recall.topk", "Did you mean 'top_k'?")),
        ("[search]\nzebra = 3\n", ("search.zebra", "Known there: limit")),
        ("[zebra]\nx = 3\n", ("zebra.x", "Known there: vault", "[search]")),
        ("[index]\nwatch = 'maybe'\n", ("index.watch", "maybe", "bool")),
        ("[search]\nlimit = true\n", ("search.limit", "True", "int")),
    ],
)
def test_a_bad_value_names_key_value_and_what_is_allowed(
    tmp_path: Path, vault: Path, user: str, words: tuple[str, ...]
) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, user=user, cwd=vault)
    assert all(word in str(raised.value) for word in words)


def test_the_vault_is_named_or_found_upward_or_configured(tmp_path: Path, vault: Path) -> None:
    inner = vault / "a" / "b"
    inner.mkdir(parents=True)
    other = tmp_path / "other"
    other.mkdir()
    assert load(tmp_path, cwd=inner).vault == vault
    assert load(tmp_path, cwd=inner, VAULTMIND_VAULT=str(other)).vault == other
    assert load(tmp_path, cwd=other, flags=Flags(vault=str(vault))).vault == vault
    assert load(tmp_path, cwd=other, user=f"vault = '{vault}'").vault == vault


def test_in_a_linked_folder_the_vault_is_the_one_that_it_is_linked_to(
    tmp_path: Path, vault: Path
) -> None:
    shop, other = tmp_path / "shop", tmp_path / "Other"
    (shop / "src").mkdir(parents=True)
    (other / ".obsidian").mkdir(parents=True)
    linked = tmp_path / "links"
    write_links(linked / "1.json", vault, (Link("shop", shop),))
    write_links(linked / "2.json", other, (Link("docs", tmp_path / "docs"),))
    assert load(tmp_path, cwd=shop / "src").vault == vault.resolve()
    assert load(tmp_path, cwd=shop, user=f'vault = "{other}"\n').vault == other.resolve()
    every = r"(?=.*--vault)(?=.*VAULTMIND_VAULT)(?=.*\.obsidian)(?=.*user\.toml)"
    with pytest.raises(VaultNotFound, match=every):
        load(tmp_path, cwd=tmp_path)
    write_links(linked / "2.json", other, (Link("shop", shop),))
    with pytest.raises(VaultNotFound, match="No vault"):
        load(tmp_path, cwd=shop)
    (linked / "2.json").write_text("{", "utf-8")
    with pytest.raises(VaultNotFound, match="No vault"):
        load(tmp_path, cwd=shop)


def test_each_vault_has_its_own_state_folder(tmp_path: Path, vault: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    first, second = load(tmp_path, cwd=vault), load(tmp_path, flags=Flags(vault=str(other)))
    assert first.state_dir != second.state_dir
    assert first.state_dir.parent == tmp_path / "state"


def test_a_vault_may_switch_caution_on_and_never_off(tmp_path: Path, vault: Path) -> None:
    own = vault / "VaultMind" / "config.toml"
    own.parent.mkdir()
    own.write_text("[memory]\ncaution = true\n", "utf-8")
    assert load(tmp_path, cwd=vault).memory.caution
    own.write_text("[memory]\ncaution = false\n", "utf-8")
    config = load(tmp_path, user="[memory]\ncaution = true\n", cwd=vault)
    assert config.memory.caution
    assert "memory.caution" in config.warnings[0]


def test_own_patterns_come_from_the_person_and_a_bad_one_is_named(
    tmp_path: Path, vault: Path
) -> None:
    own = vault / "VaultMind" / "config.toml"
    own.parent.mkdir()
    own.write_text("[redact]\npatterns = ['.']\n", "utf-8")
    user = "[redact]\npatterns = ['EMP-[0-9]{4,6}', '(?i)project falcon']\n"
    config = load(tmp_path, user=user, cwd=vault)
    assert config.redact.patterns == ("EMP-[0-9]{4,6}", "(?i)project falcon")
    assert "redact.patterns" in config.warnings[0]
    with pytest.raises(ConfigError, match=r"redact\.patterns.*'\(a'.*no regular expression"):
        load(tmp_path, user="[redact]\npatterns = ['ok', '(a']\n", cwd=vault)
