"""Language models at work on conversations: facts and summaries, each held against what was said.

A model is shown numbered lines and names the numbers that say what it writes. What its lines do
not bear out is left out and counted; where too little is left, the built-in engine does it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from vaultmind import tokens
from vaultmind.consolidate.ask import (
    HIDDEN,
    INTEGER,
    MOST_SENTENCES,
    NOTHING,
    PARAGRAPHS,
    UNSAID_CONTEXT,
    Line,
    Note,
    Sound,
    ask_all,
    believed,
    list_of,
    notes_of,
    object_of,
    sound,
    spoken_in,
    summed_up,
    text_of,
    transcript,
)
from vaultmind.consolidate.extract import WEIGHT, Readings, extract, once, settle
from vaultmind.consolidate.ground import share_of, supported
from vaultmind.consolidate.summarise import (
    ExtractiveSummariser,
    Paragraph,
    Source,
    Summariser,
    Summary,
)
from vaultmind.consolidate.talk import (
    Talk,
    Understand,
    key_of,
    read_talk,
    statement,
)
from vaultmind.consolidate.types import (
    CATEGORIES,
    SECTION_OF,
    Candidate,
    Category,
    Dropped,
    Extraction,
    Level,
    Reason,
    Understood,
)
from vaultmind.errors import MinionFailed
from vaultmind.minion.choice import Minion
from vaultmind.ports import Generator
from vaultmind.session.sentences import sentences
from vaultmind.types import Fact, Message
from vaultmind.vault.oneline import one_line

KNOWN_TOKENS, KNOWN_SHARE = 600, 8
"""Of the facts that are known, as a model is shown them, and their part of a window."""
SENSE = 0.3
"""Share of a model's statements that must have been said for any to be believed."""
FACT_CHARACTERS = 200
MOST_MARKS = 6
"""Sources that a paragraph names: those that say most of it."""
WORDS_A_TOKEN = 0.6
"""A limit in tokens, said in words, as models count them; on the safe side."""
PASSING = 0.9
"""Where the built-in reader is so sure that nothing will matter, a model's word does not count."""
_MADE_UP: frozenset[Reason] = frozenset(
    (
        "no evidence",
        "not the user's words",
        "words not in evidence",
        "number not in evidence",
        "name not in evidence",
        "date not in evidence",
        "polarity",
    )
)
_ABOUT = re.compile(
    r"\s{0,20}(?:(?:the )?user|użytkowni(?:k|czka)|пользовател(?:ь|ьница))\b[,:]?(?!['’])\s+",
    re.IGNORECASE,
)
"""Whom every fact is about need not be said in each."""


# --- facts ---------------------------------------------------------------------------------


@dataclass(slots=True)
class _Job:
    """A conversation that models are asked about, one after the other."""

    talk: Talk
    lines: tuple[Line, ...]
    messages: Sequence[Message]
    brain: Sequence[Fact]
    built_in: Extraction
    language: str
    max_facts: int
    made_up: list[Dropped] = field(default_factory=list)
    """What models said that nobody had: counted, whoever's answer is taken in the end."""


class Thinker:
    """Understands conversations, by a model where there is one. Any thread."""

    def __init__(
        self,
        minion: Minion,
        writer: ModelWriter,
        understand: Understand | None = None,
    ) -> None:
        """Take what hears a person's own phrases as `understand`."""
        self._minion = minion
        self._writer = writer
        self._understand = understand

    def extract(
        self,
        messages: Sequence[Message],
        brain: Sequence[Fact],
        *,
        language: str,
        max_facts: int,
    ) -> Understood:
        """Return the facts and the summary of a conversation's messages that may be recalled.

        `brain` is what is known already, archived or not. What the person asked for in words is
        among the facts whoever found them.
        """
        built_in = extract(messages, brain, max_facts=max_facts, understand=self._understand)
        if not self._minion.chain("extraction"):
            return _understood(built_in, self._writer.session(messages, language))
        plain = self._writer.plain
        talk = read_talk(messages, self._understand)
        lines = transcript(messages, talk)
        if not any(line.role == "user" for line in lines):
            return _understood(built_in, plain.session(messages, language))
        spoken = spoken_in(lines, language)
        job = _Job(talk, lines, messages, brain, built_in, spoken, max_facts)
        done = self._minion.run("extraction", lambda generator: _think(generator, job))
        if done.value is None:
            found = replace(built_in, dropped=(*built_in.dropped, *job.made_up))
            left = _understood(found, plain.session(messages, language))
            notes = (*done.failures, *left.notes)
            return replace(
                left, again=done.again, capped=done.capped, resting=done.resting, notes=notes
            )
        facts, said = done.value
        told = Summary((Paragraph(" ".join(said.kept), ()),), done.by, said.note())
        if self._minion.chain("summary") != self._minion.chain("extraction"):
            told = self._writer.session(messages, language)
        elif not said.enough(len(lines)):
            told = replace(plain.session(messages, language), notes=said.note())
        facts = replace(facts, dropped=(*facts.dropped, *job.made_up))
        understood = _understood(facts, told)
        return replace(understood, by=done.by, notes=(*done.failures, *told.notes))


def _understood(found: Extraction, told: Summary) -> Understood:
    return Understood(found, " ".join(part.text for part in told.paragraphs), notes=told.notes)


def _think(generator: Generator, job: _Job) -> tuple[Extraction, Sound]:
    """Return what holds of a model's facts and of its summary; raises MinionFailed."""
    window = generator.context_tokens or UNSAID_CONTEXT
    known = shown_facts(job.brain, job.lines, min(KNOWN_TOKENS, window // KNOWN_SHARE))
    fact = object_of(
        category={"enum": list(CATEGORIES)},
        fact=text_of(FACT_CHARACTERS),
        evidence=list_of(INTEGER, 4, 1),
        replaces=INTEGER,
    )
    schema = {
        "facts": list_of(fact, max(1, job.max_facts)),
        "summary": list_of(text_of(300), MOST_SENTENCES),
    }
    shown = "\n".join(f"{at}. {one.text}" for at, one in enumerate(known, 1))
    nothing = NOTHING.get(job.language, NOTHING["en"])
    fixed = {"brain": shown or nothing, "facts": str(job.max_facts)}
    answers = ask_all(generator, "extraction", job.lines, schema, job.language, fixed)
    said = list(dict.fromkeys(one for answer in answers for one in answer["summary"]))
    if len(answers) > 1 and len(said) > MOST_SENTENCES:
        again = [Line(at, "", "", one) for at, one in enumerate(said, 1)]
        said = [one.text for one in summed_up(generator, again, job.language)]
    summary = sound(said, [line.text for line in job.lines])
    judged = [_judged(one, known, job) for answer in answers for one in answer["facts"]]
    wrong = [one for one in judged if isinstance(one, Dropped)]
    made_up = [one for one in wrong if one.reason in _MADE_UP]
    offered = len(judged) + len(summary.kept) + len(summary.dropped)
    good = offered - len(made_up) - len(summary.dropped)
    if good < SENSE * offered or (not offered and job.built_in.facts):
        job.made_up += made_up
        told = f"{good} of {offered} of its statements were said" if offered else "it found nothing"
        raise MinionFailed("nonsense", f"The model {generator.id} did not understand: {told}.")
    asked = [one for one in job.built_in.facts if one.asked]
    found, twins = once([*asked, *(one for one in judged if isinstance(one, Candidate))])
    settled = settle(found, job.talk, job.brain, job.max_facts)
    dropped = (*wrong, *twins, *settled.dropped)
    named = {one.text for one in dropped}
    rest = (one for one in job.built_in.dropped if one.text not in named)
    return Extraction(settled.facts, (*dropped, *rest)), summary


def _judged(one: Mapping[str, Any], known: Sequence[Fact], job: _Job) -> Candidate | Dropped:
    """Return a model's fact as it may be kept, or why it may not."""
    text = statement(_ABOUT.sub("", str(one["fact"])))
    keys = {line.number: line.key for line in job.lines}
    evidence = tuple(dict.fromkeys(keys[n] for n in one["evidence"] if n in keys))
    category: Category = one["category"]
    said = [each for each in job.talk.said if each.key in evidence and each.fault not in HIDDEN]
    mine = [each for each in said if each.role == "user"]
    if not mine or not text:
        reason: Reason = "not the user's words" if said and text else "no evidence"
        return Dropped(text, reason, evidence, category)
    nearest = max(mine, key=lambda each: share_of(text, each.text))
    if nearest.fault:
        return Dropped(text, nearest.fault, evidence, category)
    heard = [replace(each, text=each.text) for each in job.messages if key_of(each) in evidence]
    if fault := supported(text, heard):
        return Dropped(text, fault.reason, evidence, category, fault.detail)
    read = Readings.of([nearest.text, text])
    told = [read.sort(nearest.text), read.sort(text)]
    asked = nearest.intent.intent in ("remember", "correct")
    if category in ("SKIP", "DELETE") or (
        not asked and min(each["SKIP"] for each in told) >= PASSING
    ):
        return Dropped(text, "passing", evidence, category)
    old = known[one["replaces"] - 1] if 0 < one["replaces"] <= len(known) else None
    if category == "UPDATE":
        category = max(WEIGHT, key=lambda name: told[1][name])
    found = Candidate(category, text, evidence, WEIGHT[category], SECTION_OF[category], asked=asked)
    if old is None or one["category"] != "UPDATE":
        return found
    why = f"a model takes it for the successor of: {old.text}"
    return replace(found, category="UPDATE", replaces=old.text, block=old.block, doubt=why)


def shown_facts(brain: Sequence[Fact], lines: Sequence[Line], max_tokens: int) -> list[Fact]:
    """Return the known facts that a model is shown: those that are spoken of go first."""
    said = " ".join(line.text for line in lines)
    order = sorted(range(len(brain)), key=lambda at: -share_of(brain[at].text, said))
    taken: list[int] = []
    for at in order:
        max_tokens -= tokens.count(brain[at].text)
        if max_tokens < 0:
            break
        taken.append(at)
    return [brain[at] for at in sorted(taken)]


# --- summaries -----------------------------------------------------------------------------


class ModelWriter:
    """Implements `Summariser` with the models for summaries. Any thread."""

    def __init__(
        self,
        minion: Minion,
        understand: Understand | None = None,
    ) -> None:
        self._minion = minion
        self.plain: Summariser = ExtractiveSummariser(understand)
        """The built-in writer: it writes where no model can."""
        self._understand = understand

    def session(self, messages: Sequence[Message], language: str) -> Summary:
        """Return a conversation in three to five sentences; sources are keys of messages."""
        lines = self._lines(messages) if self._minion.chain("summary") else ()
        if not any(line.role == "user" for line in lines):
            return self.plain.session(messages, language)

        def write(generator: Generator) -> Summary:
            said = summed_up(generator, lines, spoken_in(lines, language))
            found = sound((one.text for one in said), [line.text for line in lines])
            believed(generator, found, len(lines))
            keys = dict.fromkeys(key for one in said for key in one.keys)
            sources = tuple(keys) or tuple(line.key for line in lines)
            return Summary((Paragraph(" ".join(found.kept), sources),), notes=found.note())

        return self._told(write, lambda: self.plain.session(messages, language))

    def level(
        self, level: Level, sources: Sequence[Source], language: str, max_tokens: int
    ) -> Summary:
        """Return 3-5 paragraphs (L1) or 2-3 (L2) of at most `max_tokens` in all, links apart."""
        said = [(one, self._of(level, one)) for one in sources] if self._is_there() else []
        lines = [line for _, own in said for line in own]
        if not lines:
            return self.plain.level(level, sources, language, max_tokens)
        spoken = spoken_in(lines, language)

        def write(generator: Generator) -> Summary:
            return _level(generator, level, said, spoken, max_tokens)

        return self._told(write, lambda: self.plain.level(level, sources, language, max_tokens))

    def _told(
        self, write: Callable[[Generator], Summary], otherwise: Callable[[], Summary]
    ) -> Summary:
        done = self._minion.run("summary", write)
        found = otherwise() if done.value is None else replace(done.value, by=done.by)
        return replace(found, notes=(*done.failures, *found.notes))

    def _is_there(self) -> bool:
        return bool(self._minion.chain("summary"))

    def _lines(self, messages: Sequence[Message]) -> tuple[Line, ...]:
        return transcript(messages, read_talk(messages, self._understand))

    def _of(self, level: Level, source: Source) -> tuple[Line, ...]:
        """Return what a model may be shown of a source; its keys are the marks of the pieces."""
        if level == "L1":
            return self._lines(source.messages())
        return tuple(
            Line(at, source.mark(one), "", one_line(one.text))
            for at, one in enumerate(source.pieces, 1)
        )


def _level(
    generator: Generator,
    level: Level,
    said: Sequence[tuple[Source, tuple[Line, ...]]],
    language: str,
    max_tokens: int,
) -> Summary:
    """Return a model's summary of several sources; raises MinionFailed, nonsense too."""
    notes: list[tuple[str, Note]] = []
    for source, lines in said:
        if level == "L2":
            fresh = [Note(line.text, (line.key,)) for line in lines]
        else:
            every = tuple(line.key for line in lines)
            found = summed_up(generator, lines, language) if lines else []
            texts = [line.text for line in lines]
            fresh = [
                replace(one, keys=one.keys or every)
                for one in found
                if sound([one.text], texts).kept
            ]
        notes += [(source.started[:10], one) for one in fresh]
    believed(generator, Sound(tuple(one.text for _, one in notes)))
    numbered = [
        Line(at, str(at - 1), "", f"({date}) {one.text}" if date else one.text)
        for at, (date, one) in enumerate(notes, 1)
    ]
    fewest, most = PARAGRAPHS[level]
    wanted = {
        "words": str(round(max_tokens * WORDS_A_TOKEN)),
        "paragraphs": f"{fewest}-{most}",
    }
    originals: dict[str, str] = {}
    for line in (line for _, lines in said for line in lines):
        originals[line.key] = f"{originals.get(line.key, '')} {line.text}".strip()
    dated = " ".join(source.started[:10] for source, _ in said)
    kept: list[Paragraph] = []
    dropped: list[str] = []
    for told in notes_of(generator, "level", numbered, language, **wanted):
        meant = [notes[int(at)][1] for at in told.keys] or [one for _, one in notes]
        keys = list(dict.fromkeys(key for one in meant for key in one.keys))
        texts = [*map(originals.__getitem__, keys), *(one.text for one in meant)]
        found_ = sound([told.text], texts, dated)
        dropped += found_.dropped
        if found_.kept:
            text = " ".join(found_.kept)
            best = sorted(keys, key=lambda key, t=text: -share_of(t, originals[key]))[:MOST_MARKS]  # type: ignore[misc]
            kept.append(Paragraph(text, tuple(key for key in keys if key in best)))
    if len(kept) < min(fewest, len(notes)):
        believed(generator, Sound((), (*dropped, "so little")))
    return Summary(_within(kept[:most], max_tokens), notes=Sound((), tuple(dropped)).note())


def _within(paragraphs: Sequence[Paragraph], max_tokens: int) -> tuple[Paragraph, ...]:
    """Return paragraphs of so many tokens in all: the longest lose their last sentences."""
    told = [(sentences(one.text), one) for one in paragraphs]
    while told and tokens.count("\n\n".join(" ".join(text) for text, _ in told)) > max_tokens:
        longest = max(told, key=lambda one: (len(one[0]), sum(map(len, one[0]))))
        longest[0].pop()
        told = [one for one in told if one[0]]
    return tuple(replace(one, text=" ".join(text)) for text, one in told)
