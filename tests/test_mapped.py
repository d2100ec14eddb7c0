"""Tables of packages: unpacked once, then mapped, whatever becomes of the files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vaultmind.config.mapped import let_go, mapped


def made() -> dict[str, object]:
    return {"rows": np.arange(6, dtype=np.uint8).reshape(2, 3), "words": {"ab": 1}}


def test_what_was_unpacked_is_read_from_the_cache_until_it_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "vaultmind").write_text("a file in the folder's place")
    assert mapped("tables", "1", made)["words"] == {"ab": 1}
    (tmp_path / "vaultmind").unlink()
    for version in ("1", "2"):
        mapped("tables", version, made)
    (old,) = (tmp_path / "vaultmind").iterdir()
    found = mapped("tables", "2", lambda: None)
    let_go()
    assert found["rows"].tolist() == [[0, 1, 2], [3, 4, 5]] and not found["rows"].flags.writeable
    (old / "rest").write_bytes(b"garbage")
    assert mapped("tables", "2", made)["words"] == {"ab": 1}
    assert mapped("tables", "2", lambda: None)["words"] == {"ab": 1}
