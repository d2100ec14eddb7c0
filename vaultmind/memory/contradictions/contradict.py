"""Whether a new fact is the same as an old one, contradicts it, refines it, or neither.

A wrong "contradicts" loses a fact, so that it takes one subject and one relation: a slot of one
value (where someone lives), the same words with the opposite polarity, two poles of one axis
(short, long), another number or time of the same thing. When in doubt: unrelated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from vaultmind.memory.contradictions.alike import alike, covers, mutual, without
from vaultmind.memory.contradictions.axes import COMPATIBLE, LANGUAGE_OF, SCHEDULED, STRONG
from vaultmind.memory.contradictions.claims import Claim, Reading, read
from vaultmind.memory.contradictions.lexicon import entry
from vaultmind.memory.contradictions.relations import MANY, pattern
from vaultmind.memory.words import Word

Relation = Literal["same", "contradicts", "refines", "unrelated"]

FEW = 3
"""More words than these beside the topic are a condition or another matter."""
BIRTHDAYS = 2
"""A son who is older by more is another son."""
FEW_THINGS = 12
"""People count children and cats, and measure years, in other numbers."""
_RECURRING = pattern(
    r"""every|weekly|daily|each|standup|stand-up|mondays|tuesdays|wednesdays|thursdays|fridays|
    deadline|due|wakes?|gets? up|goe?s?(?: to)? (?:bed|sleep)|starts work|finishes work|
    co tydzień|w każdy|w każdą|codziennie|wstaje|wstaję|budzi|kładzie|zaczyna prac\w+|
    termin|kończy prac\w+|daily|
    каждый|каждую|ежедневн\w+|еженедельн\w+|стендап|встает|встаю|просыпа\w+|ложит\w+|
    начинает работ\w+|заканчивает работ\w+|дедлаин|срок"""
)
_EVENTFUL = pattern(
    r"""read|ran|visited|bought|watched|saw|was|were|likes?|loves?|went|scored|paid|
    przeczytał\w*|kupił\w*|odwiedził\w*|obejrzał\w*|był\w*|przebiegł\w*|lubi\w*|zapłacił\w*|
    прочита\w+|купил\w*|посетил\w*|посмотрел\w*|был|была|пробежал\w*|любит|люблю|заплатил\w*"""
)


def relation(new: str, old: str) -> Relation:
    """Return how a new fact stands to an old one.

    `refines`: both hold, and one says more of the same.
    """
    one, other = read(new), read(old)
    if one.said == other.said:
        return "same"
    if not _touch(one, other):
        return "unrelated"
    if one.labels and other.labels and one.labels != other.labels:
        return "unrelated"
    if _compatible(one, other):
        return "unrelated" if one.negative or other.negative else "refines"
    if one.hedged != other.hedged:
        return "refines" if covers(other.topic, one.topic) and other.topic else "unrelated"
    return _by_day(one, other) or _by_slots(one, other) or _by_rest(one, other)


def _by_rest(new: Reading, old: Reading) -> Relation:
    return _by_words(new, old) or _by_frame(new, old)


def _by_day(new: Reading, old: Reading) -> Relation | None:
    return "contradicts" if _due_anew(new, old) else None


def _touch(new: Reading, old: Reading) -> bool:
    """Tell whether two facts can have to do with each other: cheap, asked of every pair."""
    return not new.keys.isdisjoint(old.keys) or (new.changed and not new.topic)


def contradicted(new: str, facts: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of the old facts that a new one replaces.

    A new fact without a topic of its own ("moved to Thursday") means the only one it can.
    """
    found = tuple(at for at, old in enumerate(facts) if relation(new, old) == "contradicts")
    bare = not read(new).topic and not read(new).claims and not read(new).poles
    return () if bare and len(found) > 1 else found


# --- slots of one value -------------------------------------------------------------------


def _by_slots(new: Reading, old: Reading) -> Relation | None:
    for one in new.claims:
        for other in old.claims:
            if one.slot == other.slot and (found := _claims(one, other, new)):
                return found
    return None


def _claims(one: Claim, other: Claim, new: Reading) -> Relation | None:
    """Return how two claims of one slot stand; None where the slot does not decide."""
    if not mutual(one.owner, other.owner):
        return "unrelated" if one.slot != "choice" else None
    shared = [word for word in one.value if any(alike(word, past) for past in other.value)]
    if one.negative or other.negative:
        return _taken_back(one, other, shared=bool(shared))
    if shared:
        return _overlapping(one, other) if one.slot == "choice" else None
    if _a_country(other) and not _a_country(one):
        return "unrelated"
    if one.slot == "age" and one.many:
        return "contradicts" if _older(one, other) else "unrelated"
    doubt = one.many or _of_another_kind(one, other) or _a_country(one) != _a_country(other)
    return "contradicts" if new.changed or not doubt else "unrelated"


def _older(one: Claim, other: Claim) -> bool:
    """Tell whether a child named without a name had a birthday since."""
    years = [claim.value[0].folded for claim in (one, other)]
    now, then = (int(year) if year.isdigit() else 0 for year in years)
    return 0 < now - then <= BIRTHDAYS


def _taken_back(one: Claim, other: Claim, *, shared: bool) -> Relation | None:
    if one.negative == other.negative:
        return None if shared else "unrelated"
    return "contradicts" if shared else "unrelated"


def _overlapping(one: Claim, other: Claim) -> Relation | None:
    both = mutual(one.value, other.value)
    inside = covers(one.value, other.value) or covers(other.value, one.value)
    return None if both or inside else "contradicts"


def _a_country(claim: Claim) -> bool:
    """Tell whether someone is said to live in a country: a town named next may lie in it."""
    named = any(entry("country", word.folded) for word in claim.value)
    return named and claim.slot == "residence"


def _of_another_kind(one: Claim, other: Claim) -> bool:
    """Tell whether two values may be one in two scripts, or times of different kinds."""
    if one.slot == "date":
        return one.value[0].folded[:3] != other.value[0].folded[:3]
    latin = {claim.value[0].folded.isascii() for claim in (one, other)}
    return len(latin) > 1 and one.slot != "residence"


# --- what a fact says it puts aside --------------------------------------------------------


def _by_words(new: Reading, old: Reading) -> Relation | None:
    if new.compared and old.compared:
        (more, less), (liked, other) = new.compared, old.compared
        if mutual(more, other) and mutual(less, liked):
            return "contradicts"
        return "same" if mutual(more, liked) and mutual(less, other) else "unrelated"
    aside = new.replaced
    if not aside or (new.negative and not new.changed and len(aside) > FEW):
        return None
    if not covers(aside, old.words) or old.negative:
        return None
    rest = without(old.words, aside)
    core = _core(rest)
    used = len(core) < len(rest) and len(core) <= 1 and len(new.topic) <= len(aside) + 1
    return "contradicts" if not rest or used or covers(core, new.words) else None


def _core(words: tuple[Word, ...]) -> tuple[Word, ...]:
    verbs = pattern(
        r"us(?:e|es|ing)|lik\w+|prefer\w*|works?|working|drives?|"
        r"używa\w*|korzysta\w*|lubi\w*|woli|pracuj\w+|jeździ\w*|"
        r"любит|использу\w+|пользу\w+|работа\w+|ездит"
    )
    return tuple(word for word in words if not verbs.fullmatch(word.folded))


# --- one topic, and what is said of it -----------------------------------------------------


def _by_frame(new: Reading, old: Reading) -> Relation:
    only_when = new.changed and not (new.topic or new.poles or new.claims)
    if only_when or not (new.topic or old.topic):
        return _bare(new, old)
    over, under = covers(old.topic, new.topic), covers(new.topic, old.topic)
    if not (over or under):
        return "unrelated"
    if not (new.topic and old.topic):
        return _of_person(new, old)
    return _equal_topics(new, old) if over and under else _unequal_topics(new, old, over=over)


def _bare(new: Reading, old: Reading) -> Relation:
    strong = _shared_poles(new, old) & STRONG
    if strong:
        return _equal_topics(new, old)
    if new.changed and _moved(new, old) and not old.negative:
        return "contradicts"
    if (new.claims and old.claims) or mutual(new.words, old.words):
        return _equal_topics(new, old)
    return "unrelated"


def _of_person(new: Reading, old: Reading) -> Relation:
    """Compare facts of which one names but a strong axis: a diet, a marriage."""
    if not _shared_poles(new, old) & STRONG:
        return "unrelated"
    if not _odd(new, old):
        return "refines"
    extra = sum(not LANGUAGE_OF.fullmatch(word.folded) for word in new.topic)
    return "contradicts" if (new.changed and extra <= FEW) or not extra else "unrelated"


def _equal_topics(new: Reading, old: Reading) -> Relation:
    if _freed(new, old):
        return "contradicts"
    if differing := _mismatched(new, old):
        return _opposite(new, old, differing)
    if new.measures == old.measures:
        poles = dict(new.poles).items() ^ dict(old.poles).items()
        return "refines" if poles - {("liking", 1)} else "same"
    return _measured(new, old)


def _opposite(new: Reading, old: Reading, differing: set[str]) -> Relation:
    """Compare facts of one topic that take different sides on some axes."""
    if not _odd(new, old):
        return "same" if new.measures == old.measures else "unrelated"
    if _timed(new) != _timed(old) and not new.changed:
        return "refines" if old.negative == new.negative else _general(new, old)
    if "not" in differing and _limited(*((new, old) if new.negative else (old, new))):
        return "unrelated"
    return "contradicts" if new.changed or not differing <= SCHEDULED else "unrelated"


def _general(new: Reading, old: Reading) -> Relation:
    """Compare opposite facts of which one holds at a time only: `not on Mondays` allows others."""
    positive = old if new.negative else new
    return "contradicts" if _timed(positive) else "refines"


def _unequal_topics(new: Reading, old: Reading, *, over: bool) -> Relation:
    """Compare facts of which one says more; `over`: the new one.

    `Never X` denies `X with Y`; `never X with Y` leaves X.
    """
    wider, narrower = (new, old) if over else (old, new)
    differing = _mismatched(new, old)
    if differing == {"not"} and wider.lacks and covers(wider.lacks, narrower.topic):
        return "contradicts" if new.changed and over else "unrelated"
    if not differing or (differing == {"not"} and wider.lacks):
        return "refines" if _within(narrower, wider) else "unrelated"
    extra = len(without(wider.topic, narrower.topic))
    if not _odd(new, old) or new.negative == old.negative:
        return "unrelated"
    if not wider.negative:
        return "contradicts" if extra == 1 and _acts(new, old) else "unrelated"
    sides = set(narrower.poles) <= set(wider.poles)
    told = new.changed and over and sides and not (_timed(new) and not _timed(old))
    return "contradicts" if told and extra < FEW else "unrelated"


def _due_anew(new: Reading, old: Reading) -> bool:
    """Tell whether a thing is due on another day, which the old fact said with how much it is."""
    counted = {*new.measures.numbers} < {*old.measures.numbers}
    alone = covers(new.topic, old.topic) and len(without(old.topic, new.topic)) == 1
    if not (counted and alone and _moved(new, old)) or _mismatched(new, old):
        return False
    return all(_RECURRING.search(" ".join(one.said)) for one in (new, old)) and _acts(new, old)


def _within(narrower: Reading, wider: Reading) -> bool:
    """Tell whether all that one fact says beside its topic is said by the other too."""
    mine, theirs = narrower.measures, wider.measures
    timed = set(mine.times()) <= set(theirs.times()) and set(mine.numbers) <= set(theirs.numbers)
    return timed and set(narrower.poles) <= set(wider.poles)


def _limited(negative: Reading, positive: Reading) -> bool:
    """Tell whether a denial is of one kind only: `no loud music` is not `no music`."""
    return bool({name for name, _ in negative.poles} - {name for name, _ in positive.poles})


def _acts(new: Reading, old: Reading) -> bool:
    """Tell whether the shorter topic is more than one bare word, which many facts mention."""
    return min(len(new.topic), len(old.topic)) > 1 or covers(old.topic[-1:], new.topic[-1:])


def _measured(new: Reading, old: Reading) -> Relation:
    """Compare two positive facts of one topic that name different numbers or times."""
    one, other = new.measures, old.measures
    said, before = " ".join(new.said), " ".join(old.said)
    if not (_timed(old) or other.numbers) or not (_timed(new) or one.numbers):
        return "refines"
    if one.numbers != other.numbers and one.numbers and other.numbers:
        same_times = one.times() == other.times()
        if _EVENTFUL.search(said) or not same_times or _EVENTFUL.search(before):
            return "unrelated"
        if len(one.numbers) != len(other.numbers) or not (new.counts and old.counts):
            return "unrelated"
        return "unrelated" if MANY.search(said) and not _few(new, old) else "contradicts"
    if not _moved(new, old):
        return "refines" if set(other.times()) <= set(one.times()) else "unrelated"
    sure = new.changed or _RECURRING.search(said) or (new.bound and new.bound == old.bound)
    return "contradicts" if sure else "unrelated"


def _few(new: Reading, old: Reading) -> bool:
    """Tell whether the numbers count things (two children), not measure one of many (aged 5)."""
    small = (int(n) for n in (*new.measures.numbers, *old.measures.numbers) if n.isdigit())
    return len(new.topic) == 1 and all(number <= FEW_THINGS for number in small)


def _moved(new: Reading, old: Reading) -> bool:
    """Tell whether both name a time of one kind, and not the same one."""
    pairs = [
        (new.measures.days, old.measures.days),
        (new.measures.clocks, old.measures.clocks),
        (new.measures.dates, old.measures.dates),
    ]
    if not new.measures.dates and not old.measures.dates:
        pairs.append((new.measures.months, old.measures.months))
    differ = [one.isdisjoint(other) for one, other in pairs if one and other]
    return any(differ)


def _freed(new: Reading, old: Reading) -> bool:
    """Tell whether one allows any time and the other sets a bound."""
    return (new.anytime and bool(old.bound)) or (old.anytime and bool(new.bound))


def _timed(one: Reading) -> bool:
    return bool(one.measures.times())


def _mismatched(new: Reading, old: Reading) -> set[str]:
    """Return the axes on which two facts take different sides, `not` among them."""
    before = dict(old.poles)
    found = {name for name, pole in new.poles if before.get(name, pole) != pole}
    if new.negative != old.negative:
        found.add("not")
    if new.bound and old.bound and new.bound != old.bound:
        found.add("bound")
    return found


def _compatible(new: Reading, old: Reading) -> bool:
    """Tell whether both stand on poles of which one takes in the other.

    A denial of the narrower one says nothing of the wider: who is no vegan may eat no meat.
    """
    before = dict(old.poles)
    for name, pole in new.poles:
        poles = {pole, before.get(name, pole)}
        narrow = next((max(pair) for pair in COMPATIBLE.get(name, ()) if max(pair) in poles), 0)
        if narrow and len(poles) > 1:
            denied = new if pole == narrow else old
            other = old if denied is new else new
            if poles in COMPATIBLE[name] or denied.negative or other.negative:
                return True
    return False


def _odd(new: Reading, old: Reading) -> bool:
    """Tell whether the differences do not cancel out: `hates long`, `likes short` agree."""
    return len(_mismatched(new, old)) % 2 == 1


def _shared_poles(new: Reading, old: Reading) -> set[str]:
    return {name for name, _ in new.poles} & {name for name, _ in old.poles}
