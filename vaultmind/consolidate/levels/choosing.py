"""Which sentences sum up a talk: those that tell most, in few words, and not twice.

A sentence is worth the rareness of its content words that no chosen sentence has said yet (maximal
marginal relevance, Carbonell and Goldstein 1998, with words in place of vectors), more where it
is likely a lasting fact, decides or counts; less the longer it is, and where its message has
spoken already. Pure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from vaultmind.consolidate.facts.linear import probabilities
from vaultmind.consolidate.facts.statement import statement
from vaultmind.consolidate.levels.spoken import Spoken
from vaultmind.session.summary.weigh import same, tell, weight
from vaultmind.tokens import count

LENGTH = 0.3
"""Power of a sentence's tokens by which its worth falls."""
SAID_AGAIN = 0.2
"""Share of a word's worth that is left when it was said."""
OFTEN = 0.25
"""Power of the number of messages that say a word by which its worth grows."""
FACT = 1.0
"""What being surely a lasting fact adds to 1, ..."""
IMPORTANT = 0.5
"""... and what being as important as a sentence can be adds."""
MOST_IMPORTANT = 5.0
SAME_MESSAGE = 0.5
"""What is left of a sentence's worth when another of its message stands already."""
ASKING = 0.15
"""The same of a request or a question."""
SAID_BY_OTHERS = 0.65
"""The same of what is not the user's."""
FEW_WORDS = 3
"""Content words below which a sentence says little, unless it has a number."""
LOOKED_AT = 60
"""Sentences, the best by their words, of which it is asked whether they are facts."""
LABEL_TOKENS = 3
"""What naming the speaker costs, about."""


class Choice:
    """The sentences of a talk, or of several, with what each is worth."""

    def __init__(self, spoken: Sequence[Spoken]) -> None:
        self._spoken = spoken
        self._words = _rareness(spoken)
        telling = tell([one.read for one in spoken])
        self._weights = {
            id(one): weight(one.read, one.at, user=one.user, telling=share)
            for one, share in zip(spoken, telling, strict=True)
        }
        self._facts: dict[int, float] = {}

    def best(
        self,
        among: Sequence[Spoken],
        most: int,
        max_tokens: int,
        said: Sequence[Spoken] = (),
    ) -> list[Spoken]:
        """Return up to `most` sentences of at most `max_tokens` together, in their order.

        `said` are sentences that stand in the summary already.
        """
        covered = {stem for one in said for stem in one.read.stems}
        spent, chosen = 0, list[Spoken]()
        new = [one for one in among if not any(same(one.read, other.read) for other in said)]
        pool = [one for one in new if one.read.numbers or len(set(one.read.stems)) >= FEW_WORDS]
        pool = self._looked_at(pool or new)
        used: Counter[int] = Counter()
        while len(chosen) < most:
            pool = [one for one in pool if spent + _cost(one) <= max_tokens]
            if not pool:
                break
            one = max(pool, key=lambda it: (self._worth(it, covered, used), -it.at))
            pool.remove(one)
            chosen.append(one)
            spent += _cost(one)
            covered.update(one.read.stems)
            used[one.at] += 1
            pool = [other for other in pool if not same(other.read, one.read)]
        return sorted(chosen, key=self._spoken.index)

    def _looked_at(self, pool: list[Spoken]) -> list[Spoken]:
        nothing: Counter[int] = Counter()
        best = sorted(pool, key=lambda one: -self._worth(one, set(), nothing))[:LOOKED_AT]
        new = [one for one in best if id(one) not in self._facts]
        for one, likely in zip(new, probabilities([statement(n.text) for n in new]), strict=True):
            self._facts[id(one)] = 1 - likely["SKIP"]
        return best

    def _worth(self, one: Spoken, covered: set[str], used: Mapping[int, int]) -> float:
        stems = set(one.read.stems)
        gain = math.fsum(
            self._words[stem] * (SAID_AGAIN if stem in covered else 1.0) for stem in sorted(stems)
        )
        important = min(MOST_IMPORTANT, self._weights[id(one)]) / MOST_IMPORTANT
        factor = 1 + FACT * self._facts.get(id(one), 0.5) + IMPORTANT * important
        factor *= math.pow(SAME_MESSAGE, used.get(one.at, 0))
        factor *= (ASKING if one.asks else 1.0) * (1.0 if one.user else SAID_BY_OTHERS)
        return gain / math.pow(_cost(one), LENGTH) * factor


def _rareness(spoken: Sequence[Spoken]) -> dict[str, float]:
    """Return what each stem is worth: rare among sentences, and said in several messages."""
    seen = Counter(stem for one in spoken for stem in set(one.read.stems))
    messages = Counter(stem for _, stem in {(o.at, stem) for o in spoken for stem in o.read.stems})
    return {
        stem: math.log((1 + len(spoken)) / often) * messages[stem] ** OFTEN
        for stem, often in seen.items()
    }


def _cost(one: Spoken) -> int:
    return count(one.text) + LABEL_TOKENS
