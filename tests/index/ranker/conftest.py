"""A vault with a talk and some notes, and what both searches find in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes import HashEmbedder
from tests.index.vault import Mind, Vault
from vaultmind.index.rank import gather
from vaultmind.index.rank import Found
from vaultmind.index.rank import Scene
from vaultmind.index.asking import Named
from vaultmind.index.where import Where
from vaultmind.types import Message
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

SESSION = "2026-02-08_001"
TALK = (
    ("Ola", "Hey Jan! Good to see you, how have you been?"),
    ("Jan", "Busy. I finally started with pottery, there is a studio near the station."),
    ("Ola", "Wow, how long have you been doing that?"),
    ("Jan", "Since last winter. I go there every Tuesday evening with my sister."),
    ("Ola", "I adopted a puppy last week, he is called Figa."),
    ("Jan", "Does he like the garden?"),
    ("Ola", "He digs holes everywhere, my tulips are gone."),
)
Look = Callable[..., Scene | None]


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path)
    talk = render_header(SessionMeta(SESSION, "main", "2026-02-08T10:00:00+00:00"))
    for number, (speaker, text) in enumerate(TALK, 1):
        time = f"2026-02-08T10:{number:02}:00+00:00"
        block = f"m{number}"
        talk += render_message(Message("user", text, time, "", speaker, block=block))
    made.put(f"VaultMind/agents/main/memory/sessions/{SESSION}.md", talk)
    made.put("Projects/Kiln.md", "# Kiln\n\nPottery needs a kiln. See [[Clay]].\n\nA used one.\n")
    made.put("Clay.md", "# Clay\n\nStoneware clay for pottery is fired at 1240 degrees.\n")
    made.put("Ogród.md", "# Ogród\n\nTulipany sadzimy w październiku, róże wiosną.\n")
    yield made
    made.close()


@pytest.fixture
def look(vault: Vault) -> Look:
    """Return what gathers the scene of a query, with vectors or without."""

    def looked(
        query: str,
        *,
        meaning: bool = True,
        where: Where | None = None,
        named: Named | None = None,
    ) -> Scene | None:
        asked = where or Where()
        answer = vault.text.answer(query, asked, 50)
        text = {hit.rowid: hit.score for hit in answer.hits}
        vector, near, embedder = None, {}, ""
        if meaning:
            mind = Mind(vault)
            vector, embedder = mind.query_vector(query), HashEmbedder().id
            with vault.database.read() as connection:
                ids = dict(connection.execute("SELECT id, rowid FROM chunks").fetchall())
            cosines = {ids[name]: float(row @ vector) for name, row in mind.vectors([*ids]).items()}
            near = dict(sorted(cosines.items(), key=lambda one: -one[1])[:3])
        found = Found(
            query, answer.wanted, text, near, vector, embedder, asked, named, scores=answer.scores
        )
        return gather(vault.database, found)

    return looked
