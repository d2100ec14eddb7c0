"""The scale of an embedder that nobody has measured: from a few questions and their answers.

Cosines mean different things with each model: 0.7 is near for one and chance for another. So an
unknown embedder is given questions of which it is known which text answers them, and which do not.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from vaultmind.index.embedders.scale import Scale, use_scale

if TYPE_CHECKING:
    from vaultmind.index.db import Database
    from vaultmind.ports import Embedder

VERSION = 1
"""Of the texts below and of what is made of them."""
ANSWERED: tuple[tuple[str, str], ...] = (
    ("When does the ferry leave?", "The ferry to the island leaves at seven in the morning."),
    ("how do I feed the sourdough starter", "Sourdough: feed it with 50 g of rye flour a day."),
    (
        "Who repairs the heating?",
        "The boiler: Mr Hall looks after it, phone in the blue folder.",
    ),
    ("what did we decide about the database", "Decision: we stay with SQLite for the index."),
    ("Kiedy mam wizytę u dentysty?", "Dentysta: wizyta w czwartek o 16:30, zabrać zdjęcia."),
    ("jak podlewać monsterę", "Monsterę podlewam raz w tygodniu, gdy ziemia jest sucha."),
    ("Co lubi jeść babcia?", "Babcia najbardziej lubi żurek z jajkiem i chleb na zakwasie."),
    ("Где лежат документы на машину?", "Документы на машину лежат в верхнем ящике стола."),
    ("сколько стоит абонемент в бассейн", "Абонемент в бассейн: 3200 в месяц, вторник и четверг."),
    ("Как зовут учительницу сына?", "Учительницу Тимура зовут Ольга Сергеевна, английский язык."),
)
"""Questions, and the texts that answer them; no text has to do with another's question."""
HALF = 0.5
"""On the safe side: a hit must be a good one to be brought up unasked."""
STRANGE_BELOW = 0.95
"""Share of strange texts whose cosine is below the scale's beginning; ..."""
ANSWERS_BELOW = 0.9
"""... and of answers whose cosine is below its end. By these the bundled embedders get nearly the
scales that were found for them with `benchmarks/relevance.py`."""
LEAST_WIDTH = 0.05
"""Cosines of a scale: a model that tells answers and strange texts apart by less cannot do it, and
its word counts for little."""
_PREFIXES = ("gguf-", "server-")
"""Ids of embedders that nobody has measured begin so."""


@runtime_checkable
class Recognising(Protocol):
    """An embedder that may be another one by now, under the same name."""

    family: str

    def recognise(self, kept: str) -> str:
        """Take an id by what was kept of it, and return what is to be kept."""
        ...


def recognise(database: Database, embedder: Embedder) -> None:
    """Have an embedder that may have changed tell whether it did; what it raises is raised."""
    if isinstance(embedder, Recognising):
        name = f"model {embedder.family}"
        database.set(name, embedder.recognise(database.get(name)))


def learn_scale(database: Database, embedder: Embedder) -> None:
    """See to it that what a cosine of an embedder means is known: measured once, then kept."""
    if not embedder.id.startswith(_PREFIXES):
        return
    name = f"scale {embedder.id}"
    scale = _read(database.get(name))
    if scale is None:
        scale = calibrated(embedder)
        database.set(name, _written(scale))
    use_scale(embedder.id, scale)


def calibrated(embedder: Embedder) -> Scale:
    """Return the scale of an embedder, measured with a few texts; what it raises is raised."""
    import numpy as np

    texts = embedder.embed([text for _, text in ANSWERED])
    asked = np.stack([embedder.embed_query(question) for question, _ in ANSWERED])
    cosines = asked @ texts.T
    strange = cosines[~np.eye(len(ANSWERED), dtype=bool)]
    nothing = float(np.quantile(strange, STRANGE_BELOW))
    same = float(np.quantile(cosines.diagonal(), ANSWERS_BELOW))
    return Scale(round(nothing, 4), round(max(same, nothing + LEAST_WIDTH), 4), HALF)


def _written(scale: Scale) -> str:
    """Return a scale as the index keeps it, so that an embedder is measured once."""
    return json.dumps([VERSION, scale.nothing, scale.same, scale.half])


def _read(text: str) -> Scale | None:
    """Return a scale that was kept; None where there is none, or one of other texts than ours."""
    try:
        version, nothing, same, half = json.loads(text)
        return Scale(float(nothing), float(same), float(half)) if version == VERSION else None
    except (ValueError, TypeError):
        return None
