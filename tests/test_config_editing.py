"""One key of a person's file is set, and everything else stays as they wrote it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.config.editing import set_in_file, set_key
from vaultmind.errors import ConfigError

FULL = """# my settings
vault = "~/Notes"   # the big one

[minion]
threads = 2
model = 'old.gguf'  # was good
[index]
watch = true
"""


def test_a_key_is_replaced_where_it_stands_and_comments_stay() -> None:
    new = set_key(FULL, "minion", "model", "/new model.gguf")
    old_line, new_line = "model = 'old.gguf'  # was good", 'model = "/new model.gguf"  # was good'
    assert new == FULL.replace(old_line, new_line)


def test_a_new_key_goes_into_its_section() -> None:
    new = set_key(FULL, "minion", "summary", "s.gguf")
    assert new == FULL.replace("[minion]\n", '[minion]\nsummary = "s.gguf"\n')


@pytest.mark.parametrize(("text", "new"), [
    ("", '[minion]\nmodel = "m"\n'),
    ("agent = 'a'\r\n", "agent = 'a'\r\n\r\n[minion]\r\nmodel = \"m\"\r\n"),
    ('minion.model = "x"\n[index]\n', 'minion.model = "m"\n[index]\n'),
    ('minion = "x"\n', '# minion = "x"\n\n[minion]\nmodel = "m"\n'),
])  # fmt: skip
def test_every_way_to_write_it_is_understood(text: str, new: str) -> None:
    assert set_key(text, "minion", "model", "m") == new


def test_the_short_form_keeps_what_it_said_when_another_key_is_set() -> None:
    new = set_key('minion = "x.gguf"\n', "minion", "summary", "s")
    assert tomllib.loads(new) == {"minion": {"model": "x.gguf", "summary": "s"}}


@pytest.mark.parametrize("text", [
    'minion = { model = "x" }\n',
    'note = """\n[minion]\nmodel = "in a text"\n"""\n',
    '[minion]\nmodel = """x\ny"""\n',
])  # fmt: skip
def test_what_cannot_be_changed_line_by_line_is_left_and_said(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError):
        set_in_file(path, "minion", "model", "m")
    assert path.read_text("utf-8") == text


def test_a_broken_file_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"vault = \xff\n")
    with pytest.raises(ConfigError, match="cannot be changed"):
        set_in_file(path, "minion", "model", "m")
    assert path.read_bytes() == b"vault = \xff\n"


def test_a_link_stays_a_link_and_a_mark_at_the_start_stays(tmp_path: Path) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "config.toml"
    real.write_bytes(b"\xef\xbb\xbfagent = 'a'\n")
    real.chmod(0o644)
    link.symlink_to(real)
    set_in_file(link, "minion", "model", "m")
    assert link.is_symlink()
    assert real.read_bytes().startswith(b"\xef\xbb\xbfagent = 'a'\n")
    assert real.stat().st_mode & 0o777 == 0o644
    assert sorted(one.name for one in tmp_path.iterdir()) == ["config.toml", "real.toml"]


@given(value=st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x7f")))
def test_any_value_can_be_written(value: str) -> None:
    assert tomllib.loads(set_key(FULL, "minion", "model", value))["minion"]["model"] == value
