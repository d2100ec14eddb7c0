from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.machine import Machine

LONG = " ".join(f"word{number}" for number in range(60))
NOTES = {
    "Garden.md": f"# Garden\n\nThe plum tree by the gate is a Węgierka. {LONG}\n",
    "Projects/Oven.md": "---\ntags: [oven]\n---\n# Oven\n\nText.\n\n## Heat\n\nUp to 350 °C.\n",
    "Fête.md": '## Tents %%{"from":"Ola"}%%\n\nThe marquee is rented.\n' + LONG + LONG,
    "Дневник/Поездка.md": "# Поездка\n\nМы опоздали на поезд в Караганду.\n",
}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One vault and one daemon for all tests of a module; without an embedder."""
    folder = tmp_path_factory.mktemp("cli")
    machine = Machine(folder / "My vault", folder / "state")
    machine.furnish(NOTES)
    machine.begin()
    machine.run("init")
    yield machine
    machine.stop()
