"""Language models at work on conversations: facts and summaries, each held against what was said.

A model is shown numbered lines and names the numbers that say what it writes. What its lines do
not bear out is left out and counted; where too little is left, the built-in engine does it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

from vaultmind import tokens
from vaultmind.consolidate import levels as built_in
from vaultmind.consolidate.extract import (
    GAP,
    NOT_SAID,
    WEIGHT,
    Utterance,
    extract,
    merge,
    read_talk,
    statement,
)
from vaultmind.consolidate.ground import share_of, supported
from vaultmind.consolidate.levels import Paragraph, Source, Summary
from vaultmind.consolidate.types import (
    SECTION_OF,
    Candidate,
    Category,
    Dropped,
    Extraction,
    Level,
    Reason,
)
from vaultmind.errors import MinionFailed
from vaultmind.index.words import detect
from vaultmind.language.network import network
from vaultmind.language.text import plain_sentences
from vaultmind.memory.match import same_fact
from vaultmind.minion import prompts
from vaultmind.minion.choice import Minion
from vaultmind.minion.structured import ask_json
from vaultmind.minion.window import windows
from vaultmind.plural import counted
from vaultmind.ports import Generator
from vaultmind.session.recall import key_of
from vaultmind.types import Fact, Message, Prompt, Role, Turn
from vaultmind.vault.oneline import one_line

UNSAID_CONTEXT = 4096
"""Tokens of a window of which nobody says how large it is."""
ANSWER_SHARE, MOST_ANSWER = 4, 1024
"""An answer may have a quarter of the window, and at most so many tokens."""
MARGIN, LEAST_ROOM = 48, 120
"""Tokens of the marks around the turns; with less room a model sees only scraps."""
MOST_WINDOWS = 32
"""What would need more is left to the built-in engine: hours of work for one conversation."""
SECONDS = 3600.0
"""What the configuration allows a job is less."""
SENSE = 0.3
"""Share of a model's statements that must have been said for any to be believed."""
MOST_SENTENCES = 5
"""Of the summary of a conversation."""
PARAGRAPHS: dict[Level, tuple[int, int]] = {"L1": (3, 5), "L2": (2, 3)}
"""Fewest and most."""
SOURCE_TOKENS = 240
"""Of the sentences of a session that a model is shown for an L1."""
MOST_MARKS = 6
"""Sources that a paragraph names: those that say most of it."""
WORDS_A_TOKEN = 0.6
"""A limit in tokens, said in words, as models count them; on the safe side."""
MOST_KNOWN, KNOWN_SHARE = 24, 160
"""Facts that are known, as a model is shown them, and tokens of a window for each."""
PASSING = 0.9
"""Where the built-in reader is so sure that nothing will matter, a model's word does not count."""
LEFT_OUT = "[…]"
HIDDEN = frozenset({*NOT_SAID, "secret"})
_MADE_UP = frozenset({"no evidence", "not the user's words", "polarity"})
_NUMBERED = re.compile(r"\[(\d+)\](?=\s)")
_ABOUT = re.compile(
    r"\s{0,20}(?:(?:the )?user|użytkowni(?:k|czka)|пользовател(?:ь|ьница))\b[,:]?(?!['’])\s+",
    re.IGNORECASE,
)
"""Whom every fact is about need not be said in each."""


# --- asking about lines --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    """What a model is shown by a number: a message, or a sentence of a source."""

    number: int
    """From 1."""
    key: str
    role: Role | Literal[""]
    """Empty where nobody speaks."""
    text: str


def transcript(talk: Sequence[Utterance]) -> tuple[Line, ...]:
    """Return the lines of a conversation that a model may see.

    No tool output, pastes, code, private or secret words, nothing that was asked not to be kept
    and no orders to a memory: what is not shown cannot be repeated.
    """
    found: list[Line] = []
    for _, group in groupby(talk, key=lambda one: one.at):
        said = list(group)
        kept = " ".join(one.text for one in said if one.fault not in HIDDEN)
        text = _NUMBERED.sub(r"(\1)", one_line(kept.replace(GAP, LEFT_OUT)))
        withheld = any(one.fault == "asked not to keep" for one in said)
        if not withheld and any(map(str.isalnum, text)):
            found.append(Line(len(found) + 1, said[0].key, said[0].role, text))
    return tuple(found)


def ask(
    generator: Generator, name: str, lines: Sequence[Line], schema: dict[str, Any], **fixed: str
) -> list[dict[str, Any]]:
    """Return a model's answers about some lines, one for each window that they fill.

    `name` is the prompt's, `schema` what an answer holds, `fixed` what else the prompt
    says. It is asked in the language of the lines. Raises MinionFailed.
    """
    language = detect(" ".join(one.text for one in lines)) or "en"
    window = generator.context_tokens or UNSAID_CONTEXT
    answer = min(MOST_ANSWER, window // ANSWER_SHARE)
    free = window - answer - MARGIN
    free -= generator.count(prompts.filled(name, language, transcript="", **fixed))
    room = max(free - answer, free // 2)
    if room < LEAST_ROOM:
        raise MinionFailed("too_long", f"The window of {generator.id} ({window}) has no room.")
    shown = [f"[{one.number}] {f'{one.role}: ' if one.role else ''}{one.text}" for one in lines]
    parts = windows(shown, room, generator.count)
    if len(parts) > MOST_WINDOWS:
        why = f"It would take {generator.id} {len(parts)} windows; {MOST_WINDOWS} are the most."
        raise MinionFailed("too_long", why)
    found = []
    for part in parts:
        text = prompts.filled(name, language, transcript="\n".join(part), **fixed)
        prompt = Prompt((Turn("user", text),), schema, max_tokens=answer, seconds=SECONDS)
        found.append(ask_json(generator, prompt))
    return found


def sound(texts: Iterable[str], lines: Sequence[Line]) -> tuple[list[str], list[str]]:
    """Return the sentences of some texts that lines say, each once, in order.

    And what each of the others says that nobody said.
    """
    kept: list[str] = []
    dropped: list[str] = []
    said = [Message("user", one.text, "") for one in lines]
    for one in (one for text in texts for one in plain_sentences(one_line(text))):
        if any(same_fact(one, other) for other in kept) or not any(map(str.isalnum, one)):
            continue
        if fault := supported(one, said):
            dropped.append(fault.detail or fault.reason)
        else:
            kept.append(one if one[-1] in '.!?…。！？"»”)' else f"{one}.")
    return kept, dropped


def _nonsense(generator: Generator, why: str) -> MinionFailed:
    return MinionFailed("nonsense", f"The model {generator.id} did not understand: {why}.")


def _note(dropped: Sequence[str]) -> tuple[str, ...]:
    """Return in words what of a model's sentences was left out, if anything."""
    number = f"{counted(len(dropped), 'sentence')} of the model"
    said = "; ".join(dict.fromkeys(dropped[:3]))
    return (f"{number} left out: nobody said {said}.",) if dropped else ()


# --- facts and summaries -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Job:
    """A conversation that models are asked about, one after the other."""

    talk: Sequence[Utterance]
    lines: tuple[Line, ...]
    messages: Sequence[Message]
    brain: Sequence[Fact]
    found: Extraction
    max_facts: int


class Thinker:
    """Understands conversations and sums them up, by a model where there is one. Any thread."""

    def __init__(self, minion: Minion) -> None:
        self._minion = minion

    def extract(
        self, messages: Sequence[Message], brain: Sequence[Fact], *, language: str, max_facts: int
    ) -> Extraction:
        """Return the facts and the summary of a conversation's messages that may be recalled.

        `brain` is what is known already, archived or not. What the person asked for in words is
        among the facts whoever found them.
        """
        found = extract(messages, brain, max_facts=max_facts)
        found = replace(found, summary=built_in.of_session(messages, language).text)
        talk = read_talk(messages)
        lines = transcript(talk)
        if not self._minion.chain("extraction") or all(line.role != "user" for line in lines):
            return found
        job = _Job(talk, lines, messages, brain, found, max_facts)
        done = self._minion.run("extraction", lambda generator: _think(generator, job))
        if done.value is None:
            again, notes = bool(done.failures), done.failures
            return replace(found, again=again, unasked=done.unasked, notes=notes)
        return replace(done.value, by=done.by, notes=(*done.failures, *done.value.notes))

    def summarise(
        self, level: Level, sources: Sequence[Source], language: str, max_tokens: int
    ) -> Summary:
        """Return 3-5 paragraphs (L1) or 2-3 (L2) of at most `max_tokens` in all, links apart.

        A model is shown the sentences of each session or L1 that tell most.
        """
        lines: list[Line] = []
        for one in sources if self._minion.chain("summary") else ():
            quotes = built_in.quotes_of(level, one, language)
            if tokens.count(built_in.lined_up(quotes)) > SOURCE_TOKENS:
                worth = built_in.worth_of(quotes)
                quotes = built_in.chosen(quotes, worth, SOURCE_TOKENS, len(quotes))
            lines += [
                Line(at, each.source, "", built_in.lined_up([each]))
                for at, each in enumerate(quotes, len(lines) + 1)
            ]
        if not lines:
            return built_in.of_sources(level, sources, language, max_tokens)
        done = self._minion.run("summary", lambda it: _level(it, level, lines, max_tokens))
        if done.value is None:
            found = built_in.of_sources(level, sources, language, max_tokens)
        else:
            found = replace(done.value, by=done.by)
        return replace(found, notes=(*done.failures, *found.notes))


def _think(generator: Generator, job: _Job) -> Extraction:
    """Return what holds of a model's facts and of its summary; raises MinionFailed."""
    window = generator.context_tokens or UNSAID_CONTEXT
    spoken = " ".join(line.text for line in job.lines)
    known = sorted(job.brain, key=lambda one: -share_of(one.text, spoken))
    known = known[: min(MOST_KNOWN, window // KNOWN_SHARE)]
    shown = "\n".join(f"{at}. {one.text}" for at, one in enumerate(known, 1))
    fixed = {"brain": shown or "-", "facts": str(job.max_facts)}
    schema = prompts.schema("extraction")
    schema["properties"]["facts"]["maxItems"] = max(1, job.max_facts)
    answers = ask(generator, "extraction", job.lines, schema, **fixed)
    told = list(dict.fromkeys(one for answer in answers for one in answer["summary"]))
    every = -(-len(told) // MOST_SENTENCES) or 1  # of a talk in many windows, some of each
    said, lost = sound(told[::every], job.lines)
    judged = [_judged(one, known, job) for answer in answers for one in answer["facts"]]
    wrong = [one for one in judged if isinstance(one, Dropped)]
    made_up = sum(one.reason in _MADE_UP or one.reason.endswith("in evidence") for one in wrong)
    offered = len(judged) + len(said) + len(lost)
    good = offered - made_up - len(lost)
    if good < SENSE * offered or (not offered and job.found.facts):
        said_so = f"{good} of {offered} of its statements were said"
        raise _nonsense(generator, said_so if offered else "it found nothing")
    asked = [one for one in job.found.facts if one.asked]
    found = [*asked, *(one for one in judged if isinstance(one, Candidate))]
    merged = merge(found, job.messages, job.brain, job.max_facts)
    dropped = (*wrong, *merged.dropped)
    named = {one.text for one in dropped}
    rest = (one for one in job.found.dropped if one.text not in named)
    text = " ".join(said) if said and len(said) >= len(lost) else job.found.summary
    return Extraction(merged.facts, (*dropped, *rest), text, notes=_note(lost))


def _judged(one: Mapping[str, Any], known: Sequence[Fact], job: _Job) -> Candidate | Dropped:
    """Return a model's fact as it may be kept, or why it may not."""
    text = statement(_ABOUT.sub("", str(one["fact"])))
    keys = {line.number: line.key for line in job.lines}
    evidence = tuple(dict.fromkeys(keys[n] for n in one["evidence"] if n in keys))
    category: Category = one["category"]
    said = [each for each in job.talk if each.key in evidence and each.fault not in HIDDEN]
    mine = [each for each in said if each.role == "user"]
    if not mine or not text:
        reason: Reason = "not the user's words" if said and text else "no evidence"
        return Dropped(text, reason, evidence, category)
    nearest = max(mine, key=lambda each: share_of(text, each.text))
    if nearest.fault:
        return Dropped(text, nearest.fault, evidence, category)
    if fault := supported(text, [each for each in job.messages if key_of(each) in evidence]):
        return Dropped(text, fault.reason, evidence, category)
    read = network().read("facts", [nearest.text, text])
    asked = nearest.intent.intent in ("remember", "correct")
    passes = not asked and min(each.heads["fact"]["SKIP"] for each in read) >= PASSING
    if category in ("SKIP", "DELETE") or passes:
        return Dropped(text, "passing", evidence, category)
    if category == "UPDATE":
        category = max(WEIGHT, key=lambda name: read[1].heads["fact"][name])
    found = Candidate(category, text, evidence, WEIGHT[category], SECTION_OF[category], asked=asked)
    if one["category"] != "UPDATE" or not 0 < one["replaces"] <= len(known):
        return found
    old = known[one["replaces"] - 1]
    why = f"a model takes it for the successor of: {old.text}"
    return replace(found, category="UPDATE", replaces=old.text, block=old.block, doubt=why)


def _level(generator: Generator, level: Level, lines: Sequence[Line], max_tokens: int) -> Summary:
    """Return a model's summary of several sources; raises MinionFailed, nonsense too."""
    fewest, most = PARAGRAPHS[level]
    wanted = {"words": str(round(max_tokens * WORDS_A_TOKEN)), "paragraphs": f"{fewest}-{most}"}
    kept: list[Paragraph] = []
    dropped: list[str] = []
    answers = ask(generator, "level", lines, prompts.schema("level"), **wanted)
    for one in (one for answer in answers for one in answer["paragraphs"]):
        meant = [line for line in lines if line.number in one["from"]] or lines
        said, lost = sound([one["text"]], meant)
        dropped += lost
        if said:
            text = " ".join(said)
            best = sorted(meant, key=lambda line, text=text: -share_of(text, line.text))  # type: ignore[misc]
            named = sorted(best[:MOST_MARKS], key=meant.index)
            kept.append(Paragraph(text, tuple(dict.fromkeys(line.key for line in named))))
    if len(kept) < min(fewest, len(lines)):
        raise _nonsense(generator, f"{len(kept)} of its paragraphs hold")
    return Summary(_within(kept[:most], max_tokens), notes=_note(dropped))


def _within(paragraphs: Sequence[Paragraph], max_tokens: int) -> tuple[Paragraph, ...]:
    """Return paragraphs of so many tokens in all: the longest lose their last sentences."""
    told = [(plain_sentences(one.text), one) for one in paragraphs]
    while told and tokens.count("\n\n".join(" ".join(text) for text, _ in told)) > max_tokens:
        longest = max(told, key=lambda one: (len(one[0]), sum(map(len, one[0]))))
        longest[0].pop()
        told = [one for one in told if one[0]]
    return tuple(replace(one, text=" ".join(text)) for text, one in told)
