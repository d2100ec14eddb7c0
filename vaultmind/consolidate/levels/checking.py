"""The last look at a summary before it becomes a file, whoever wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vaultmind.consolidate.levels.grounding import astray, of_the_user
from vaultmind.consolidate.levels.wording import every_role, wording
from vaultmind.consolidate.levels.writer import Paragraph, Source, SummaryWriter, Told, unmark
from vaultmind.consolidate.types import Level
from vaultmind.plural import counted
from vaultmind.redact import mask
from vaultmind.session.summary.sentences import sentences
from vaultmind.tokens import count

BUILT_IN = "extractive"
"""What the built-in writer signs with: it says nothing that was not said word for word."""


def checked(told: Told, sources: Sequence[Source], max_tokens: int) -> Told:
    """Return a summary without sentences that its sources do not say, within its size.

    A paragraph that names no source of ours goes whole.
    """
    texts = {
        source.id: {piece.block: _said(source, piece.speaker, piece.role, piece.text)
                    for piece in source.pieces}
        for source in sources
    }  # fmt: skip
    of_user = {
        source.id: {
            piece.block: texts[source.id][piece.block]
            for piece in source.pieces
            if piece.role == "user"
        }
        for source in sources
    }
    kept: list[Paragraph] = []
    dropped = 0
    for one in told.paragraphs:
        marks = tuple(mark for mark in one.sources if _exists(mark, texts))
        if told.by == BUILT_IN:
            sound, lost = [one.text], 0
        else:
            said = [text for mark in marks for text in _named(mark, texts)]
            every = sentences(one.text)
            own = [text for mark in marks for text in _named(mark, of_user)]
            sound = [one for one in every if not astray(one, own if of_the_user(one) else said)]
            lost = len(every) - len(sound)
        dropped += lost
        before = [known.text for known in kept]
        while sound and count("\n\n".join([*before, " ".join(sound)])) > max_tokens:
            sound.pop()
        text = mask(" ".join(sound)).text
        if text and marks:
            kept.append(Paragraph(text, marks))
    notes = told.notes
    if dropped:
        notes = (*notes, f"{counted(dropped, 'sentence')} that the sources do not say left out")
    return Told(tuple(kept), told.by, told.again, notes, told.untried)


@dataclass(frozen=True, slots=True)
class Writers:
    """Who writes a summary, and who does where that one's does not hold."""

    first: SummaryWriter
    spare: SummaryWriter

    def written(
        self, level: Level, sources: Sequence[Source], language: str, max_tokens: int
    ) -> Told:
        """Return a summary that holds. Where nothing worth keeping was said, it says that."""
        told = checked(self.first.level(level, sources, language, max_tokens), sources, max_tokens)
        if not told.paragraphs and told.by != BUILT_IN:
            second = self.spare.level(level, sources, language, max_tokens)
            kept = checked(second, sources, max_tokens).paragraphs
            told = Told(kept, second.by, again=True, notes=told.notes)
        if told.paragraphs:
            return told
        nothing = Paragraph(wording(language).nothing, tuple(one.id for one in sources))
        return Told((nothing,), told.by, told.again, told.notes, told.untried)


def _said(source: Source, speaker: str, role: str, text: str) -> str:
    who = speaker or every_role(role)
    return f"{source.started[:10]} {who}: {text}"


def _exists(mark: str, texts: dict[str, dict[str, str]]) -> bool:
    source, block = unmark(mark)
    return source in texts and (not block or block in texts[source])


def _named(mark: str, texts: dict[str, dict[str, str]]) -> list[str]:
    source, block = unmark(mark)
    if not block:
        return list(texts[source].values())
    return [texts[source][block]] if block in texts[source] else []
