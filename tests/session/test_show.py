"""What do you know about me: facts by section, and where the files are."""

from __future__ import annotations

from tests.session.samples import Files
from vaultmind.session.show import show
from vaultmind.types import PERSON
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

BRAIN = """## Użytkownik

- Mieszka w Krakowie %%2026-02-20 said%% ^a1b2

## Bieżące
- Piecze chleb

## Moje sprawy
- Coś mojego
"""


def test_facts_stand_by_section_and_the_files_that_are_there_are_named(
    files: Files, paths: VaultPaths, reader: VaultReader
) -> None:
    files.append(paths.brain("main"), BRAIN)
    files.append(paths.archive("main"), "- Dawny fakt\n- Drugi\n")
    shown = show(reader, "Main", PERSON, shows=lambda path, caller: True)
    headings = [(part.section, part.heading) for part in shown.sections]
    assert headings == [("user", "Użytkownik"), ("current", "Bieżące"), (None, "Moje sprawy")]
    assert shown.sections[0].facts[0].text == "Mieszka w Krakowie"
    assert shown.files == (paths.brain("main"), paths.archive("main"))
