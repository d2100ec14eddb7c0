"""Lasting memory before an answer: what notes, facts and past conversations say to it.

Asked where the conversation itself has no good answer; otherwise nothing is looked for, since an
answer waits for it. What is found leads on to what comes to mind with it,
along links and tags and by one step of attention (`index.related`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from vaultmind.config import Config
from vaultmind.index.columns import message_number
from vaultmind.index.embed import scale_of
from vaultmind.index.results import passage, sought
from vaultmind.index.words import query_terms
from vaultmind.memory.contradictions import OUTDATED, facts_told, superseded
from vaultmind.ports import Related
from vaultmind.session.parts import Dropped, Part, PartName, more_than
from vaultmind.session.recall import GIVEN_ON, ONE_WORD, only_asks, says_something, telling_terms
from vaultmind.session.sentences import CONTEXT_LANGUAGES, context_words
from vaultmind.tokens import count
from vaultmind.types import Caller, Chunk, Hit, SearchRequest, SearchResponse
from vaultmind.vault.paths import VaultPaths

SIZES: dict[PartName, tuple[int, ...]] = {"memory": (50, 35, 20), "associations": (25, 14)}
"""Tokens of a piece, the longest that fits first."""
DEPTH, PER_NOTE = 12, 2
"""Hits looked at, since some stand in the context already; of one note."""
SHOWN = "stands in the context already"
WORK = "of work for another task: plans and searches tell of it"
_LEAD = re.compile(r"\A[-*+•][ \t]+")
"""What makes a line an item of a list: the piece is one itself."""
_WORD = re.compile(r"[^\W_]+")
_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]|!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKUP = re.compile(
    r"^[ \t]{0,80}(?:#{1,6}[ \t]|>[ \t]?(?:\[![^\]]*\][-+]?)?|\|?[-:| ]{5,}$)"
    r"|[ \t]\^[A-Za-z0-9-]+[ \t]*$|\*+|==",
    re.M,
)
_HEADING = re.compile(r"\A\s*#{1,6}[ \t][^\n]*(?:\n|\Z)")

Search = Callable[[SearchRequest, Caller], SearchResponse]


@dataclass(frozen=True, slots=True)
class Ask:
    """What lasting memory is asked, and what the answer may cost."""

    query: str
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
    since: str = ""
    """Block id of the first message of the running segment: what was said before it, in earlier
    segments, may be recalled. Empty: nothing of the session may."""


Brought = tuple[list[Part], list[Dropped]]
"""Lasting memory and associations, where there is something to show, and what is left out."""


class _Piece(NamedTuple):
    """What may be shown of a hit, or the reason why it is not."""

    one: Hit | Chunk
    lead: str
    strength: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LongTerm:
    """Recalls from lasting memory, and what comes to mind through it. Any thread."""

    search: Search
    related: Related
    paths: VaultPaths
    config: Config

    def recall(self, ask: Ask) -> Brought:
        """Return what lasting memory says to a question, within the room."""
        settings, query = self.config.recall, ask.query.strip()
        telling = len(telling_terms(query_terms(query, ("en",))))
        reason = "" if telling else "nothing in it to look for" if query else "nothing was asked"
        if ask.best >= self.config.context.recall_gate:
            reason = f"the conversation itself has a match of {ask.best:.2f}"
        if reason or not settings.enabled:
            return _nothing(reason or "switched off")
        request = SearchRequest(
            query,
            limit=max(DEPTH, 4 * settings.top_k),
            agent=ask.agent,
            per_note=PER_NOTE,
            max_tokens=100_000,
            running=self.paths.session(ask.agent, ask.session) if ask.session else "",
            since=ask.since,
            apart=True,  # what is shown of them is chosen here
        )
        answer = self.search(request, ask.caller)
        scale, found = scale_of(answer.state.embedder), self._answers(answer.hits, ask)
        read = [replace(hit, score=scale.reading(hit.score)) for hit in found]
        least = max(settings.relevance, ONE_WORD) if telling == 1 else settings.relevance
        hits = [hit for hit in read if hit.score >= least]
        if not read:
            return _nothing(answer.message or "nothing was found")
        if not hits:
            best = f"the best match has {max(hit.score for hit in read):.2f}"
            return _nothing(f"{best}, less than recall.relevance {least:.2f}")
        memory, dropped = self._memory(hits, ask)
        near, others = self._associations(found, ask, memory)
        return [*memory, *near], [*dropped, *others]

    def _answers(self, hits: Sequence[Hit], ask: Ask) -> list[Hit]:
        """Return the hits that say something.

        In the place of a question that asks the same stands what was said after it.
        """
        asks = [hit for hit in hits if only_asks(hit.text, ask.query)]
        replies = self.related.replies(asks, ask.agent, ask.caller) if asks else {}
        found: dict[str, Hit] = {}
        for hit in hits:
            reply = replies.get(hit.id)
            if hit not in asks:
                found.setdefault(hit.id, hit)
            elif reply and says_something(reply.text, ask.query) and not self._is_own(reply, ask):
                found.setdefault(reply.id, replace(reply, score=GIVEN_ON * reply.score))
        return list(found.values())

    def _memory(self, hits: Sequence[Hit], ask: Ask) -> Brought:
        """Return the pieces that are shown as one part, and what is left out and why.

        They stand as the search ranks them, which finds more than the order of their scores does.
        """
        old = _outdated(hits, ask.shown)

        def piece(hit: Hit) -> _Piece:
            told = [hit.time[:10], hit.speaker] if hit.kind in ("message", "fact") else []
            lead = f"- {_link(hit)} {', '.join(filter(None, told))}".rstrip()
            reason = WORK if hit.kind == "episode" else OUTDATED if hit in old else ""
            return _Piece(hit, f"{lead}: ", hit.score, SHOWN if self._is_own(hit, ask) else reason)

        most = self.config.recall.top_k
        return _filled("memory", map(piece, hits), ask.room_tokens, "recall", ask, most)

    def _associations(self, hits: Sequence[Hit], ask: Ask, memory: Sequence[Part]) -> Brought:
        """Return what comes to mind through what was found, the strongest first."""
        least, words = self.config.association.gate, context_words(ask.language)
        room = ask.association_tokens
        if room < 1:
            return [], []
        names = {hit.id: hit.path.rpartition("/")[2].removesuffix(".md") for hit in hits}
        sources = [source for part in memory for source in part.sources]
        notes = {hit.path for hit in hits if _place(hit) in sources}
        near = list[_Piece]()
        for one in self.related.related(ask.query, hits, ask.agent, ask.caller, least):
            if one.chunk.path not in notes and not self._is_own(one.chunk, ask):
                way = words[one.tie].format(x=names.get(one.to, ""), tag=one.name)
                near.append(_Piece(one.chunk, f"- {_link(one.chunk)} ({way}): ", one.strength))
        if not near:
            reason = f"nothing is tied to what was found as strongly as {least:.2f}"
            return [], [Dropped("associations", reason)]
        ask = replace(ask, shown=(*ask.shown, *(part.text for part in memory)))
        return _filled("associations", near, room, "association", ask, len(near))

    def _is_own(self, one: Hit | Chunk, ask: Ask) -> bool:
        """Tell whether something is of the running conversation, which has places of its own.

        Its messages since its segment began, its sliding summaries, and the active context.
        """
        if not ask.session or one.path == self.paths.active_context(ask.agent):
            return one.path == self.paths.active_context(ask.agent)
        if one.path == self.paths.session(ask.agent, ask.session):
            number = message_number(one.anchor.removeprefix("#^"))
            return not 0 < number < message_number(ask.since)
        rolling = f"{self.paths.summaries(ask.agent)}/rolling/{ask.session}"
        return one.path.startswith((f"{rolling}.", f"{rolling}-"))


def _filled(
    name: PartName, pieces: Iterable[_Piece], room: int, key: str, ask: Ask, most: int
) -> Brought:
    """Return a part of as many pieces as fit, and why the others are left out."""
    about = sought(ask.query, CONTEXT_LANGUAGES)
    known = [_words_of(text) for text in (*ask.shown, ask.query)]
    lines, dropped, taken = [context_words(ask.language)[name]], list[Dropped](), list[_Piece]()
    for piece in pieces:
        one, text = piece.one, _LEAD.sub("", one_line(piece.one.text))
        told = [f"{piece.lead}{passage(text, about, one.lang, size)}" for size in SIZES[name]]
        says, reason = _words_of(text), piece.reason
        if not reason and (says in _words_of(one.title) or any(says in other for other in known)):
            reason = SHOWN
        if not reason and len(taken) >= most:
            reason = f"only the best {most} are shown (raise recall.top_k)"
        line = next((line for line in told if count("\n".join([*lines, line])) <= room), "")
        if reason or not line:
            dropped.append(Dropped(_place(one), reason or more_than(room, f"{key}.max_tokens")))
            continue
        lines.append(line)
        taken.append(piece)
        known.append(says)
    text, why = "\n".join(lines), ", ".join(f"{one.strength:.2f}" for one in taken)
    sources = tuple(_place(piece.one) for piece in taken)
    return [Part(name, text, count(text), sources, why=why)] if taken else [], dropped


def _outdated(hits: Sequence[Hit], shown: Sequence[str]) -> list[Hit]:
    """Return the facts that a newer one, of them or of what is shown, contradicts."""
    facts = [hit for hit in hits if hit.kind == "fact"]
    others = [fact for text in shown for fact in facts_told(text)] if facts else []
    old = superseded([*((hit.text, hit.time[:10]) for hit in facts), *others])
    return [hit for at, hit in enumerate(facts) if at in old]


def _nothing(reason: str) -> Brought:
    return [], [Dropped("memory", reason)]


def _words_of(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _place(one: Hit | Chunk) -> str:
    return f"{one.path}{one.anchor}"


def _link(one: Hit | Chunk) -> str:
    """Return a link that Obsidian opens and that can be fetched."""
    return f"[[{one.path.removesuffix('.md')}{one.anchor}]]"


def one_line(text: str) -> str:
    """Return a text as one line without the marks of Markdown that say nothing in it.

    Nor the heading that it begins with, which its link names, unless there is nothing else.
    """
    body = _HEADING.sub("", text, count=1)
    bare = _LINK.sub(lambda match: match[1] or match[2] or "", body if body.strip() else text)
    return " ".join(_MARKUP.sub("", bare).split())
