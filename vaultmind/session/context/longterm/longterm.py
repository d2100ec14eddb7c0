"""Lasting memory before an answer: what notes, facts and past conversations say to it.

Asked where the conversation itself has no good answer, or where its topic is new; otherwise nothing
is looked for, since an answer waits for it. What is found leads on to what comes to mind with it
(`session.association`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from vaultmind.config.settings import AssociationConfig, RecallConfig
from vaultmind.errors import BadArgument
from vaultmind.index.embed import scale_of
from vaultmind.index.where import message_number
from vaultmind.index.words.terms import query_terms
from vaultmind.memory.dated import OUTDATED, facts_told, superseded
from vaultmind.ports import Related
from vaultmind.session.context.budget import more_than
from vaultmind.session.context.longterm.association import Frame, association_part
from vaultmind.session.context.longterm.excerpt import Sought, excerpt, one_line, sought
from vaultmind.session.context.longterm.lasting import link_to, words_in
from vaultmind.session.context.parts import Dropped, Part
from vaultmind.session.recall.asking import (
    GIVEN_ON,
    Question,
    only_asks,
    question,
    says_something,
    telling_terms,
)
from vaultmind.session.recall.autorag import ONE_WORD
from vaultmind.session.recall.triggers import LANGUAGES, small_words
from vaultmind.tokens import count
from vaultmind.types import KINDS, Caller, Chunk, Hit, SearchRequest, SearchResponse
from vaultmind.vault.paths import VaultPaths

MOST_CHARACTERS = 200
"""Of a piece."""
SHORT_CHARACTERS = 80
"""A piece is cut to no less to make it fit; it is left out instead."""
DEPTH = 12
"""Hits looked at: some stand in the context already."""
PER_NOTE = 2
MOST_QUERY = 2000
"""Characters of a question that are looked for: of a longer one, which is a paste, its ends."""

SHOWN = "stands in the context already"

_LEAD = re.compile(r"\A[-*+•][ \t]+")
"""What makes a line an item of a list: the piece is one itself."""
_WORD = re.compile(r"[^\W_]+")
WORK = "of work for another task: plans and searches tell of it"
_NOT_SAID = tuple(kind for kind in KINDS if kind != "message")

Search = Callable[[SearchRequest, Caller], SearchResponse]


@dataclass(frozen=True, slots=True)
class LongTermSettings:
    """When lasting memory is asked, and how much of it may be shown."""

    recall: RecallConfig
    association: AssociationConfig
    gate: float
    """Where the conversation's best match is as good, only a new topic asks."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What lasting memory is asked, and what the answer may cost."""

    query: str
    """The pending messages, joined as auto-RAG joins them, so that one vector serves both."""
    agent: str
    caller: Caller
    session: str
    """The running one, whose messages are no lasting memory yet; empty where there is none."""
    language: str
    room_tokens: int
    association_tokens: int
    shown: tuple[str, ...] = ()
    """Texts that stand in the context already: what they say is not said again."""
    best: float = 0.0
    """Relevance of the conversation's own best match, from 0 to 1."""
    topic_is_new: bool = True
    since: str = ""
    """Block id of the first message of the running segment: what was said before it, in earlier
    segments, may be recalled. Empty: nothing of the session may."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What came of it: a part each where there is something to show, and what is left out."""

    memory: Part | None = None
    associations: Part | None = None
    dropped: tuple[Dropped, ...] = ()


@dataclass(slots=True)
class _Pieces:
    """What is taken of the hits, within the room."""

    lines: list[str]
    taken: list[Hit] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)


class _Said:
    """Texts that are shown already, compared by their words alone."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._plain = [_words_of(text) for text in texts]

    def add(self, text: str) -> None:
        """Take one more."""
        self._plain.append(_words_of(text))

    def holds(self, text: str, title: str) -> bool:
        """Tell whether a text is said already, or says no more than its own title."""
        plain = _words_of(one_line(text))
        return plain in _words_of(title) or any(plain in one for one in self._plain)


def _words_of(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


class LongTerm:
    """Recalls from lasting memory, and what comes to mind through it. Any thread."""

    def __init__(
        self, search: Search, related: Related, paths: VaultPaths, settings: LongTermSettings
    ) -> None:
        self._search = search
        self._related = related
        self._paths = paths
        self._settings = settings

    def recall(self, ask: Ask) -> Brought:
        """Return what lasting memory says to a question, within the room."""
        if not self._settings.recall.enabled:
            return _nothing("switched off")
        query = _ends(ask.query.strip())
        least = self._least(query)
        if not query or least is None:
            return _nothing("nothing in it to look for" if query else "nothing was asked")
        if ask.best >= self._settings.gate and not ask.topic_is_new:
            said = f"the conversation itself has a match of {ask.best:.2f}, and no new topic"
            return _nothing(said)
        try:
            answer = self._search(self._request(query, ask), ask.caller)
        except BadArgument as error:  # an agent that is not there, or not for this caller
            return _nothing(str(error))
        scale = scale_of(answer.state.embedder)
        found, asked_again = self._what_says(answer.hits, query, ask)
        read = [replace(hit, score=scale.reading(hit.score)) for hit in found]
        hits = [hit for hit in read if hit.score >= least]
        if not hits:
            said = (
                _why_nothing(read, answer, least, self._settings.recall.relevance)
                if not asked_again
                else ""
            )
            return Brought(None, None, asked_again or (Dropped("memory", said),))
        about = sought(query, LANGUAGES, small_words())
        memory, dropped = self._memory(hits, ask, about, _Said((*ask.shown, query)))
        brought = Brought(memory, None, (*asked_again, *dropped))
        return self._with_associations(brought, query, found, (ask, about))

    def _what_says(
        self, hits: Sequence[Hit], query: str, ask: Ask
    ) -> tuple[list[Hit], tuple[Dropped, ...]]:
        """Return the hits that say something, and which old questions are left out.

        In the place of a question that asks the same stands what was said after it.
        """
        asked = question(query)
        asks = [hit for hit in hits if only_asks(hit.text, asked)]
        if not asks:
            return list(hits), ()
        replies = self._related.replies(asks, ask.agent, ask.caller)
        says: dict[str, Hit] = {}
        for hit in hits:
            if hit not in asks:
                says.setdefault(hit.id, hit)
            elif (reply := replies.get(hit.id)) and self._answers(reply, ask, asked):
                says.setdefault(reply.id, replace(reply, score=GIVEN_ON * reply.score))
        if 2 * len(asks) > len(hits):  # many copies: what says something may stand behind them
            request = replace(self._request(query, ask), kinds=_NOT_SAID)
            for hit in self._search(request, ask.caller).hits:
                if not only_asks(hit.text, asked):
                    says.setdefault(hit.id, hit)
        reason = "only asks the same"
        return list(says.values()), tuple(Dropped(_place(hit), reason) for hit in asks)

    def _answers(self, reply: Hit, ask: Ask, asked: Question) -> bool:
        """Tell whether what was said after a question says something that is not shown anyway."""
        number = message_number(reply.anchor.removeprefix("#^"))
        own = ask.session and reply.path == self._paths.session(ask.agent, ask.session)
        if own and not 0 < number < message_number(ask.since):
            return False
        return says_something(reply.text, asked) and not only_asks(reply.text, asked)

    def _least(self, query: str) -> float | None:
        """Return the score that a hit must have; None where a question asks nothing."""
        telling = len(telling_terms(query_terms(query, ("en",))))
        least = self._settings.recall.relevance
        return None if not telling else least if telling > 1 else max(least, ONE_WORD)

    def _request(self, query: str, ask: Ask) -> SearchRequest:
        running = self._paths.session(ask.agent, ask.session) if ask.session else ""
        depth = max(DEPTH, 4 * self._settings.recall.top_k)
        return SearchRequest(
            query,
            limit=depth,
            agent=ask.agent,
            per_note=PER_NOTE,
            max_tokens=100_000,
            running=running,
            since=ask.since,
            apart=True,  # what is shown of them is chosen here
        )

    def _memory(
        self, hits: Sequence[Hit], ask: Ask, about: Sought, said: _Said
    ) -> tuple[Part | None, tuple[Dropped, ...]]:
        """Return the pieces that are shown as one part, and what is left out and why.

        They stand as the search ranks them, which finds more than the order of their scores does.
        """
        room = min(ask.room_tokens, self._settings.recall.max_tokens)
        if room < 1:  # whoever gives none knows why
            return None, ()
        pieces = _Pieces([words_in(ask.language).memory])
        old = _outdated(hits, ask.shown)
        pieces.dropped += [Dropped(_place(hit), OUTDATED) for hit in old]
        for hit in (one for one in hits if one not in old):
            self._take(hit, pieces, (ask, about, said), room)
        if not pieces.taken:
            return None, tuple(pieces.dropped)
        text = "\n".join(pieces.lines)
        sources = tuple(map(_place, pieces.taken))
        why = ", ".join(f"{hit.score:.2f}" for hit in pieces.taken)
        return Part("memory", text, count(text), sources, why=why), tuple(pieces.dropped)

    def _take(self, hit: Hit, pieces: _Pieces, asked: tuple[Ask, Sought, _Said], room: int) -> None:
        """Add a hit to the pieces, or say why it is left out."""
        ask, about, said = asked
        place = _place(hit)
        if self._is_running(hit.path, ask) or said.holds(hit.text, hit.title):
            pieces.dropped.append(Dropped(place, SHOWN))
            return
        if hit.kind == "episode":
            pieces.dropped.append(Dropped(place, WORK))
            return
        if len(pieces.taken) >= self._settings.recall.top_k:
            most = self._settings.recall.top_k
            reason = f"only the best {most} are shown (raise recall.top_k)"
            pieces.dropped.append(Dropped(place, reason))
            return
        for most in (MOST_CHARACTERS, (MOST_CHARACTERS + SHORT_CHARACTERS) // 2, SHORT_CHARACTERS):
            piece = _LEAD.sub("", excerpt(hit.text, about, hit.lang, most))
            if said.holds(piece, ""):
                pieces.dropped.append(Dropped(place, SHOWN))
                return
            line = _line(hit, piece)
            if count("\n".join([*pieces.lines, line])) <= room:
                pieces.lines.append(line)
                pieces.taken.append(hit)
                said.add(hit.text)
                return
        most = self._settings.recall.max_tokens
        pieces.dropped.append(Dropped(place, _full(room, most, "recall.max_tokens")))

    def _with_associations(
        self, brought: Brought, query: str, hits: Sequence[Hit], asked: tuple[Ask, Sought]
    ) -> Brought:
        """Return the same with what comes to mind through what was found."""
        ask, about = asked
        settings = self._settings.association
        room = min(ask.association_tokens, settings.max_tokens)
        if room < 1:
            return brought
        taken = brought.memory.sources if brought.memory else ()
        notes = {hit.path for hit in hits if hit.kind == "note" and _place(hit) in taken}
        said = _Said((*ask.shown, query, brought.memory.text if brought.memory else ""))
        near = [
            one
            for one in self._related.related(query, hits, ask.agent, ask.caller, settings.gate)
            if one.chunk.path not in notes and not self._is_shown(one.chunk, ask, said)
        ]
        full = _full(room, settings.max_tokens, "association.max_tokens")
        frame = Frame(words_in(ask.language), about, room, full)
        part, dropped = association_part(near, {hit.id: hit for hit in hits}, frame)
        if not near:
            reason = f"nothing is tied to what was found as strongly as {settings.gate:.2f}"
            dropped = (Dropped("associations", reason),)
        return Brought(brought.memory, part, (*brought.dropped, *dropped))

    def _is_shown(self, chunk: Chunk, ask: Ask, said: _Said) -> bool:
        if self._is_running(chunk.path, ask) or said.holds(chunk.text, chunk.title):
            return True
        if not ask.session or chunk.path != self._paths.session(ask.agent, ask.session):
            return False
        number = message_number(chunk.anchor.removeprefix("#^"))
        return not 0 < number < message_number(ask.since)

    def _is_running(self, path: str, ask: Ask) -> bool:
        """Tell whether a file is a sliding summary of the running session.

        Or the active context, which has a place of its own: it stands there, or it is of the
        running session itself, which says the same better.
        """
        if path == self._paths.active_context(ask.agent):
            return True
        folder, _, name = path.rpartition("/")
        if not ask.session or folder != f"{self._paths.summaries(ask.agent)}/rolling":
            return False
        stem = name.removesuffix(".md")
        return stem == ask.session or stem.rpartition("-")[0] == ask.session


def _outdated(hits: Sequence[Hit], shown: Sequence[str]) -> list[Hit]:
    """Return the facts that a newer one, of them or of what is shown, contradicts."""
    facts = [hit for hit in hits if hit.kind == "fact"]
    others = [fact for text in shown for fact in facts_told(text)] if facts else []
    old = superseded([*((hit.text, hit.time[:10]) for hit in facts), *others])
    return [hit for at, hit in enumerate(facts) if at in old]


def _full(room: int, most: int, key: str) -> str:
    """Return which limit leaves out what does not fit, and what to raise."""
    if room >= most:
        return more_than(most, key)
    return f"more than {room:,} tokens, which this budget leaves (raise it)"


def _nothing(reason: str) -> Brought:
    return Brought(dropped=(Dropped("memory", reason),))


def _why_nothing(read: Sequence[Hit], answer: SearchResponse, least: float, usual: float) -> str:
    if read:
        best = max(hit.score for hit in read)
        most = " for a question of one telling word" if least > usual else ""
        said = f"the best match has {best:.2f}, less than {least:.2f}{most}"
        return f"{said} (recall.relevance is {usual:.2f})"
    return answer.message or "nothing was found"


def _ends(query: str) -> str:
    """Return a question; of a very long one, which is a paste, its beginning and its end."""
    if len(query) <= MOST_QUERY:
        return query
    return f"{query[: MOST_QUERY // 2]}\n{query[-MOST_QUERY // 2 :]}"


def _place(hit: Hit) -> str:
    return f"{hit.path}{hit.anchor}"


def _line(hit: Hit, piece: str) -> str:
    said = ", ".join(one for one in (hit.time[:10], hit.speaker) if one)
    said = said if hit.kind in ("message", "fact") else ""
    return f"- {' '.join(one for one in (link_to(hit.path, hit.anchor), said) if one)}: {piece}"
