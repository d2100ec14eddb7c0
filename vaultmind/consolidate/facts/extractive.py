"""Facts from a talk without a model: what the user said, told apart by a small linear model.

Pieces of the user's sentences that nothing speaks against are weighed by the model, made short
statements, cleared of what was taken back or said twice, and ordered by importance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from vaultmind.consolidate.facts.alone import is_gap, says_itself, shown_gaps, without_gaps
from vaultmind.consolidate.facts.answers import agreements, answers
from vaultmind.consolidate.facts.cues import CYRILLIC, begins, features, says
from vaultmind.consolidate.facts.linear import Sentence, probabilities, surroundings, weighed
from vaultmind.consolidate.facts.own import pieces
from vaultmind.consolidate.facts.seen import seen
from vaultmind.consolidate.facts.slots import Kind
from vaultmind.consolidate.facts.statement import statement
from vaultmind.consolidate.facts.taken import Found, doubted, settled
from vaultmind.consolidate.facts.talk import Said, Talk
from vaultmind.consolidate.types import SECTION_OF, Candidate, Category, Dropped
from vaultmind.memory.match import same_fact
from vaultmind.memory.words import SOFT, Word, content, fold
from vaultmind.ports import Embedder

KEEPS = 0.7
"""Likelihood of being a fact from which a sentence is one, with vectors; ..."""
KEEPS_BY_WORDS = 0.65
"""... and by words alone."""
ONE_WORD_KEEPS = 0.75
"""The same of a statement with one content word: `I'm vegan` is one, `I'm bored` is not."""
NO_SIGN, OF_OTHERS, OF_THE_MOMENT = 0.15, 0.3, 0.08
"""By how much surer one must be of a statement without a sign of the person, of one about
somebody met by the way, and of one about the moment."""
PLAIN, PLAIN_WORDS = 0.4, 8
"""By how much less sure one need be of a short one that says what the person is, and its words."""
_OWN = frozenset(
    {"self", "we", "kin", "pet", "like", "standing", "decide", "job", "home", "health", "own"}
)
_LASTING = frozenset({"standing", "decide", "health", "like", "home", "job", "month", "kin"})
ASKED_KEEPS = 0.0
"""What was asked in words to be kept is kept whatever the model thinks of it."""
ASKED, PERSONAL, TASTE, DECIDED, GOING_ON = 5.0, 4.0, 3.5, 3.0, 2.5
WEIGHT: dict[Category, float] = {
    "CORE": PERSONAL,
    "PREFERENCE": TASTE,
    "DECISION": DECIDED,
    "PROJECT": GOING_ON,
}
REPEATED = 0.5
"""What a fact weighs more for being said twice."""
FEWEST = 2
"""Content words from which a statement says something without speaking of the person."""

_CATEGORY_OF: dict[Kind | None, Category] = {
    "name": "CORE",
    "age": "CORE",
    "place": "CORE",
    "work": "CORE",
    "health": "CORE",
    "more": "CORE",
    "date": "PROJECT",
    "taste": "PREFERENCE",
    None: "DECISION",
}
"""What an answer to a question of each kind is; None: a proposal that was agreed to."""

STAYS, STAYS_WORDS = 0.3, 12
"""The same of one that says what the person always does, or of their pets."""
_STAYS = frozenset({"standing", "pet", "like"})
_PASSING = frozenset({"passing", "tech", "mood"})

_PLAIN = re.compile(
    r"(?:i'm|i am) (?:an? (?:\w+ )?\w+ (?:in|at|for|from|by)|allergic|vegan|vegetarian|coeliac|"
    r"celiac|diabetic|originally from)\b|i (?:live|work) (?:in|at|as|for)\b|i prefer |"
    r"i (?:have|'ve got) (?:type|diabetes|asthma|coeliac)\b|"
    r"(?:wolę |mieszkam w|pracuję (?:w|jako)|jestem (?:uczulon|wegan|wegetaria)|"
    r"mam (?:cukrzycę|alergię|astmę|celiakię))|"
    r"(?:я )?(?:предпочитаю |живу в|работаю (?:в|на))(?!\w)|у меня (?:аллергия|диабет|астма)"
)
"""What a person is, in the plainest words: in talks it is mostly said with more around it."""
_POINTS = re.compile(
    r"(?:it|it's|its|that|that's|this|he|he's|she|she's|they|they're|these|those|there|his|her|"
    r"to|ona|ono|oni|one|on|jego|jej|ich|tam|ten|ta|те|это|он|она|они|оно|его|ее|их|ему|еи|там|"
    r"этот|эта)(?!\w)"
)
_EARLY = re.compile(
    r"(?:i|i've|we|we've|my \w+|[a-z]+(?:łem|łam|liśmy|łyśmy))(?: \w+){0,2} (?:it|this|that|"
    r"them|to|go|"
    r"ją|je|tego)(?= in| on| at| twice| again| already| yesterday| today|[.,;!]|$)"
    r"|(?:я|мы|мама|папа)?(?: ?\w{1,40}){1,2} (?:это|его|ее|их)"
    r"(?= \w+ой| на| в | вчера| уже|[.,;!]|$)"
)
"""What it speaks of stands in another sentence: `I started it in spring`, `my mum sent this`."""
_CLAUSE = re.compile(r"[,;]\s+|\s[-–—]\s+")
_NAME = re.compile(r"(?<=[\w,] )[^\W\d_a-zа-я][^\W\d_]{2,}")


def extract(talk: Talk, embedder: Embedder | None = None) -> tuple[list[Candidate], list[Dropped]]:
    """Return the facts of a talk, the most important first, and what was dropped of it.

    With the bundled embedder it is surer; without one it works by words alone.
    """
    said = list(talk.by_user())
    faulty = [one for one in said if one.fault and one.fault != "request"]
    dropped = [_passed_over(one) for one in faulty if not is_gap(one.text)]
    found = _with_the_assistant(list(_found(said, embedder, dropped)), talk)
    kept, gone = settled(found, said)
    kept = doubted(kept, said)
    dropped += [
        Dropped(one.text, "taken back", one.evidence, one.category, key) for one, key in gone
    ]
    facts = _once([one.candidate for one in kept], dropped)
    return sorted([*_forgets(said), *facts], key=lambda one: -one.weight), dropped


def _forgets(said: Iterable[Said]) -> Iterator[Candidate]:
    """Yield what the user asked the memory, in words addressed to it, to forget."""
    done: set[str] = set()
    for one in said:
        words = one.intent.payload if one.intent.intent == "forget_topic" else ""
        words = words[slice(*next(pieces(words), (0, 0)))]
        if one.fault in (None, "request") and one.whole not in done and _telling(words):
            done.add(one.whole)
            yield Candidate("DELETE", words, (one.key,), ASKED, asked=True)


def _with_the_assistant(found: list[Found], talk: Talk) -> list[Found]:
    """Return the candidates and those that an answer or a yes makes with the assistant's words."""
    together = [(told, _CATEGORY_OF[told.kind]) for told in (*answers(talk), *agreements(talk))]
    made = [
        Found(
            Candidate(category, told.text, told.keys, WEIGHT[category], SECTION_OF[category]),
            told.said,
        )
        for told, category in together
    ]
    given = [told.said for told, _ in together if told.kind is not None]
    own = [one for one in found if not any(one.said is said for said in given)]
    return sorted([*own, *made], key=lambda one: one.said.at)


def _passed_over(one: Said) -> Dropped:
    shown = "" if one.fault in ("private", "secret", "asked not to keep") else shown_gaps(one.text)
    return Dropped(shown, one.fault or "unclear alone", (one.key,))


def _found(
    said: Sequence[Said], embedder: Embedder | None, dropped: list[Dropped]
) -> Iterator[Found]:
    """Yield the candidates among some pieces of talk, in order."""
    open_ = open_to(said)
    texts = [_trimmed(stated(one), embedder) for one in open_]
    sentences = [sentence(one, text) for one, text in zip(open_, texts, strict=True)]
    told = weighed(sentences, embedder, surroundings(heard(said), embedder))
    keeps = KEEPS_BY_WORDS if embedder is None else KEEPS
    last: Found | None = None
    for one, text, likely in zip(open_, texts, told, strict=True):
        asked = one.intent.intent in ("remember", "correct") or bool(says(one.folded, "remember"))
        sure = 1 - likely["SKIP"]
        in_words = one.intent.intent == "remember"
        least = ASKED_KEEPS if in_words else keeps + _doubtful(text)
        fewest = 1 if in_words else FEWEST
        if sure < least or (sure < ONE_WORD_KEEPS and len(_telling(text)) < fewest):
            continue
        category = max(WEIGHT, key=lambda name: likely[name])
        weight = ASKED if asked else WEIGHT[category]
        candidate = Candidate(category, text, (one.key,), weight, SECTION_OF[category], asked=asked)
        if not _stands_alone(text):
            joined = last.candidate.text if last is not None and last.said.at == one.at else ""
            whole = f"{joined}; {_small(text)}" if joined else _from_the_person(text)
            if not whole:
                dropped.append(Dropped(text, "unclear alone", (one.key,), category))
                continue
            candidate = replace(candidate, text=whole)
        if not in_words and not says_itself(candidate.text):
            dropped.append(Dropped(candidate.text, "unclear alone", (one.key,), category))
            continue
        last = Found(candidate, one)
        yield last


def _doubtful(text: str) -> float:
    """Return by how much surer than usual one must be of a statement.

    One that shows no sign of the person, of those near to them or of what lasts is mostly of the
    task in hand; so is one of the passing moment, and one about somebody met by the way.
    """
    folded = fold(text)
    seen = features(cyrillic=bool(CYRILLIC.search(folded)))
    shown = {name for name, cue in seen.items() if cue.search(folded)}
    more = 0.0 if shown & _OWN else NO_SIGN
    if begins(folded, "stranger") and not shown & {"self", "we", "decide"}:
        more += OF_OTHERS
    if shown & {"passing", "here", "tech"} and not shown & _LASTING:
        more += OF_THE_MOMENT
    words = len(folded.split())
    if more or words > STAYS_WORDS:
        return more
    if words <= PLAIN_WORDS and _PLAIN.match(folded):
        return -PLAIN
    stays = shown & _STAYS and shown & {"self", "we"} and not shown & _PASSING
    return -STAYS if stays else 0.0


def open_to(said: Iterable[Said]) -> list[Said]:
    """Return the pieces of talk that may be facts, for all that rules can tell."""
    return [one for one in said if not one.fault and _may_be_a_fact(one)]


def _may_be_a_fact(one: Said) -> bool:
    if one.intent.intent in ("forget_topic", "forget_that", "skip", "recall", "show_memory"):
        return False
    folded = fold(statement(one.text))
    if begins(folded, "forget") or says(folded, "undo"):
        return False
    words = _telling(statement(one.text))
    seen = features(cyrillic=bool(CYRILLIC.search(one.folded)))["self"]
    alone = one.intent.intent == "remember" or seen.search(one.folded)
    return len(words) >= FEWEST or bool(words and alone)


def _telling(text: str) -> list[Word]:
    return [word for word in content(text) if word.folded not in SOFT]


def sentence(one: Said, text: str) -> Sentence:
    """Return a statement as the model weighs it, with what was said around it."""
    return Sentence(text, one.whole, one.at)


def heard(said: Iterable[Said]) -> dict[int, str]:
    """Return the messages of pieces of talk by their numbers, without what is private."""
    found: dict[int, dict[str, None]] = {}
    for one in said:
        if one.fault not in ("private", "secret", "asked not to keep"):
            found.setdefault(one.at, {})[one.whole] = None
    return {at: " ".join(wholes) for at, wholes in found.items()}


def stated(one: Said) -> str:
    """Return what a piece of talk says as a statement."""
    payload = one.intent.payload
    if one.intent.intent == "remember" and payload and payload in one.text:
        return statement(payload)
    return without_gaps(statement(one.text))


def _trimmed(text: str, embedder: Embedder | None) -> str:
    """Return a statement without clauses, at its ends, of the passing day."""
    while True:
        clauses = [(match.start(), match.end()) for match in _CLAUSE.finditer(text)]
        if not clauses:
            return text
        ends = {text[clauses[-1][1] :]: text[: clauses[-1][0]]}
        ends[text[: clauses[0][0]]] = statement(text[clauses[0][1] :])
        passing = [rest for clause, rest in ends.items() if _is_passing(clause)]
        if not passing:
            return text
        told = probabilities([text, *passing], embedder)
        better = [
            rest
            for rest, likely in zip(passing, told[1:], strict=True)
            if likely["SKIP"] <= told[0]["SKIP"] and len(content(rest)) >= FEWEST
        ]
        if not better:
            return text
        text = better[0]


def _is_passing(clause: str) -> bool:
    """Tell whether a clause speaks of the moment, and names nobody and nothing by number."""
    folded = fold(clause)
    seen = features(cyrillic=bool(CYRILLIC.search(folded)))
    named = _NAME.search(f"x {clause}") or any(char.isdigit() for char in clause)
    return not named and any(seen[name].search(folded) for name in ("passing", "mood"))


def _from_the_person(text: str) -> str:
    """Return a statement from the clause on that speaks of the person; empty if none does."""
    for match in _CLAUSE.finditer(text):
        rest = text[match.end() :]
        folded = fold(rest)
        seen = features(cyrillic=bool(CYRILLIC.search(folded)))
        if seen["self"].match(folded) or seen["we"].match(folded) or seen["own"].match(folded):
            return statement(rest)
    return ""


def _stands_alone(text: str) -> bool:
    """Tell whether a statement says whom or what it is about."""
    folded = " ".join(text.split()).lower().replace("ё", "е")
    if _NAME.search(text):
        return True
    return not _POINTS.match(folded) and not _EARLY.match(folded)


def _small(text: str) -> str:
    return text if text[:2].isupper() or text.startswith("I ") else text[:1].lower() + text[1:]


def _once(facts: Iterable[Candidate], dropped: list[Dropped]) -> list[Candidate]:
    """Return the facts, each once: what was said again weighs more and has more evidence."""
    kept: list[Candidate] = []
    for fact in facts:
        twin = next((i for i, other in enumerate(kept) if _alike(fact.text, other.text)), None)
        if twin is None:
            kept.append(fact)
            continue
        other = kept[twin]
        fuller, lesser = (fact, other) if len(fact.text) > len(other.text) else (other, fact)
        evidence = tuple(dict.fromkeys((*other.evidence, *fact.evidence)))
        weight = min(ASKED, max(fact.weight, other.weight) + REPEATED)
        kept[twin] = replace(fuller, evidence=evidence, weight=weight)
        dropped.append(Dropped(lesser.text, "said twice", lesser.evidence, lesser.category))
    return kept


def _alike(one: str, other: str) -> bool:
    """Tell whether one statement says no more than another."""
    if same_fact(one, other):
        return True
    if seen(one).keys.isdisjoint(seen(other).keys):
        return False
    left, right = content(one), content(other)
    less, more = (left, right) if len(left) <= len(right) else (right, left)
    return len(less) > 1 and all(any(word.same(w) for w in more) for word in less)
