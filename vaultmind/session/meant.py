"""Which fact some words mean, what a correction makes of it, and what is known about them.

Nothing is forgotten or changed that is not certain: where the words may mean another fact, somebody
else, or would lose what the fact says besides, no change is made and the person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import SequenceMatcher

from vaultmind.index.when import spans
from vaultmind.language.words import NEGATIONS, SOFT, Word, content, fold
from vaultmind.memory.brain import own_paragraphs, parse_brain
from vaultmind.memory.contradictions import is_count, superseded, told
from vaultmind.memory.match import NEAREST, asked_about, is_among
from vaultmind.memory.wording import section_of
from vaultmind.session.sentences import names_in
from vaultmind.types import Caller, Fact, Hit, Kind
from vaultmind.vault.parts import bullets, plain

SHORT = 4
"""Words of "no, it's on Thursday", which gives but another value."""
SURE, MEANT = 0.45, 0.6
"""Score from which a note, and a fact, answer a question by their meaning."""
ME = {"me", "myself", "mnie", "mną", "mi", "mój", "moja", "moje", "moim", "меня", "мне", "мной",
      "mich"}  # fmt: skip
"""Words of a recall that mean everything about the person."""
Near = Callable[[str, str, Caller, Kind], Sequence[Hit]]
"""Finds facts of an agent, or notes, by some words, as a caller may see them, best first."""
WORD = re.compile(r"\w+(?:[-'’:.,/]\w+)*")
_SELF = {"i", "i'm", "i've", "im", "ja", "я", "ich", "je", "yo"}


# --- what is to be corrected ----------------------------------------------------------------


def corrected(
    facts: Sequence[Fact], that: Fact | None, said: str, old: str, new: str
) -> tuple[Fact | None, str]:
    """Return the fact to replace and its new text; no text where that is not certain.

    `said` is the whole sentence, `old` what is wrong in it (may be empty), `new` what is right.
    The new words are laid over each fact, else put in the place of the old ones, else they are
    another value in `that`, the fact touched last. Without a fact the new words are one.
    """
    there = [fact for fact in facts if not old or _span(fact.text, old)]
    if not there:
        return None, new
    made = [(fact, _laid_over(fact.text, new) or _put(fact.text, said, old, new)) for fact in there]
    certain = [one for one in made if one[1]]
    certain = [one for one in certain if one[0] == that] or certain
    if len(certain) == 1:
        return certain[0]
    if old or certain:
        return there[0] if len(there) == 1 else None, ""
    text = other_value(that.text, new) if that else ""
    return (that, text) if text else (None, new)


def other_value(text: str, new: str) -> str:
    """Return a fact with its one time, number or name replaced: "No, it's the 5th"."""
    if len(WORD.findall(new)) > SHORT:
        return ""
    for values in (_times, re.compile(r"\d[\w:.,/-]*\w|\d").findall, _names):
        mine, theirs = values(text), values(new)
        if len(mine) == len(theirs) == 1:
            return text.replace(mine[0], theirs[0], 1)
    return ""


def _times(text: str) -> list[str]:
    return [one.text for one in spans(text, "", datetime(2026, 1, 1))]


def _names(text: str) -> list[str]:
    """Return the names in a text; none where its first word may be another one."""
    first = WORD.match(text)
    return [*names_in(text)] if first and not content(first.group()) else []


def _laid_over(text: str, new: str) -> str:
    """Return a fact with the one run of its words replaced that new words say otherwise.

    It must come after words that both say, and that tell something, or be a number; what the new
    words do not speak of stays.
    """
    ours, theirs = list(WORD.finditer(text)), list(WORD.finditer(new))
    said, given = ([fold(one.group()) for one in words] for words in (ours, theirs))
    runs = SequenceMatcher(None, said, given, autojunk=False).get_opcodes()
    changes = [at for at, run in enumerate(runs) if run[0] in ("replace", "insert")]
    if len(changes) != 1 or not changes[0]:
        return ""
    at = changes[0]
    _, start, end, begin, stop = runs[at]
    before = runs[at - 1]
    counts = all(is_count(one.group()) for one in (*ours[start:end], *theirs[begin:stop]))
    leads = before[0] == "equal" and content(" ".join(said[before[1] : before[2]]))
    many = stop - begin
    fits = many == end - start or (many < end - start and at == len(runs) - 1)
    if not fits or not (counts or leads):
        return ""
    return _replaced(
        text, ours[start : start + many], new[theirs[begin].start() : theirs[stop - 1].end()]
    )


def _put(text: str, said: str, old: str, new: str) -> str:
    """Return a fact with the new words in the place of the old; empty where that is not certain."""
    span = _span(text, old)
    if not span or _is_anothers(text, said, old, new):
        return ""
    if counts := is_count(old):  # "4 cats", for what is counted may be another
        new += re.split(r"[,;.!?]", said[said.find(new) + len(new) :])[0].rstrip()
    words = list(WORD.finditer(text))
    telling = [one for one in WORD.finditer(new) if content(one.group())]
    rest = content(text[: words[span[0]].start()] + text[words[span[1] - 1].end() :])
    longer = len(telling) - (span[1] - span[0])
    if not telling or not rest or longer > 1 or (counts and longer):
        return ""
    if any(word.same(one) for word in content(new) for one in rest):
        return ""
    return _replaced(text, words[slice(*span)], new[telling[0].start() : telling[-1].end()])


def _is_anothers(text: str, said: str, old: str, new: str) -> bool:
    """Tell whether a correction speaks of somebody or something that a fact does not."""
    head, _, tail = said.partition(",")
    told = tail if len(head.split()) < SHORT else said  # "No," and "That's wrong,"
    known = content(f"{text} {old} {new}")
    if any(not is_among(one, known) for one in content(told) if one.folded not in SOFT | NEGATIONS):
        return True
    first = content(WORD.findall(text)[0])
    speaks_of_self = any(fold(one) in _SELF for one in WORD.findall(said))
    return bool(speaks_of_self and first and not is_among(first[0], content(said)))


def _span(text: str, old: str) -> tuple[int, int] | None:
    """Return which words of a fact, from one to before another, say the old words in any form."""
    words = [content(word) for word in WORD.findall(text)]
    wanted = [content(word) for word in WORD.findall(old)]
    while wanted and not wanted[0]:
        del wanted[0]  # a preposition in front, which the fact may lack
    starts = range(len(words) - len(wanted) + 1) if wanted else ()
    found = [
        (start, start + len(wanted))
        for start in starts
        if all(map(_same, words[start : start + len(wanted)], wanted))
    ]
    return found[0] if len(found) == 1 else None


def _same(ones: tuple[Word, ...], others: tuple[Word, ...]) -> bool:
    return len(ones) == len(others) and all(map(Word.same, ones, others))


def _replaced(text: str, wrong: Sequence[re.Match[str]], right: str) -> str:
    return f"{text[: wrong[0].start()]}{right}{text[wrong[-1].end() :]}"


# --- what is known --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Known:
    """An answer to what is known."""

    facts: tuple[Fact, ...] = ()
    lines: tuple[str, ...] = ()
    """The facts with their days, what the person typed beside them, else notes."""
    names: tuple[str, ...] = ("known",)
    """The names of what to say before them."""


def recalled(brain: str, archive: str, words: str, near: Callable[[Kind], Sequence[Hit]]) -> Known:
    """Return what brain, archive and, where they say nothing, the notes say about some words.

    Facts that hold the words; else those that mean the same; else the closest, as no more. `near`
    finds what is near in meaning, of a kind. Of facts that exclude each other the newer is told.
    """
    words = words.strip(" ?!.").lower()
    facts, typed = parse_brain(brain).all(), _typed(brain, "")
    if words and words not in ME:
        known = (*parse_brain(archive).all(), *facts)  # of one day the later in the list is newer
        facts, typed = tuple(known[at] for at in asked_about(known, words)), _typed(brain, words)
        if not facts and not typed:
            return _near(known, words, near)
    return _told(facts, typed) if facts or typed else Known(names=("nothing_known",))


def _near(facts: Sequence[Fact], words: str, near: Callable[[Kind], Sequence[Hit]]) -> Known:
    """Return facts that mean some words, notes that hold or mean them, or else what is closest."""
    asked = [word for word in content(words) if word.folded not in SOFT]
    by_block = {fact.block or fact.text: fact for fact in facts}
    found = [
        (hit.score, fact)
        for hit in near("fact")
        if (fact := by_block.get(hit.anchor.removeprefix("#^")) or by_block.get(hit.text))
    ]
    if sure := [fact for score, fact in found if score >= MEANT]:
        return _told(sure, ())

    def says(note: Hit) -> bool:
        said = content(note.text)
        return bool(asked) and all(any(map(word.same, said)) for word in asked)

    if notes := [one for one in near("note") if one.score >= SURE or says(one)]:
        return Known(lines=tuple(f"{one.path}: {one.text}" for one in notes[:NEAREST]))
    names = ("nothing_known", "nearest") if found else ("nothing_known",)
    return replace(_told([fact for _, fact in found[:NEAREST]], ()), names=names)


def _told(facts: Sequence[Fact], typed: Sequence[str]) -> Known:
    """Return facts with their days, without those that a newer one contradicts."""
    old = superseded([(fact.text, fact.written) for fact in facts])
    kept = tuple(fact for at, fact in enumerate(facts) if at not in old)
    texts = {fact.text for fact in facts}
    return Known(kept, (*map(told, kept), *(one for one in typed if one not in texts)))


def _typed(brain: str, words: str) -> list[str]:
    """Return what a person typed that is about some words, by its own or by its heading."""
    pieces = [(title, plain("\n".join(lines))[0]) for title, lines in own_paragraphs(brain)]
    pieces += [(one.heading, one.text) for one in bullets(brain) if not section_of(one.heading)]
    about = [Fact(f"{title}: {text}", None) for title, text in pieces]
    return [pieces[at][1] for at in (asked_about(about, words) if words else range(len(pieces)))]
