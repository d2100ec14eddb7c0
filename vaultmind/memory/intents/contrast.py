"""What is wrong and what is right in "she lives in Leeds now, not in Bath": a word against a word.

A rule may take the whole clause as what is right. Here it is cut down to what stands against the
wrong words, by the small words that both begin with, and by what joins a subject to what is said
of it. The lists are the language's own: `contrast`, `instead`, `lead`, `link`, `fading`.
"""

from __future__ import annotations

from vaultmind.memory.counts import is_count, is_turns
from vaultmind.memory.intents.nodes import Stretch
from vaultmind.memory.intents.rules import Rules
from vaultmind.memory.intents.spans import Span
from vaultmind.memory.intents.tokens import COMMA, SPACE

Slots = dict[str, Span]
MAX_OLD = 5
"""Words that can be called wrong; more are a sentence of its own."""


def contrasted(rules: Rules, stretch: Stretch, slots: Slots) -> Slots:
    """Return a correction's slots, `old` found and `new` cut down where the words show them."""
    if "new" not in slots:
        return slots
    if "old" not in slots:
        return _not_old(rules, stretch, slots["new"]) or _instead(rules, stretch, slots) or slots
    old, new = slots["old"], slots["new"]
    first = _skip(rules, "lead", _skip(rules, "link", *old, stretch), old[1], stretch)
    bare = _lasting(rules, stretch, (first, old[1]))
    if new[1] > old[0]:  # "not in Bath but in Leeds": the new words come last
        return {**slots, "old": bare, "new": (_skip(rules, "lead", *new, stretch), new[1])}
    return {**slots, "old": bare, "new": _against(rules, stretch, new, old)}


def _not_old(rules: Rules, stretch: Stretch, new: Span) -> Slots | None:
    """Return the slots of "… Leeds, not (in) Bath"; None where it does not say that."""
    first, last = new
    for word in range(last - 1, first, -1):
        if stretch.gaps[word] != COMMA:
            continue
        ends = _ends(rules, "contrast", word, last, stretch)
        if ends and word - first >= 1 and last - ends[0] <= MAX_OLD:
            lead = _skip(rules, "lead", ends[0], last, stretch)
            old = (lead, last)
            return {"old": old, "new": _against(rules, stretch, (first, word), (ends[0], last))}
    return None


def _instead(rules: Rules, stretch: Stretch, slots: Slots) -> Slots | None:
    """Return the slots of "… not in Bath but in Leeds"; None where it does not say that."""
    first, last = slots["new"]
    for word in range(first + 1, last):
        nots = _ends(rules, "contrast", word, last, stretch)
        for turn in range((nots[0] if nots else last) + 1, min(last, word + MAX_OLD + 2)):
            turned = _ends(rules, "instead", turn, last, stretch)
            if turned and stretch.gaps[turn] == COMMA:
                old = (_skip(rules, "lead", nots[0], turn, stretch), turn)
                new = (_skip(rules, "lead", turned[0], last, stretch), last)
                return {"old": old, "new": new}
    return None


def _against(rules: Rules, stretch: Stretch, new: Span, old: Span) -> Span:
    """Return the part of `new` that stands against `old`."""
    first, last = _lasting(rules, stretch, new)
    led = [
        after
        for word in range(first, last - 1)
        for name in ("lead", "link")
        for after in _ends(rules, name, word, last, stretch)
        if after < last
    ]
    opening = stretch.words[old[0]]
    if opening.isdigit() and old[1] - old[0] == 1 and stretch.words[last - 1].isdigit():
        return last - 1, last
    if is_count(opening):
        return _counted(stretch, (first, last), old)
    same = [word for word in range(first, last) if stretch.words[word] == opening]
    if same and not _ends(rules, "lead", old[0], old[1], stretch):
        return max(same), last  # "a Skoda, not a Honda"
    if led:
        return max(led), last
    many = old[1] - _skip(rules, "lead", old[0], old[1], stretch)
    return (max(first, last - many), last) if last - first > many + 1 else (first, last)


def _counted(stretch: Stretch, new: Span, old: Span) -> Span:
    """Return the number that stands against an old one, with its "times" and what follows alike.

    Where several numbers may be meant it is all of the new words: no word of them is lost.
    """
    first = new[0]
    if not any(is_count(stretch.words[word]) for word in range(*new)):
        while first > 0 and stretch.gaps[first] == SPACE:  # the rule took "three times a" for who
            first -= 1
    runs: list[Span] = []
    for word in range(first, new[1]):
        if not is_count(stretch.words[word]):
            continue
        if runs and runs[-1][1] == word:
            runs[-1] = runs[-1][0], word + 1
        else:
            runs.append((word, word + 1))
    if len(runs) != 1:
        return new
    start, end = runs[0]
    if end < new[1] and is_turns(stretch.words[end]):
        end += 1
    many = old[1] - old[0]
    if many > 1:
        alike = stretch.words[start + 1 : start + many] == stretch.words[old[0] + 1 : old[1]]
        end = start + many if alike else new[1]
    elif new[1] - end == 1:  # "two cats"
        end = new[1]
    return start, min(end, new[1])


def _lasting(rules: Rules, stretch: Stretch, span: Span) -> Span:
    """Return some words without a "now" or "any more" at their end."""
    first, last = span
    for word in range(first + 1, last):
        if last in _ends(rules, "fading", word, last, stretch):
            return first, word
    return span


def _skip(rules: Rules, name: str, word: int, last: int, stretch: Stretch) -> int:
    """Return the word after one of a list's, where something follows it."""
    after = _ends(rules, name, word, last, stretch)
    return after[0] if after and after[0] < last else word


def _ends(rules: Rules, name: str, word: int, last: int, stretch: Stretch) -> list[int]:
    """Return where a list's words end that begin at a word, the farthest first."""
    ends = {end >> 1 for end in rules.ends(name, word, stretch)}
    return sorted((end for end in ends if word < end <= last), reverse=True)
