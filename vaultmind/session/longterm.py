"""Lasting memory before an answer: what notes, facts and past conversations say to it.

Asked where the conversation itself has no good answer; otherwise nothing is looked for, since an
answer waits for it. What is found leads on to what comes to mind with it,
along links and tags and by one step of attention (`index.related`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from vaultmind.config import Config
from vaultmind.errors import BadArgument
from vaultmind.index.embed import scale_of
from vaultmind.index.results import passage, sought
from vaultmind.index.where import message_number
from vaultmind.index.words.terms import query_terms
from vaultmind.memory.contradictions import OUTDATED, facts_told, superseded
from vaultmind.plural import counted
from vaultmind.ports import Related
from vaultmind.session.parts import Dropped, Part, PartName, more_than
from vaultmind.session.recall import GIVEN_ON, ONE_WORD, only_asks, says_something, telling_terms
from vaultmind.session.sentences import CONTEXT_LANGUAGES, context_words
from vaultmind.tokens import count
from vaultmind.types import KINDS, Caller, Chunk, Hit, SearchRequest, SearchResponse
from vaultmind.vault.paths import VaultPaths

PIECES, NEAR_PIECES = (50, 35, 20), (25, 14)
"""Tokens of a piece, the longest that fits first; of what comes to mind."""
DEPTH, PER_NOTE = 12, 2
"""Hits looked at, since some stand in the context already; of one note."""
MOST_QUERY = 2000
"""Characters of a question that are looked for: of a longer one, which is a paste, its ends."""
SHOWN = "stands in the context already"
WORK = "of work for another task: plans and searches tell of it"
_LEAD = re.compile(r"\A[-*+•][ \t]+")
"""What makes a line an item of a list: the piece is one itself."""
_WORD = re.compile(r"[^\W_]+")

_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]|!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKUP = re.compile(
    r"^[ \t]{0,80}(?:#{1,6}[ \t]|>[ \t]?(?:\[![^\]]*\][-+]?)?|\|?[-:| ]{5,}$)", re.M
)
_HEADING = re.compile(r"\A\s*#{1,6}[ \t][^\n]*(?:\n|\Z)")
_EMPHASIS = re.compile(r"\*+|==")
_BLOCK_ID = re.compile(r"[ \t]\^[A-Za-z0-9-]+[ \t]*$", re.M)

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


@dataclass(frozen=True, slots=True)
class Brought:
    """What came of it: a part each where there is something to show, and what is left out."""

    memory: Part | None = None
    associations: Part | None = None
    dropped: tuple[Dropped, ...] = ()


@dataclass(slots=True)
class _Pieces:
    """Lines taken within a room, and the texts that are shown already, as words."""

    name: PartName
    lines: list[str]
    room: int
    shown: list[str]
    sources: list[str] = field(default_factory=list)
    why: list[str] = field(default_factory=list)

    def holds(self, text: str, title: str = "") -> bool:
        """Tell whether a text is said already, or says no more than its own title."""
        plain = _words_of(one_line(text))
        return plain in _words_of(title) or any(plain in one for one in self.shown)

    def take(self, lines: Sequence[str], source: str, strength: float) -> bool:
        """Take the first of some lines that fits; return whether one does."""
        for line in lines:
            if count("\n".join([*self.lines, line])) <= self.room:
                self.lines.append(line)
                self.sources.append(source)
                self.why.append(f"{strength:.2f}")
                return True
        return False

    def part(self) -> Part | None:
        """Return what was taken; None where nothing was."""
        text, why = "\n".join(self.lines), ", ".join(self.why)
        part = Part(self.name, text, count(text), tuple(self.sources), why=why)
        return part if self.sources else None


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
        if len(query) > MOST_QUERY:
            query = f"{query[: MOST_QUERY // 2]}\n{query[-MOST_QUERY // 2 :]}"
        telling = len(telling_terms(query_terms(query, ("en",))))
        reason = "" if settings.enabled else "switched off"
        if not reason and not telling:
            reason = "nothing in it to look for" if query else "nothing was asked"
        if not reason and ask.best >= self.config.context.recall_gate:
            reason = f"the conversation itself has a match of {ask.best:.2f}"
        if reason:
            return _nothing(reason)
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
        try:
            answer = self.search(request, ask.caller)
        except BadArgument as error:  # an agent that is not there, or not for this caller
            return _nothing(str(error))
        found, dropped = self._without_questions(answer.hits, request, ask)
        scale = scale_of(answer.state.embedder)
        read = [replace(hit, score=scale.reading(hit.score)) for hit in found]
        least = max(settings.relevance, ONE_WORD) if telling == 1 else settings.relevance
        hits = [hit for hit in read if hit.score >= least]
        if not read and not dropped:
            return _nothing(answer.message or "nothing was found")
        if not hits and not dropped:
            best = max(hit.score for hit in read)
            return _nothing(
                f"the best match has {best:.2f}, less than {least:.2f}"
                f" (recall.relevance is {settings.relevance:.2f})"
            )
        memory = self._memory(hits, query, ask, dropped)
        near = self._associations(found, query, ask, memory, dropped) if hits else None
        return Brought(memory, near, tuple(dropped))

    def _without_questions(
        self, hits: Sequence[Hit], request: SearchRequest, ask: Ask
    ) -> tuple[list[Hit], list[Dropped]]:
        """Return the hits that say something, and which old questions are left out.

        In the place of a question that asks the same stands what was said after it.
        """
        query = request.query
        asks = [hit for hit in hits if only_asks(hit.text, query)]
        replies = self.related.replies(asks, ask.agent, ask.caller) if asks else {}
        found: dict[str, Hit] = {}
        for hit in hits:
            reply = replies.get(hit.id)
            if hit not in asks:
                found.setdefault(hit.id, hit)
            elif reply and says_something(reply.text, query) and not self._is_own(reply, ask):
                found.setdefault(reply.id, replace(reply, score=GIVEN_ON * reply.score))
        if 2 * len(asks) > len(hits):  # many copies: what says something may stand behind them
            kinds = tuple(kind for kind in KINDS if kind != "message")
            for hit in self.search(replace(request, kinds=kinds), ask.caller).hits:
                found.setdefault(hit.id, hit)
        kept = [hit for hit in found.values() if not only_asks(hit.text, query)]
        return kept, [Dropped(_place(hit), "only asks the same") for hit in asks]

    def _memory(
        self, hits: Sequence[Hit], query: str, ask: Ask, dropped: list[Dropped]
    ) -> Part | None:
        """Return the pieces that are shown as one part; say what is left out and why.

        They stand as the search ranks them, which finds more than the order of their scores does.
        """
        settings, old = self.config.recall, _outdated(hits, ask.shown)
        about = sought(query, CONTEXT_LANGUAGES)
        room = min(ask.room_tokens, settings.max_tokens)
        if room < 1 or not hits:  # whoever gives none knows why
            return None
        shown = [_words_of(text) for text in (*ask.shown, query)]
        pieces = _Pieces("memory", [context_words(ask.language)["memory"]], room, shown)
        for hit in hits:
            texts = _told(hit, about, PIECES)
            told = [hit.time[:10], hit.speaker] if hit.kind in ("message", "fact") else []
            head = f"- {_link(hit)} {', '.join(filter(None, told))}".rstrip()
            is_shown = self._is_own(hit, ask) or pieces.holds(hit.text, hit.title)
            if hit in old:
                reason = OUTDATED
            elif is_shown or pieces.holds(texts[0]):
                reason = SHOWN
            elif hit.kind == "episode":
                reason = WORK
            elif len(pieces.sources) >= settings.top_k:
                reason = f"only the best {settings.top_k} are shown (raise recall.top_k)"
            elif pieces.take([f"{head}: {text}" for text in texts], _place(hit), hit.score):
                pieces.shown.append(_words_of(hit.text))
                continue
            else:
                reason = more_than(room, "recall.max_tokens")
            dropped.append(Dropped(_place(hit), reason))
        return pieces.part()

    def _associations(
        self, hits: Sequence[Hit], query: str, ask: Ask, memory: Part | None, dropped: list[Dropped]
    ) -> Part | None:
        """Return what comes to mind through what was found, the strongest first."""
        settings, words = self.config.association, context_words(ask.language)
        room = min(ask.association_tokens, settings.max_tokens)
        if room < 1:
            return None
        texts = (*ask.shown, query, memory.text if memory else "")
        shown = [_words_of(text) for text in texts]
        about = sought(query, CONTEXT_LANGUAGES)
        pieces = _Pieces("associations", [words["associations"]], room, shown)
        notes = {hit.path for hit in hits if memory and _place(hit) in memory.sources}
        near = [
            one
            for one in self.related.related(query, hits, ask.agent, ask.caller, settings.gate)
            if one.chunk.path not in notes and not self._is_own(one.chunk, ask)
            if not pieces.holds(one.chunk.text, one.chunk.title)
        ]
        names = {hit.id: _name_of(hit) for hit in hits}
        for one in near:
            chunk, way = one.chunk, words[one.tie].format(x=names.get(one.to, ""), tag=one.name)
            lead = f"- {_link(chunk)} ({way}): "
            lines = [lead + text for text in _told(chunk, about, NEAR_PIECES)]
            pieces.take(lines, _place(chunk), one.strength)
        if not near:
            reason = f"nothing is tied to what was found as strongly as {settings.gate:.2f}"
            dropped.append(Dropped("associations", reason))
        elif left := len(near) - len(pieces.sources):
            reason = more_than(room, "association.max_tokens")
            dropped.append(Dropped(counted(left, "association"), reason))
        return pieces.part()

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


def _outdated(hits: Sequence[Hit], shown: Sequence[str]) -> list[Hit]:
    """Return the facts that a newer one, of them or of what is shown, contradicts."""
    facts = [hit for hit in hits if hit.kind == "fact"]
    others = [fact for text in shown for fact in facts_told(text)] if facts else []
    old = superseded([*((hit.text, hit.time[:10]) for hit in facts), *others])
    return [hit for at, hit in enumerate(facts) if at in old]


def _nothing(reason: str) -> Brought:
    return Brought(dropped=(Dropped("memory", reason),))


def _words_of(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _place(one: Hit | Chunk) -> str:
    return f"{one.path}{one.anchor}"


def _link(one: Hit | Chunk) -> str:
    """Return a link that Obsidian opens and that can be fetched."""
    return f"[[{one.path.removesuffix('.md')}{one.anchor}]]"


def _name_of(hit: Hit) -> str:
    """Return what a person calls a place: a note by its name, a block with its id."""
    stem = hit.path.rpartition("/")[2].removesuffix(".md")
    return stem + hit.anchor if hit.anchor.startswith("#^") else stem


def _told(one: Hit | Chunk, about: frozenset[str], sizes: Sequence[int]) -> list[str]:
    """Return what a hit says that is asked about, in so many tokens each."""
    text = _LEAD.sub("", one_line(one.text))
    return [passage(text, about, one.lang, most) for most in sizes]


def one_line(text: str) -> str:
    """Return a text as one line without the marks of Markdown that say nothing in it.

    Nor the heading that it begins with, which its link names, unless there is nothing else.
    """
    body = _HEADING.sub("", text, count=1)
    bare = _BLOCK_ID.sub("", _MARKUP.sub("", body if body.strip() else text))
    bare = _LINK.sub(lambda match: match[1] or match[2] or "", bare)
    return " ".join(_EMPHASIS.sub("", bare).split())
