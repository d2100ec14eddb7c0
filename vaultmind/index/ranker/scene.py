"""What a query found, as columns: the features are pure functions of it.

Rows are chunks: first the candidates, which are ranked, then chunks beside them that only say
what they stand in. numpy is imported here, so whoever ranks imports this package when a search
comes, not before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vaultmind.index.ranker.asking import Question
from vaultmind.types import Kind

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

BESIDE = (-2, -1, 1, 2)
"""Places in the file, from a candidate's own, of the columns of `Around.beside`."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the embedder says; absent where there is none."""

    closeness: Floats
    """Each row's on the embedder's scale, where 0 is unrelated and 1 says the same (it can be less
    or more); 0 of a row without a vector."""
    known: Flags
    """Which rows have a vector."""
    feedback: Floats
    """Each candidate's closeness to what the best candidates mean together, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the candidates' own words say, a number from 0 to 1 each."""

    time: Floats
    number: Floats
    question: Floats
    """Whether it asks something itself."""
    first_person: Floats


@dataclass(frozen=True, slots=True)
class Around:
    """Where the candidates stand."""

    beside: Ints
    """Row of each candidate's neighbours in the file (see BESIDE), -1 for none."""
    place: Ints
    """Number of each row's file among those of the scene."""
    links_in: Ints
    """Files that link to each candidate's file."""
    links_out: Ints
    """Links in each candidate's file."""


@dataclass(frozen=True, slots=True)
class Matched:
    """Where the words of the query are."""

    weights: Floats
    """Of the telling words: how rare each is here; 0 for one that is everywhere."""
    names: Flags
    """Which of the telling words name somebody who speaks in the scene."""
    held: Floats
    """Share of each telling word that each row's text holds; rows x words."""
    titled: Floats
    """The same of each candidate's title, headings and tags; count x words."""
    bm25: Floats
    """Of each row for the whole query; 0 where nothing matches."""
    topic: Floats
    """Of each row for the query without the names of those who speak."""
    exact: Floats
    """Share of the query that an identifier is which each candidate has to the letter."""
    near: Floats
    """Share of the pairs of words that stand side by side in the query and in a candidate."""


@dataclass(frozen=True, slots=True)
class Written:
    """What is known of the candidates apart from their words."""

    letters: Ints
    """Length of the text."""
    kinds: dict[Kind, Flags]
    """Which candidates are of each kind."""
    foreign: Flags
    """Which are in another language than the query."""
    age: Floats
    """Among those with a time 1 for the latest, 0 for the first; .5 for none."""
    when: Floats
    """How near the time is to the one that the query names, 0 to 1; 0 if it names none."""
    dated: Flags
    """Which have a time of their own: messages, facts, daily notes."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A query, its candidates and what is around them: rows, of which the first `count` are
    candidates.
    """

    question: Question
    count: int
    rowids: Ints
    around: Around
    matched: Matched
    speaker: Floats
    """Of each row: 1 if the query names who said it, -1 if it names somebody else here, else 0."""
    asks: Flags
    """Which rows ask something."""
    said: Said
    written: Written
    meaning: Meaning | None
    trust: float = 1.0
    """How far words are believed: less where hardly one of the query's stands anywhere."""
