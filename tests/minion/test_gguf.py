"""What a model file is, told without loading it."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.minion.model import gguf
from vaultmind.errors import MinionFailed
from vaultmind.minion.gguf import read_head


@pytest.mark.minion
def test_a_model_says_what_it_is_and_how_long_its_window_is() -> None:
    head = read_head(gguf())
    assert (head.architecture, head.context_tokens, head.dim) == ("llama", 8192, 576)
    assert "135M" in head.name
    assert not head.pools
    assert head.size_mb > 90


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MinionFailed, match=r"no model file .*gone\.gguf") as caught:
        read_head(tmp_path / "gone.gguf")
    assert caught.value.why == "missing"


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(MinionFailed) as caught:
        read_head(tmp_path)
    assert caught.value.why == "missing"


@pytest.mark.parametrize("raw", [
    b"",
    b"GGUF",
    b"PK\x03\x04 a zip",
    b"GGUF" + struct.pack("<IQQ", 3, 0, 0),
    b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60),
    b"GGUF" + struct.pack("<IQQ", 1, 0, 1),
    b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**62) + b"key",
    b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 3) + b"key" + struct.pack("<I", 99),
])  # fmt: skip
def test_what_is_no_model_is_refused_in_words(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "notes.gguf"
    path.write_bytes(raw)
    with pytest.raises(MinionFailed, match="is no GGUF model") as caught:
        read_head(path)
    assert caught.value.why == "not_a_model"


@pytest.mark.minion
def test_a_model_that_was_cut_in_its_head_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "half.gguf"
    path.write_bytes(gguf().read_bytes()[:200])
    with pytest.raises(MinionFailed, match="damaged"):
        read_head(path)


@given(raw=st.binary(max_size=400))
def test_no_bytes_can_do_more_than_be_refused(
    raw: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 5) + raw)
    try:
        read_head(path)
    except MinionFailed as failure:
        assert failure.why == "not_a_model"
