"""index/words/language: which language a text is in, without a guess where it says too little."""

import tempfile
from pathlib import Path

import pytest

from vaultmind.index.words import language
from vaultmind.index.words.language import detect


def test_a_full_temporary_folder_stops_nothing_and_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = "Wczoraj kupiliśmy nowe meble kuchenne, a jutro przyjdzie stolarz."
    language._identifier.cache_clear()
    language._language.cache_clear()
    with monkeypatch.context() as full:
        full.setattr(tempfile, "tempdir", str(tmp_path / "full"))
        assert detect(text, "en") == "en"
        assert detect(text) == ""
    assert detect(text) == "pl"
