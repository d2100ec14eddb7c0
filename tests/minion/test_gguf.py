"""What a model file is, told without loading it."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from vaultmind.errors import MinionFailed
from vaultmind.minion.gguf import read_head


def test_a_missing_file_is_named_and_a_folder_is_no_model(tmp_path: Path) -> None:
    gone = tmp_path / "gone.gguf"
    for path, words in ((gone, r"no model file .*gone\.gguf"), (tmp_path, "cannot be read")):
        with pytest.raises(MinionFailed, match=words) as caught:
            read_head(path)
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
