"""What one fact says, taken apart for comparison: its topic, polarity, axes, times and slots."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from vaultmind.memory.contradictions import relations as rel
from vaultmind.memory.contradictions.axes import AXES, LANGUAGE_OF, STRONG
from vaultmind.memory.contradictions.lexicon import entry
from vaultmind.memory.contradictions.measures import Measures, is_number, measures
from vaultmind.memory.contradictions.slots import COPULA, SIGNS, SLOTS, Slot
from vaultmind.memory.words import NEGATIONS, Word, content, fold, saying

_NOT = (
    (re.compile(r"\b(can|won)(?:['’]?t|not)\b"), "can not"),
    (re.compile(r"n['’]t\b"), " not"),
    (re.compile(r"\b(do|does|did|is|are)nt\b"), r"\1 not"),
    (re.compile(r"\bcan not (?:stand|bear)\b"), "hates"),
    (re.compile(r"\bnie (?:znosi|znoszę|znosze|cierpi|cierpię|cierpie)\b"), "nienawidzi"),
    (re.compile(r"\b(?:терпеть не мо\w+|не (?:терп\w+|выносит|переносит))\b"), "ненавидит"),
)
_WORD = re.compile(r"\w[\w'’+#-]*")
_IDIOMS = frozenset(
    {"stand", "bear", "znosi", "znosze", "cierpi", "cierpie", "терпеть", "терпит", "терплю",
     "может", "могу", "переносит", "выносит"}
)  # fmt: skip
"""Words of `cannot stand` and the like, which are read as hatred."""
_LONGER = re.compile(r"\b(?:no|any) longer\b")
_POSSESSIVE = re.compile(r"['’]s\b")
_PART = re.compile(r"\w+")
_NUMBERED = re.compile(r"\d+(?:[.,]\d+)*(?:st|nd|rd|th)?|[^\W\d_][\w'’+#-]*|%")
_CLAUSE = re.compile(
    r"[,;()!?]|(?<=\w{4})\.|\s[-–—]\s|\b(?:and|but|with|since|from|because|near|until|as|i|oraz|"
    r"a|ale|z|ze|od|bo|jako|kolo|и|но|а|с|со|потому|около|от|where|gdzie|где)\b"
)
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+\b")
_USER_WORDS = """
    user user's users i me my he she his her him we they uzytkownik uzytkownika uzytkowniczka ja
    on ona jego jei jej mnie mu mi moj moja пользователь пользователя пользовательница я он она
    его ее мне меня мои моя
"""
_USER = frozenset(_USER_WORDS.split())
_ORDINAL = ("st", "nd", "rd", "th")
_YEARS = frozenset({"lat", "lata", "rok", "лет", "год", "года"})
_NAME_FROM = 3
DISLIKED = 2
"""The pole of `hates`, which is a `does not like`."""
_NEGATION_REACH = 24
"""Characters before a cue in which a negation is about it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One value of one relation: who, what, and whether it is taken back."""

    slot: str
    owner: tuple[Word, ...]
    value: tuple[Word, ...]
    negative: bool = False
    many: bool = False
    """The owner is one of several there may be: a brother, a cat."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A fact taken apart."""

    said: tuple[str, ...]
    words: tuple[Word, ...]
    """All content words."""
    topic: tuple[Word, ...]
    """Content words that nothing below stands for."""
    keys: frozenset[str]
    """What any comparable fact shares at least one of: beginnings of words, slots, axes."""
    negative: bool
    lacks: tuple[Word, ...]
    """What a `without` takes away, in a fact that is negative by nothing else."""
    changed: bool
    hedged: bool
    anytime: bool
    bound: str
    """`before` or `after` something, as said; empty without."""
    poles: tuple[tuple[str, int], ...]
    claims: tuple[Claim, ...]
    replaced: tuple[Word, ...]
    compared: tuple[tuple[Word, ...], ...]
    measures: Measures
    labels: tuple[str, ...]
    """Numbers that only tell one thing from another: `room 12`, `chapter 3`."""
    counts: bool
    """Whether its numbers count or measure something: `two cats`, `the limit is 5`."""


@lru_cache(maxsize=4096)
def read(text: str) -> Reading:
    """Return what a fact says. Cached: a brain's facts are read once."""
    text = rel.LEAD.sub("", text, count=1) or text
    folded = _folded(text)
    words = content(text)
    used: set[str] = set()
    plain = rel.POSITIVE_AFTER_ALL.sub(lambda m: _use(m, used), folded)
    negative = bool(rel.NEGATIVE.search(plain))
    taken = measures(plain, used)
    changed, hedged, anytime = (
        _find(cue, plain, used) for cue in (rel.CHANGE, rel.HEDGE, rel.ANYTIME)
    )
    poles = _poles(_LONGER.sub(" ", plain), used)
    claims = () if hedged else _claims(text, rel.ASIDE.sub("", folded), words)
    for cue in (rel.NEGATIVE, rel.NOISE):
        _find(cue, plain, used)
    bound = rel.RESTRICTED.search(plain) if taken.clocks else None
    used |= NEGATIONS | (_IDIOMS if "liking" in dict(poles) else frozenset())
    topic = tuple(w for w in words if w.folded not in used and w.folded[:1].isalnum())
    return Reading(
        said=saying(text),
        words=words,
        topic=topic,
        keys=_keys(words, poles, claims),
        negative=negative,
        lacks=_lacks(plain) if negative else (),
        changed=changed,
        hedged=hedged,
        anytime=anytime,
        bound=_side(bound.group()) if bound else "",
        poles=poles,
        claims=claims,
        replaced=_replaced(folded),
        compared=_compared(folded),
        measures=taken,
        labels=tuple(match[1] for match in rel.LABELLED.finditer(plain)),
        counts=_counts(plain, frozenset(word.folded for word in words)),
    )


def denies(text: str) -> bool:
    """Tell whether a text denies what it speaks of, by a `not` or by disliking it."""
    found = read(text)
    return found.negative != (dict(found.poles).get("liking") == DISLIKED)


def _folded(text: str) -> str:
    spelled = text.casefold()
    for cue, plain in _NOT:
        spelled = cue.sub(plain, spelled)
    return fold(" ".join(spelled.split()))


def _use(match: re.Match[str], used: set[str]) -> str:
    _take(match.group(), used)
    return " "


def _take(said: str, used: set[str]) -> None:
    """Note the words that something said stands for, hyphenated ones in parts too."""
    used.update(_WORD.findall(said), _PART.findall(said))


def _find(cue: re.Pattern[str], folded: str, used: set[str]) -> bool:
    found = [match.group() for match in cue.finditer(folded)]
    for said in found:
        _take(said, used)
    return bool(found)


def _poles(folded: str, used: set[str]) -> tuple[tuple[str, int], ...]:
    """Return the side a text takes on each axis; on none where it names two."""
    speaks = bool(LANGUAGE_OF.search(folded))
    found: dict[str, int] = {}
    for name, axis in AXES.items():
        if name == "language" and not speaks:
            continue
        sides = {match.lastindex: match for match in axis.finditer(folded)}
        if len(sides) == 1:
            found[name] = sides.popitem()[0] or 0
            _find(axis, folded, used)
    return tuple(found.items())


def _counts(folded: str, content_words: frozenset[str]) -> bool:
    """Tell whether every number stands before what it counts, or ends what names it."""
    spoken = _NUMBERED.findall(folded)
    for at, word in enumerate(spoken):
        if not is_number(word) or word.endswith(_ORDINAL) or "." in word:
            continue  # an ordinal is a date's, `3.12` a version's
        after, before = spoken[at + 1 : at + 2], spoken[at - 1 : at] if at else []
        if after and (after[0] in content_words or after[0] == "%") and not is_number(after[0]):
            continue
        if after or not before or before[0] in content_words:
            return False
    return True


def _side(said: str) -> str:
    late = {"after", "later", "past", "po", "pozniej", "после", "позже"}
    return "after" if said in late else "before"


def _keys(
    words: tuple[Word, ...], poles: tuple[tuple[str, int], ...], claims: tuple[Claim, ...]
) -> frozenset[str]:
    keys = {word.folded[:3] for word in words}
    keys.update(f"={group}" for word in words if (group := entry("synonym", word.folded)))
    keys.update(f"@{claim.slot}" for claim in claims)
    keys.update(f"~{name}" for name, _ in poles if name in STRONG)
    return frozenset(keys)


def _lacks(folded: str) -> tuple[Word, ...]:
    if rel.NEGATIVE.search(rel.LACKING.sub(" ", folded)):
        return ()
    return tuple(w for m in rel.LACKING.finditer(folded) for w in content(m[1] or ""))


def _replaced(folded: str) -> tuple[Word, ...]:
    for cue in rel.REPLACED:
        if match := cue.search(folded):
            return content(next(group for group in match.groups() if group))
    return ()


def _compared(folded: str) -> tuple[tuple[Word, ...], ...]:
    for cue in rel.COMPARED:
        if match := cue.search(folded):
            return content(match[1]), content(match[2])
    return ()


# --- slots --------------------------------------------------------------------------------


def _claims(text: str, folded: str, words: tuple[Word, ...]) -> tuple[Claim, ...]:
    known = {word.folded: word for word in words}
    proper = _proper(text)
    found: list[Claim] = []
    for slot in SLOTS:
        if slot.loss and (match := slot.loss.search(folded)):
            if claim := _claim(slot, match, folded, known, proper):
                found.append(replace(claim, negative=True))
        elif match := slot.cue.search(folded):
            found += filter(None, [_claim(slot, match, folded, known, proper)])
    return tuple(found)


def _proper(text: str) -> frozenset[str]:
    """Return the folded words that are written as names; any, in a text without capitals."""
    found = _WORD.findall(text)
    named = {fold(word) for word in found[1:] if word != word.lower()}
    if not named and len(found) > 1:
        named = {
            fold(w) for w in found[1:] if not entry("common", fold(w)) and len(w) >= _NAME_FROM
        }
        named = set() if text[:1].isupper() else named
    return frozenset(named - _USER)


def _claim(
    slot: Slot,
    match: re.Match[str],
    folded: str,
    known: dict[str, Word],
    proper: frozenset[str],
) -> Claim | None:
    before, tail = folded[: match.start()], folded[match.end() :]
    if slot.kind == "any":
        return _choice(match, folded, known)
    value = _value(slot, tail, known, proper)
    if not value:
        return None
    negative = bool(rel.NEGATIVE.search(before[-_NEGATION_REACH:]) or rel.PAST.search(folded))
    owner = _owner(slot, match.group(), before, tail, known, value)
    if slot.name in ("residence", "employer", "job") and len(owner) > 1:
        return None
    said = folded if slot.name in ("name", "age", "date", "measure") else before
    return Claim(slot.name, owner, value, negative, bool(rel.MANY.search(said)))


def _value(
    slot: Slot, tail: str, known: dict[str, Word], proper: frozenset[str]
) -> tuple[Word, ...]:
    """Return the words of a slot's value; empty where what follows is of another kind."""
    if slot.kind == "mail":
        return tuple(Word(mail, frozenset()) for mail in _MAIL.findall(tail)[:1])
    if slot.kind in ("time", "number"):
        taken = measures(tail, set())
        said = taken.times() if slot.kind == "time" else tuple(taken.numbers[:1])
        return tuple(Word(one, frozenset()) for one in said)
    clause = _CLAUSE.split(tail.strip(" :—–-"), maxsplit=1)[0]
    every = [word for word in _WORD.findall(clause) if word in known]
    spoken = [w for w in every if not (rel.CHANGE.fullmatch(w) or rel.NAMING.fullmatch(w))]
    if slot.kind == "word":
        return tuple(known[word] for word in spoken[:2])
    named = [word for word in spoken if word in proper and not _no_name(slot, word)]
    if slot.name in ("partner", "boss") and named and named[0] != next(iter(spoken), ""):
        return ()
    if slot.name == "residence" and any(entry("tool", word) for word in spoken):
        return ()
    return tuple(known[word] for word in named)


def _no_name(slot: Slot, word: str) -> bool:
    if entry("common", word) or measures(word, set()).times():
        return True
    return slot.name == "employer" and bool(entry("city", word) or entry("country", word))


def _owner(
    slot: Slot,
    cue: str,
    before: str,
    tail: str,
    known: dict[str, Word],
    value: tuple[Word, ...],
) -> tuple[Word, ...]:
    """Return whom or what a slot is about, besides the user."""
    said = f"{before} {cue} {tail}" if slot.name in ("date", "measure", "mail") else before
    if slot.name in ("partner", "boss", "name", "age"):
        said = f"{before} {cue} {tail}"
    used = {word.folded for word in value} | _YEARS
    for noise in (rel.CHANGE, rel.NOISE, rel.NEGATIVE, rel.NAMING):
        _find(noise, said, used)
    if slot.name not in ("partner", "boss", "date", "measure", "age"):
        used.update(_WORD.findall(cue))
    measures(said, used)
    return tuple(
        known[word]
        for word in dict.fromkeys(_WORD.findall(_POSSESSIVE.sub("", said)))
        if word in known and word not in used and word not in _USER
    )


def _choice(match: re.Match[str], folded: str, known: dict[str, Word]) -> Claim | None:
    """Return the claim of `favourite X is Y`, `Y is the default X`, `любимый X — Y`."""
    used: set[str] = set()
    for noise in (rel.CHANGE, rel.NOISE):
        _find(noise, folded, used)
    parts = _split(match, folded)
    sides = [[w for w in _WORD.findall(part) if w in known and w not in used] for part in parts]
    if len(sides) == 1 or not all(sides):
        return None
    here = 0 if len(parts[0]) > match.start() else 1
    if here and match.start() < len(parts[0]):
        here = 0
    owner, value = sides[here], sides[1 - here]
    return Claim("choice", tuple(known[w] for w in owner), tuple(known[w] for w in value))


def _split(match: re.Match[str], folded: str) -> list[str]:
    signs = SIGNS.search(folded)
    copula = signs or COPULA.search(folded)
    if copula:
        return [folded[: copula.start()], folded[copula.end() :]]
    words = _WORD.findall(folded[match.end() :])
    if len(words) <= 1:
        return [folded]
    head = folded.index(words[0], match.end()) + len(words[0])
    return [folded[:head], folded[head:]]
