"""What do you know about me: facts by section, counts, and where the files are."""

from __future__ import annotations

from tests.session.samples import Files
from vaultmind.session.show import Counts, Shown, show
from vaultmind.types import PERSON, Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

BRAIN = """## Użytkownik

- Mieszka w Krakowie %%2026-02-20 said%% ^a1b2

## Bieżące
- Piecze chleb

## Moje sprawy
- Coś mojego
"""
SESSION = "2026-02-20_010"


def shown_of(reader: VaultReader) -> Shown:
    return show(reader, "Main", PERSON, shows=lambda path, caller: True)


def test_facts_stand_by_section_and_everything_is_counted(
    files: Files, paths: VaultPaths, reader: VaultReader
) -> None:
    files.append(paths.brain("main"), BRAIN)
    files.append(paths.archive("main"), "- Dawny fakt\n- Drugi\n")
    said = [render_message(Message("user", "> [!user] a quote", "", block=f"m{n}")) for n in "12"]
    files.append(paths.session("main", SESSION), render_header(SessionMeta(SESSION, "main")))
    files.append(paths.session("main", SESSION), "".join(said))
    for name in ("L1/L1_001", "L1/L1_002", "L2/L2_001"):
        files.append(f"{paths.memory('main')}/summaries/{name}.md", "x")
    shown = shown_of(reader)
    assert shown.counts == Counts(facts=3, archived=2, sessions=1, l1=2, l2=1)
    headings = [(part.section, part.heading) for part in shown.sections]
    assert headings == [("user", "Użytkownik"), ("current", "Bieżące"), (None, "Moje sprawy")]
    assert shown.sections[0].facts[0].text == "Mieszka w Krakowie"
    assert shown.last_session and shown.last_session.messages == 2
    assert shown.files == (paths.brain("main"), paths.archive("main"), paths.sessions("main"))


def test_files_that_cannot_be_read_are_named(
    files: Files, paths: VaultPaths, reader: VaultReader
) -> None:
    files.append(paths.brain("main"), "<<<<<<< a\n=======\n>>>>>>> b\n")
    files.append(paths.session("main", SESSION), "x")
    (paths.root / paths.session("main", SESSION)).write_bytes(b"\xff\xff")
    brain, session = shown_of(reader).notes
    assert "merge markers" in brain and SESSION in session
