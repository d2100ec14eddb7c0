"""A vault with an index, for tests of the read side."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.index.vault import Vault


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path)
    yield made
    made.close()
