"""What do you know about me: facts by section, counts, and where the files are."""

from __future__ import annotations

from tests.session.samples import Files
from vaultmind.session.show import Counts, show
from vaultmind.types import PERSON, Caller, Message
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


def _everything(path: str, caller: Caller) -> bool:
    return True


def _session(files: Files, paths: VaultPaths, session: str, messages: int) -> None:
    meta = SessionMeta(session, "main", started=f"{session[:10]}T10:00:00+01:00", state="ended")
    quoted = "> [!user] 10:00 %%{}%% a quote of a session"
    text = render_header(meta) + "".join(
        render_message(Message("user", quoted, meta.started, block=f"m{n + 1}"))
        for n in range(messages)
    )
    files.append(paths.session("main", session), text)


def test_facts_stand_by_section_and_everything_is_counted(
    files: Files, paths: VaultPaths, reader: VaultReader
) -> None:
    files.append(paths.brain("main"), BRAIN)
    files.append(paths.archive("main"), "- Dawny fakt\n- Drugi\n")
    _session(files, paths, "2026-02-20_001", 3)
    _session(files, paths, "2026-02-20_010", 2)
    for name in ("L1/L1_001", "L1/L1_002", "L2/L2_001"):
        files.append(f"{paths.memory('main')}/summaries/{name}.md", "x")
    shown = show(reader, "Main", PERSON, shows=_everything)
    assert shown.counts == Counts(facts=3, archived=2, sessions=2, l1=2, l2=1)
    assert [(part.section, part.heading) for part in shown.sections] == [
        ("user", "Użytkownik"),
        ("current", "Bieżące"),
        (None, "Moje sprawy"),
    ]
    assert shown.sections[0].facts[0].text == "Mieszka w Krakowie"
    assert shown.last_session is not None
    assert (shown.last_session.id, shown.last_session.messages) == ("2026-02-20_010", 2)
    assert shown.files == (paths.brain("main"), paths.archive("main"), paths.sessions("main"))


def test_files_that_cannot_be_read_are_named(
    files: Files, paths: VaultPaths, reader: VaultReader
) -> None:
    files.append(paths.brain("main"), "<<<<<<< a\n=======\n>>>>>>> b\n")
    _session(files, paths, "2026-02-20_001", 1)
    (paths.root / paths.session("main", "2026-02-20_001")).write_bytes(b"\xff\xff")
    shown = show(reader, "main", PERSON, shows=_everything)
    assert "merge markers" in shown.notes[0]
    assert "2026-02-20_001" in shown.notes[1]
