"""What a summary is written from, as far as it may be recalled at this moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vaultmind.consolidate.levels.file import LevelFile, Placed, paragraphs_of
from vaultmind.consolidate.levels.grounding import wholly_said
from vaultmind.consolidate.levels.waiting import Summary
from vaultmind.consolidate.levels.wording import every_role
from vaultmind.consolidate.levels.writer import Piece, Source
from vaultmind.errors import NotFound, VaultMindError
from vaultmind.index.words.language import detect
from vaultmind.ports import Embedder
from vaultmind.redact import blank_private, mask
from vaultmind.session.lifecycle.recallable import recallable
from vaultmind.session.records.reading import Hides
from vaultmind.session.summary.sentences import sentences
from vaultmind.vault.files import FileStat, VaultReader
from vaultmind.vault.paths import SESSION_ID
from vaultmind.vault.session_meta import parse_meta

SAMPLE = 60
"""Pieces by which the language of a summary is told."""


@dataclass(frozen=True, slots=True)
class Given:
    """A source, where it stands, and what tells that it has changed since it was read."""

    source: Source
    path: str
    stat: FileStat | None
    days: tuple[str, ...] = ()
    """ISO dates that it speaks of."""


class Sources:
    """Reads what an agent's summaries are written from."""

    def __init__(
        self,
        reader: VaultReader,
        hides: Hides,
        embedder: Callable[[], Embedder | None] = lambda: None,
    ) -> None:
        self._reader = reader
        self._hides = hides
        self._embedder = embedder

    def session(self, agent: str, id: str) -> Given:
        """Return a session's messages of people. Raises NotFound, UnreadableNote, PathRefused."""
        path = self._reader.paths.session(agent, id)
        file = self._reader.read(path)
        told = recallable(agent, path, file.text, self._hides, self._embedder())
        pieces = tuple(
            Piece(one.block, text, one.speaker, one.role)
            for one, _ in told
            if one.role in ("user", "assistant") and (text := mask(one.text).text.strip())
        )
        started = parse_meta(file.text).started or id[:10]
        return Given(Source(id, started, pieces), path, file.stat, (id[:10],))

    def summary(self, agent: str, one: Summary) -> Given:
        """Return the paragraphs of an L1 that may be recalled.

        A sentence whose message may not be recalled any more is left out, whatever became of the
        paragraph: it must be said wholly by the messages that are left.
        """
        file = self._reader.read(one.path)
        record = one.path.removesuffix(".md")
        talks: dict[str, dict[str, str] | None] = {}
        pieces = []
        for placed in paragraphs_of(blank_private(file.text)):
            hidden = placed.block and self._hides(agent, record, placed.block)
            said = "" if hidden else self._left(agent, placed, talks)
            if said:
                pieces.append(Piece(placed.block, mask(said).text))
        days = _days(one.file)
        started = days[0] if days else ""
        return Given(Source(one.stem, started, tuple(pieces)), one.path, file.stat, days)

    def still(self, agent: str, given: Sequence[Given], used: Sequence[tuple[str, str]]) -> bool:
        """Tell whether sources stand as they were read, and nothing `used` was hidden since."""
        if any(self._reader.stat(one.path) != one.stat for one in given):
            return False
        records = {one.source.id: _record(one) for one in given}
        return not any(
            self._hides(agent, records[id], block) for id, block in used if id in records
        )

    def _left(self, agent: str, placed: Placed, talks: dict[str, dict[str, str] | None]) -> str:
        """Return what may be recalled of a paragraph; all of it where its sources are all there."""
        texts: list[str] = []
        gone = False
        for path, block in placed.links:
            id = path.rpartition("/")[2]
            if not block or not SESSION_ID.fullmatch(id):
                continue
            if id not in talks:
                talks[id] = self._messages(agent, id)
            known = talks[id]
            if known is None:
                # The whole session is gone, or has another name: the summary is what is left of
                # it, but for what was hidden of it while it stood there.
                gone = gone or self._hides(agent, id, block)
                continue
            gone = gone or block not in known
            texts.append(known.get(block, ""))
        if not gone:
            return placed.text
        return " ".join(one for one in sentences(placed.text) if wholly_said(one, texts))

    def _messages(self, agent: str, id: str) -> dict[str, str] | None:
        """Return the texts of a session by block, each with who says it and when."""
        try:
            path = self._reader.paths.session(agent, id)
            text = self._reader.read(path).text
        except NotFound:
            return None
        except VaultMindError:
            return {}
        told = recallable(agent, path, text, self._hides, self._embedder())
        return {
            one.block: f"{id[:10]} {one.speaker or every_role(one.role)}: {one.text}"
            for one, _ in told
        }


def language_of(given: Sequence[Given]) -> str:
    """Return the language that sources are in; English where they do not say."""
    pieces = [piece for one in given for piece in one.source.pieces]
    own = [piece for piece in pieces if piece.role == "user"] or pieces
    step = max(1, len(own) // SAMPLE)
    return detect(" \n".join(piece.text for piece in own[::step])) or "en"


def _record(given: Given) -> str:
    """Return what tombstones call a source: a session by its id, a summary by its path."""
    id = given.source.id
    return id if SESSION_ID.fullmatch(id) else given.path.removesuffix(".md")


def _days(file: LevelFile) -> tuple[str, ...]:
    return tuple(sorted({one[:10] for one in file.sources if SESSION_ID.fullmatch(one)}))
