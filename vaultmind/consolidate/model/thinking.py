"""What a conversation leaves behind: by a model where there is one, by rules in any case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from vaultmind.consolidate.model.sound import Sound, left_out
from vaultmind.consolidate.model.thought import Job, think
from vaultmind.consolidate.model.transcript import language_of, transcript
from vaultmind.consolidate.model.understood import FactFinder, Understood
from vaultmind.consolidate.summarise import Paragraph, Summariser, Summary
from vaultmind.consolidate.talk import Understand, read_talk
from vaultmind.consolidate.types import Extraction
from vaultmind.memory.match import mentions
from vaultmind.minion.choice import Minion
from vaultmind.ports import Embedder
from vaultmind.session.sentences import sentences
from vaultmind.types import Fact, Message


class Thinker:
    """Understands conversations. Any thread; one conversation a call."""

    def __init__(
        self,
        minion: Minion,
        facts: FactFinder,
        writer: Summariser,
        *,
        plain: Summariser | None = None,
        understand: Understand | None = None,
        embedder: Callable[[], Embedder | None] = lambda: None,
    ) -> None:
        """Take the rules as `facts` and what hears a person's own phrases as `understand`.

        `writer` sums up where the model that finds facts is not the one for summaries, `plain`
        (the same, if not given) where a model failed.
        """
        self._minion = minion
        self._facts = facts
        self._writer = writer
        self._plain = plain or writer
        self._understand = understand
        self._embedder = embedder

    def extract(
        self,
        messages: Sequence[Message],
        brain: Sequence[Fact],
        *,
        language: str,
        max_facts: int,
    ) -> Understood:
        """Return the facts and the summary of a conversation's messages that may be recalled.

        `brain` is what is known already, archived or not. `language` is that of the memory: it
        counts where the conversation's own cannot be told. What the person asked for in words
        is among the facts whoever found them.
        """
        by_rules = self._facts(messages, brain, max_facts=max_facts)
        if not self._minion.chain("extraction"):
            return _understood(by_rules, self._writer.session(messages, language))
        embedder = self._embedder()
        talk = read_talk(messages, self._understand, embedder)
        lines = transcript(messages, talk)
        if not any(line.role == "user" for line in lines):
            return _understood(by_rules, self._plain.session(messages, language))
        spoken = language_of((line.text for line in lines), language)
        job = Job(talk, lines, brain, by_rules, spoken, max_facts, embedder)
        done = self._minion.run("extraction", lambda generator: think(generator, job))
        if done.value is None:
            found = Extraction(by_rules.facts, (*by_rules.dropped, *job.made_up))
            plain = _understood(found, self._plain.session(messages, language))
            notes = (*done.failures, *plain.notes)
            return replace(
                plain, again=done.again, capped=done.capped, resting=done.resting, notes=notes
            )
        thought = done.value
        dropped = (*thought.extraction.dropped, *job.made_up)
        told = self._told(messages, language, thought.summary, done.by)
        understood = _understood(Extraction(thought.extraction.facts, dropped), told)
        notes = (*done.failures, *thought.notes, *told.notes)
        return replace(understood, by=done.by, notes=notes)

    def _told(self, messages: Sequence[Message], language: str, said: Sound, by: str) -> Summary:
        """Return the summary: the model's own, where it is sound and meant to write summaries."""
        if self._minion.chain("summary") != self._minion.chain("extraction"):
            return self._writer.session(messages, language)
        notes = left_out(said.dropped)
        if said.enough(len(messages)):
            return Summary((Paragraph(" ".join(said.kept), ()),), by, notes=notes)
        plain = self._plain.session(messages, language)
        return replace(plain, notes=(*notes, *plain.notes))


def _understood(found: Extraction, told: Summary) -> Understood:
    """Return facts and summary; the summary says nothing that was taken back."""
    gone = [one.text for one in found.dropped if one.reason == "taken back" and one.text]
    kept = (one for one in _sentences(told) if not any(mentions(one, text) for text in gone))
    return Understood(found, " ".join(kept), notes=told.notes)


def _sentences(told: Summary) -> Iterator[str]:
    return (one for paragraph in told.paragraphs for one in sentences(paragraph.text))
