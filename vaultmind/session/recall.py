"""What is recalled before an answer: of the conversation itself, and of lasting memory.

Both are found by the same search. An answer waits for it, so lasting memory (notes, facts, past
conversations) is asked only where the conversation itself has no good match. What is found there
leads on to what comes to mind with it, along links and tags and by one step of attention
(`index.related`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import filterfalse, islice, takewhile
from typing import Any, NamedTuple

from vaultmind.errors import VaultMindError
from vaultmind.index.embed import scale_of
from vaultmind.index.results import passage, sought
from vaultmind.index.words import Term, query_terms, shortened
from vaultmind.memory.contradictions import FACT_TOLD, superseded
from vaultmind.ports import Related
from vaultmind.redact import mask
from vaultmind.session.parts import OUTDATED, SHOWN, PartName, Piece, bare
from vaultmind.session.sentences import CONTEXT_LANGUAGES, small_words
from vaultmind.tokens import clip
from vaultmind.types import Caller, Chunk, Hit, Message, Neighbour, SearchRequest, SearchResponse

ONE_WORD = 0.75
"""Relevance that a query of a single telling word needs: it is often no question at all."""
GIVEN_ON = 0.65
"""Share of an old question's relevance that what was said after it gets: enough to be shown by
itself, and less than would keep lasting memory from being asked (`context.recall_gate`)."""
NEARLY = 0.8
"""Share of the best score from which a fact stands before what was said."""
SIZES: dict[PartName, tuple[int, ...]] = {"memory": (50, 35, 20), "associations": (25, 14)}
"""Tokens of a piece, the longest that fits first."""
WORK = "about work on another task: plans and searches cover it"
MOST_UNANSWERED = 3
"""Messages at the end that are taken for the question where none is named."""
MOST_CHARACTERS = 300
"""A longer message says something besides its question."""
_LONE = re.compile("[\0-\u05ff]|u(?:2[67]|1f[3-9a])[0-9a-f]{2}")
"""A letter of the scripts in which one is no word, or an emoji as `index.words` writes it."""
_ASKS = re.compile(r"[?？؟][\s\"'»”’)\]*_~]*(?:\^[A-Za-z0-9-]+\s*)?$")
_LEAD = re.compile(r"\A[-*+•][ \t]+")
"""What makes a line an item of a list: the piece is one itself."""
_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]|!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKUP = re.compile(
    r"^[ \t]{0,80}(?:#{1,6}[ \t]|>[ \t]?(?:\[![^\]]*\][-+]?)?|\|?[-:| ]{5,}$)"
    r"|[ \t]\^[A-Za-z0-9-]+[ \t]*$|\*+|==",
    re.M,
)
_HEADING = re.compile(r"\A\s*#{1,6}[ \t][^\n]*(?:\n|\Z)")

Search = Callable[[SearchRequest, Caller], SearchResponse]
Skips = Callable[[Hit], bool]


# --- words --------------------------------------------------------------------------------


def telling_terms(terms: Sequence[Term]) -> list[Term]:
    """Return the words that can say by themselves what a question is about.

    A lone letter, digit or emoji does not, nor several side by side as in `2+2`; of a script that
    has words: a single character of another may be one.
    """
    kept = (one for one in terms if not (one.stop or one.plain in small_words()))
    return [one for one in kept if not _LONE.fullmatch(one.plain)]


@lru_cache(maxsize=2048)
def telling_stems(text: str) -> tuple[frozenset[str], ...]:
    """Return the single words of a text that tell something, each as its stems."""
    terms = telling_terms(query_terms(text[:MOST_CHARACTERS], CONTEXT_LANGUAGES))
    return tuple(frozenset(one.stems) for one in terms if one.plain)


def _new_words(text: str, query: str) -> tuple[frozenset[str], int]:
    """Return the stems of a query, and how many words of a text are none of them."""
    asked = frozenset[str]().union(*telling_stems(query))
    return asked, sum(asked.isdisjoint(one) for one in telling_stems(text))


def only_asks(text: str, query: str) -> bool:
    """Tell whether a text asks what a query asks, and says nothing: it is no answer.

    An old question has all the words of the new one, so it would stand above what answers it.
    """
    if len(text) > MOST_CHARACTERS or not _ASKS.search(text):
        return False
    asked, new = _new_words(text, query)
    return bool(asked) and new <= 1 and len(telling_stems(text)) > 2 * new


# --- finding ------------------------------------------------------------------------------


class Found(NamedTuple):
    """What a question found, and why nothing of it is shown."""

    hits: Sequence[Hit] = ()
    """Their scores are on the scale of `recall.relevance`."""
    best: float = 0.0
    """The score of the best, from 0 to 1."""
    reason: str = ""
    least: float = 0.0
    """The score that the best must have."""


@dataclass(frozen=True, slots=True)
class Recall:
    """Finds what answers a question. Any thread."""

    search: Search
    related: Related

    def find(
        self, request: SearchRequest, caller: Caller, least: tuple[str, float], skips: Skips
    ) -> Found:
        """Return what a search finds that says something, but what is to be skipped.

        Nothing is good enough where the best is not as relevant as `least` says, a setting and its
        value.
        """
        query, (setting, relevance) = request.query, least
        telling = len(telling_terms(query_terms(query, ("en",))))
        if not telling:
            return Found(reason="it has no words to search for" if query else "nothing was asked")
        try:
            answer = self.search(replace(request, max_tokens=100_000, apart=True), caller)
            found = [*filterfalse(skips, self._answers(answer.hits, request, caller))]
        except VaultMindError as error:  # the index is being repaired: the rest is there
            return Found(reason=f"it could not be searched: {error}")
        scale = scale_of(answer.state.embedder)
        hits = [replace(hit, score=scale.reading(hit.score)) for hit in found]
        relevance = max(relevance, ONE_WORD) if telling == 1 else relevance
        best = max((hit.score for hit in hits), default=0.0)
        if not hits:
            return Found(reason=answer.message or "nothing was found")
        if best < relevance:
            reason = f"the best match scores {best:.2f}, below {setting} ({relevance:.2f})"
            return Found((), best, reason)
        return Found(hits, best, least=relevance)

    def tied(self, *asked: Any) -> list[Neighbour]:  # noqa: ANN401
        """Return what is related to what was found: see `Related`; none where it cannot be read."""
        try:
            return self.related.related(*asked)
        except VaultMindError:
            return []

    def _answers(
        self, hits: Sequence[Hit], request: SearchRequest, caller: Caller
    ) -> Iterable[Hit]:
        """Return the hits that say something, once each.

        In the place of a question that asks the same stands what was said after it.
        """
        asks = {hit.id: hit for hit in hits if only_asks(hit.text, request.query)}
        replies = self.related.replies([*asks.values()], request.agent, caller) if asks else {}
        found = dict[str, Hit]()
        for hit in hits:
            reply, asked = replies.get(hit.id), request.query
            if hit.id not in asks:
                found.setdefault(hit.id, hit)
            elif reply and (_new_words(reply.text, asked)[1] or re.search(r"\d", reply.text)):
                # it says more than the words of the question: it may be the answer
                found.setdefault(reply.id, replace(reply, score=GIVEN_ON * reply.score))
        return found.values()


# --- as it is shown -----------------------------------------------------------------------


def key_of(message: Message) -> str:
    """Return what a message is called everywhere: its own id, else its block id."""
    return message.id or message.block


def spoken(
    message: Message, words: dict[str, str], most: int, at: int, *, link: bool = False
) -> Piece:
    """Return a message as it is shown, in so many tokens at most, with a link to it if asked."""
    place = f"[[#^{message.block}]]" if link and message.block else ""
    who = " ".join(filter(None, (words.get(message.role, message.role), message.speaker, place)))
    text = f"{who}: {message.text.strip()}"
    shown = clip(text, most)
    return Piece((shown,), at, message.time[:10], key_of(message) if shown == text else "")


def remembered(hits: Sequence[Hit], query: str, shown: Sequence[str]) -> list[Piece]:
    """Return what lasting memory says, as the search ranks it: that finds more than scores do.

    But a fact that answers nearly as well as the best goes first: what was said may be put right.
    Facts that a newer one contradicts, of them or of what is `shown`, are left out.
    """
    best = max((hit.score for hit in hits), default=0.0)
    hits = sorted(hits, key=lambda hit: hit.kind != "fact" or hit.score < NEARLY * best)
    facts = [hit for hit in hits if hit.kind == "fact"]
    others = [fact for text in shown for fact in FACT_TOLD.findall(text)] if facts else []
    old = superseded([*((hit.text, hit.time[:10]) for hit in facts), *others])
    outdated = [hit for at, hit in enumerate(facts) if at in old]
    pieces = []
    for at, hit in enumerate(hits):
        told = [hit.time[:10], hit.speaker] if hit.kind in ("message", "fact") else []
        reason = WORK if hit.kind == "episode" else OUTDATED if hit in outdated else ""
        one = piece_of(hit, "memory", query, ", ".join(filter(None, told)))
        pieces.append(replace(one, at=at, why=f"{hit.score:.2f}", reason=reason or one.reason))
    return pieces


def piece_of(one: Hit | Chunk, name: PartName, query: str, told: str) -> Piece:
    """Return what is shown of something found: a link that can be fetched, and what it says."""
    text, about = _LEAD.sub("", one_line(one.text)), sought(query, CONTEXT_LANGUAGES)
    lead = f"- [[{one.path.removesuffix('.md')}{one.anchor}]] {told}".rstrip()
    texts = tuple(f"{lead}: {passage(text, about, one.lang, size)}" for size in SIZES[name])
    reason = SHOWN if bare(text) in bare(one.title) else ""
    return Piece(texts, source=f"{one.path}{one.anchor}", says=bare(text), reason=reason)


def one_line(text: str) -> str:
    """Return a text as one line without the marks of Markdown that say nothing in it.

    Nor the heading that it begins with, which its link names, unless there is nothing else.
    """
    body = _HEADING.sub("", text, count=1)
    plain = _LINK.sub(lambda match: match[1] or match[2] or "", body if body.strip() else text)
    return " ".join(_MARKUP.sub("", plain).split())


# --- what waits for an answer -------------------------------------------------------------


class Waiting(NamedTuple):
    """What waits for an answer, and the conversation before it."""

    texts: tuple[str, ...]
    before: Sequence[Message]
    keys: tuple[str, ...]
    """Of those that are written down in the conversation already."""

    @property
    def query(self) -> str:
        """Return what is looked for."""
        return shortened("\n".join(self.texts).strip())


def waiting(messages: Sequence[Message], pending: Sequence[str]) -> Waiting:
    """Return what waits: what the caller says, else what the user said last, unanswered.

    What is pending may be written down already: it then stands at the end of the conversation, or
    before what the assistant has said and done about it so far; secrets are masked there.
    """
    texts, at = tuple(filter(None, map(str.strip, pending))), len(messages)
    while texts and at and messages[at - 1].role != "user":
        at -= 1
    newest = islice(reversed(messages[:at]), len(texts) or MOST_UNANSWERED)
    last = [*takewhile(lambda one: one.role == "user" and one.text.strip(), newest)][::-1]
    said = {*texts, *(mask(text).text.strip() for text in texts)}
    logged = [one for one in last if not texts or one.text.strip() in said]
    keys = tuple(map(key_of, logged))
    texts = texts or tuple(one.text.strip() for one in logged)
    return Waiting(texts, [one for one in messages if key_of(one) not in keys], keys)
