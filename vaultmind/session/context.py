"""The context before an answer: ordered parts within a budget, and what was left out and why.

Where the budget is small, what waits for an answer comes first, then what the caller says of its
tools, then who the agent is and what it knows, then what was said earlier and matters, the summary,
lasting memory, associations; the last messages take all that is left.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Protocol

from vaultmind.config import Config
from vaultmind.errors import BadArgument, NotFound, UnreadableNote, VaultMindError
from vaultmind.index.words.language import detect
from vaultmind.plural import counted
from vaultmind.ports import Embedder, Report, silent
from vaultmind.session.conversation import View, key_of
from vaultmind.session.files import Hides, Shows, read_text
from vaultmind.session.longterm import Ask, Brought
from vaultmind.session.parts import (
    BETWEEN_TOKENS,
    NO_ROOM,
    PART_NAMES,
    BuildRequest,
    BuiltContext,
    Dropped,
    Part,
    PartName,
    joined,
    more_than,
)
from vaultmind.session.past_runs import runs_part, without_runs
from vaultmind.session.recall import RecallRequest, context_words, dated, recall
from vaultmind.session.start import Beginning, start_context
from vaultmind.session.subagents import History, block_of, history
from vaultmind.session.summary import Rolling, Window, fitting, shown
from vaultmind.session.window import (
    LONGEST_TOKEN,
    MARK,
    Picked,
    Waiting,
    cut,
    entry_of,
    pick,
    waiting,
)
from vaultmind.tokens import clip, count
from vaultmind.types import Caller
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import agent_name
from vaultmind.vault.properties import front_matter

START_SHARE, START_TOKENS = 0.3, 240
"""Of a budget, that identity, brain and active context take even if all others want room; or so
many tokens, where half of it holds them."""
RAG_SHARE, SUMMARY_SHARE, MEMORY_SHARE, ASSOCIATION_SHARE = 0.4, 0.2, 0.15, 0.05
"""Of a budget, that what was said earlier may take where the caller named it; others at most."""
WINDOW_SHARE, TOOLS_SHARE = 0.1, 0.5
"""Kept for the last messages whatever is recalled; tools' share of what pending messages leave."""
HEADING_TOKENS, MIN_SUMMARY_TOKENS, MIN_FOLD_TOKENS = 12, 20, 400
"""What a heading costs at most; what a summary is cut to at least; and a window is not
called full for being asked for with less: the summary is everybody's."""
LEAST_FIRST: tuple[PartName, ...] = (
    "associations",
    "memory",
    "active context",
    "summary",
    "history",
    "earlier",
    "brain",
    "tools",
    "identity",
)
"""What goes first where the estimates of the parts missed their sum."""
START_NAMES: tuple[PartName, ...] = ("identity", "brain", "active context")
ENDED = "it has ended, and a new one begins"

log = logging.getLogger(__name__)


class Conversations(Protocol):
    """The conversations in memory."""

    def view(self, agent: str, session: str = "") -> View | None:
        """Return a conversation as it stands, the agent's latest for ""; None if there is none."""
        ...

    def fold(self, view: View, window: Window, report: Report = silent) -> View:
        """Return it with what is due folded into its summary."""
        ...


class Memory(Protocol):
    """Lasting memory."""

    def recall(self, ask: Ask) -> Brought:
        """Return what it says to a question, within the room."""
        ...


@dataclass(frozen=True, slots=True)
class ContextSources:
    """What contexts are built of."""

    reader: VaultReader
    shows: Shows
    hides: Hides
    talks: Conversations
    memory: Memory
    embedder: Callable[[], Embedder | None]
    """Returns the index's embedder once it is loaded."""
    config: Config
    excludes: Callable[[str], bool] = lambda path: False
    """Tells whether the person's rules keep a vault-relative path from everybody."""

    def hides_run(self, file: str, line: int) -> bool:
        """Tell whether a line of a sub-agent's runs, nobody's alone, is hidden of any agent."""
        block, agents = block_of(line), self.reader.paths.agent_names()
        return any(self.hides(agent, file, block) for agent in agents)


# --- building -----------------------------------------------------------------------------


@dataclass(slots=True)
class _Draft:
    """A context while it is built: what is left, what stands in it, what does not and why."""

    request: BuildRequest
    caller: Caller
    budget: int
    config: Config
    left: int
    parts: dict[PartName, Part] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def frame(self) -> int:
        """Return what stands around a part."""
        return self.request.frame_tokens + BETWEEN_TOKENS

    @property
    def room(self) -> int:
        """Return what the text of one more part may cost."""
        return max(0, self.left - self.frame)

    @property
    def is_explicit(self) -> bool:
        """Tell whether the caller named the budget."""
        return self.request.budget is not None

    def cap(self, share: float, most: int) -> int:
        """Return what a part may take: its own limit, or its share of a small budget."""
        return min(most, int(share * self.budget))

    def wants(self, name: PartName) -> bool:
        """Tell whether a part may be in the context at all."""
        return name not in self.request.without

    def add(self, part: Part | None) -> None:
        """Take a part and pay for it; nothing for None or an empty one."""
        if part is not None and part.text:
            self.parts[part.name] = part
            self.left -= part.tokens + self.frame

    def drop(self, what: str, reason: str) -> None:
        """Note what is left out."""
        self.dropped.append(Dropped(what, reason))

    def finished(self, session: str = "", segment: int = 0) -> BuiltContext:
        """Return the context; what the estimates let in too much is taken out again."""
        for name in LEAST_FIRST:
            if self._excess() > 0 and self.parts.pop(name, None) is not None:
                self.drop(f"the {name}", NO_ROOM)
        window = self.parts.get("window")
        if window is not None and (excess := self._excess()) > 0:
            text = clip(window.text, window.tokens - excess)
            self.parts["window"] = replace(window, text=text, tokens=count(text), messages=())
            if not text:
                self.drop("the pending messages", NO_ROOM)
        shown_ = sorted(self.parts.values(), key=lambda one: PART_NAMES.index(one.name))
        parts = tuple(one for one in shown_ if one.text)
        return BuiltContext(
            agent=self.request.agent,
            session=session,
            segment=segment,
            budget=self.budget,
            tokens=self._cost(parts),
            parts=parts,
            dropped=tuple(dict.fromkeys(self.dropped)),
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def _excess(self) -> int:
        return self._cost(tuple(one for one in self.parts.values() if one.text)) - self.budget

    def _cost(self, parts: Sequence[Part]) -> int:
        text = joined(part.text for part in parts)
        return count(text) + self.request.frame_tokens * len(parts)


class ContextBuilder:
    """Builds contexts of one vault's conversations. Any thread."""

    def __init__(self, sources: ContextSources) -> None:
        self._sources = sources

    def build(self, request: BuildRequest, caller: Caller, report: Report = silent) -> BuiltContext:
        """Return what an agent is given before it answers, never more than the budget.

        Raises BadArgument for a budget below 1 or a bad name of a task, NotFound for a session
        that is not there or may not be seen.
        """
        config = self._sources.config
        budget = config.context.max_tokens if request.budget is None else request.budget
        if budget < 1:
            raise BadArgument("budget", budget, "1 or more")
        agent_name(request.agent)
        draft = _Draft(request, caller, budget, config, budget + BETWEEN_TOKENS)
        past: History | None = None
        if request.task:
            sources, runs = self._sources, config.context.subagent_history
            past = history(
                sources.reader.paths,
                request.task,
                runs,
                excludes=sources.excludes,
                hides=sources.hides_run,
            )
        view = None if request.fresh or request.task else self._view(draft)
        asked = waiting(view.messages if view else (), request.pending)
        language = view.language if view else detect(asked.query, "en")
        said, whole = self._pending(draft, asked, context_words(language)["user"])
        self._add_tools(draft)
        if view is None:
            self._add_start(draft, "", language, 0)
            if past is not None:
                self._add_runs(draft, past, context_words(language)["history"])
            else:
                self._add_memory(draft, asked, None, 0.0)
            if said:
                draft.parts["window"] = Part("window", said, count(said))
            return draft.finished()
        talk = _Talk(draft, view, asked)
        self._add_start(draft, view.session, language, talk.wanted())
        best = talk.add_earlier(self._embedder(draft, asked.query))
        talk.view = self._folded(draft, talk, report)
        if view.refused and draft.wants("summary"):
            draft.notes.append(f"The summary's file cannot be read: {view.refused}.")
        talk.add_summary(self._sources.reader.paths.rolling(view.agent, view.session, view.segment))
        self._add_memory(draft, asked, view, best)
        talk.add_window(said, whole=whole)
        return draft.finished(view.session, view.segment)

    def _view(self, draft: _Draft) -> View | None:
        """Return the conversation; raise NotFound for one that is named and not to be seen.

        Where none is named, an agent whose latest has ended begins a new one; a person looks at
        what was, and is told so.
        """
        request, caller = draft.request, draft.caller
        try:
            view = self._sources.talks.view(request.agent, request.session)
        except UnreadableNote as error:
            if request.session:
                raise
            draft.notes.append(f"The latest conversation cannot be read: {error}")
            return None
        if view is None or not self._sources.shows(view.path, caller):
            if request.session:
                raise NotFound(f"{request.agent} has no session {request.session!r}.")
            return None
        if request.session:
            return view
        if caller.kind == "agent" and view.ended:
            draft.drop(f"the conversation {view.session}", ENDED)
            return None
        if caller.kind != "agent" and (view.ended or view.imported):
            how = "was imported and has ended" if view.imported else "has ended"
            draft.notes.append(f"This is the latest conversation, {view.session}, which {how}.")
        return view

    def _pending(self, draft: _Draft, asked: Waiting, user: str) -> tuple[str, bool]:
        """Return what waits for an answer to the letter, and whether it is whole; pay for it.

        Where there is no room the oldest go first; the newest is cut, with a mark, if it must be.
        """
        lines: list[str] = []
        whole = draft.wants("window") and bool(asked.texts)
        for text in reversed(asked.texts if whole else ()):
            line = cut(f"{user}: {text}", draft.room - count("\n".join(["", *lines])))
            whole = line.endswith(text)
            if whole or not lines:
                lines.insert(0, line)
            if not whole:
                draft.drop("a part of the pending messages", NO_ROOM)
                break
        said = "\n".join(lines)
        draft.left -= count(said) + draft.frame if said else 0
        return said, whole

    def _add_tools(self, draft: _Draft) -> None:
        text, room = draft.request.tools.strip(), int(draft.room * TOOLS_SHARE)
        if not text or not draft.wants("tools"):
            return
        if len(text) > LONGEST_TOKEN * draft.room or count(text) > room:
            text = cut(text, room)
            draft.drop("a part of the tools" if text else "the tools", NO_ROOM)
        draft.add(Part("tools", text, count(text)))

    def _add_start(self, draft: _Draft, session: str, language: str, others: int) -> None:
        """Add what an agent knows when a conversation begins, but what it says of this very one.

        Within its share, or in what the `others` do not want.
        """
        reader, agent = self._sources.reader, draft.request.agent
        paths = reader.paths
        files = (paths.identity(agent), paths.brain(agent), paths.active_context(agent))
        wanted = {file for name, file in zip(START_NAMES, files, strict=True) if draft.wants(name)}
        if draft.request.task:
            wanted.discard(files[-1])
        elif files[-1] in wanted and session:
            text, _ = read_text(reader, files[-1])
            found = front_matter(text) if session in text else None
            if found is not None and session in str(found.properties.get("session", "")):
                draft.drop("the active context", "what it says of this conversation stands here")
        share = max(int(START_SHARE * draft.budget), min(START_TOKENS, draft.budget // 2))
        heading = context_words(language)["active"]
        left = draft.left - draft.frame * len(wanted)
        room = min(left, max(share, left - others)) - count(f"{heading}\n")
        if not wanted or room < 1:
            if wanted:
                draft.drop("identity, brain and active context", NO_ROOM)
            return

        def shows(path: str, caller: Caller) -> bool:
            return path in wanted and self._sources.shows(path, caller)

        begins = Beginning(agent, draft.caller, room, session)
        start = start_context(reader, begins, shows=shows, hides=self._sources.hides)
        for one in start.parts:
            text = f"{heading}\n{one.text}" if one.name == "active context" else one.text
            draft.add(Part(one.name, text, count(text), (one.path,)))
        draft.dropped.extend(start.dropped)

    def _folded(self, draft: _Draft, talk: _Talk, report: Report) -> View:
        """Return the view with what is due folded; the summary of another's is left as it is."""
        config, caller, view = draft.config, draft.caller, talk.view
        others = caller.kind == "agent" and caller.agent != view.agent
        if others or not draft.wants("summary"):
            return view
        window = Window(
            config.context.sliding_window,
            max(MIN_FOLD_TOKENS, talk.window_room),
            config.summary.every,
            config.session.summarize_at,
        )
        try:
            view = self._sources.talks.fold(view, window, report)
        except VaultMindError as error:  # a full disk, a file that somebody else keeps changing
            log.warning("a summary was not folded on: %s", error)
            draft.notes.append(f"The summary could not be brought up to date: {error}")
        if view.behind:
            done, all_ = view.rolling.messages, view.rolling.messages + view.behind
            draft.notes.append(f"The summary covers {done} of {all_} messages so far.")
        return view

    def _add_memory(self, draft: _Draft, asked: Waiting, view: View | None, best: float) -> None:
        """Add what lasting memory says, and what comes to mind through it."""
        config, room = draft.config, draft.room - int(WINDOW_SHARE * draft.budget)
        cap = draft.cap(MEMORY_SHARE, config.recall.max_tokens)
        memory = max(0, min(cap, room)) if draft.wants("memory") else 0
        cap = draft.cap(ASSOCIATION_SHARE, config.association.max_tokens)
        associations = max(0, min(cap, room - memory)) if draft.wants("associations") else 0
        if not asked.query or not (memory or associations):
            if draft.wants("memory"):
                draft.drop("lasting memory", NO_ROOM if asked.query else "nothing was asked")
            return
        ask = Ask(
            query=asked.query,
            agent=draft.request.agent,
            caller=draft.caller,
            session=view.session if view else "",
            language=view.language if view else detect(asked.query, "en"),
            room_tokens=memory,
            association_tokens=associations,
            shown=(*(part.text for part in draft.parts.values()), *draft.request.shown),
            best=best,
            topic_is_new=view.topic_is_new if view else True,
            since=view.messages[0].block if view and view.messages else "",
        )
        try:
            brought = self._sources.memory.recall(ask)
        except VaultMindError as error:  # the index is being repaired: the rest is there
            draft.notes.append(f"Lasting memory could not be asked: {error}")
            return
        draft.add(brought.memory)
        draft.add(brought.associations)
        draft.dropped.extend(brought.dropped)

    def _add_runs(self, draft: _Draft, past: History, heading: str) -> None:
        """Add a sub-agent's last completed runs, in the place of a conversation."""
        draft.notes.extend(past.warnings)
        if draft.wants("history"):
            part, dropped = runs_part(past, heading, draft.room)
            draft.add(part)
            draft.dropped.extend(dropped)
            draft.notes.extend([] if past.runs else [without_runs(past)])

    def _embedder(self, draft: _Draft, query: str) -> Embedder | None:
        """Return what embeds a question, if it can embed this one: words alone find much."""
        asks = any(draft.wants(name) for name in ("earlier", "memory", "associations"))
        embedder = self._sources.embedder() if query and asks else None
        if embedder is None:
            return None
        try:
            embedder.embed_query(query)  # kept for those who ask after this
        except Exception:  # a model raises what it likes
            log.exception("a question could not be embedded")
            draft.notes.append("The question could not be embedded: found by words alone.")
            return None
        return embedder


class _Talk:
    """Adds the parts of one conversation: what was said earlier, the summary, the window.

    Room for what is recalled is reserved, the window is cut to the rest, what is not in it is
    searched, and the window is given back what was not spent.
    """

    def __init__(self, draft: _Draft, view: View, asked: Waiting) -> None:
        self._draft, self.view, self._asked = draft, view, asked
        known = draft.request.known
        self._messages = [one for one in asked.before if key_of(one) not in known]
        self._sliding = None if draft.is_explicit else draft.config.context.sliding_window
        self._words = context_words(view.language)
        self._recalled: frozenset[str] = frozenset()
        self._window = Picked()
        self.window_room = 0

    def _rag_tokens(self) -> int:
        """Return what auto-RAG may spend: never what is kept for the window."""
        draft, rag = self._draft, self._draft.config.auto_rag
        most = int(RAG_SHARE * draft.budget) if draft.is_explicit else rag.max_tokens
        return max(0, min(most, draft.room - int(WINDOW_SHARE * draft.budget)))

    def _reserve(self) -> int:
        """Return what other parts than auto-RAG and the window may still take."""
        draft, config = self._draft, self._draft.config
        caps: dict[PartName, int] = {
            "earlier": 0,
            "summary": min(
                draft.cap(SUMMARY_SHARE, config.summary.max_tokens),
                _whole_tokens(self.view.rolling) + HEADING_TOKENS,
            ),
            "memory": draft.cap(MEMORY_SHARE, config.recall.max_tokens),
            "associations": draft.cap(ASSOCIATION_SHARE, config.association.max_tokens),
        }
        return sum(draft.frame + tokens for name, tokens in caps.items() if draft.wants(name))

    def wanted(self) -> int:
        """Return what the conversation's parts and memory want of the budget at most."""
        picked = self._pick(self._draft.left)
        window = sum(count(f"{entry.text}\n") for entry in picked.entries) + HEADING_TOKENS
        outside = picked.older or picked.too_large
        return window + self._reserve() + (self._rag_tokens() if outside else 0)

    def _pick(self, room: int) -> Picked:
        if not self._draft.wants("window"):
            return Picked(older=len(self._messages))
        room -= HEADING_TOKENS
        return pick(self._messages, room, self._words, self._sliding, self._recalled)

    def add_earlier(self, embedder: Embedder | None) -> float:
        """Add what was said earlier and matters; return how good the best match is."""
        draft, view, rag = self._draft, self.view, self._draft.config.auto_rag
        tokens = self._rag_tokens()
        self.window_room = draft.left - tokens - self._reserve()
        self._window = self._pick(self.window_room)
        everything = self._pick(draft.left - self._reserve())
        fits = not (everything.older or everything.too_large)
        why_not = "" if rag.enabled else "switched off"
        if draft.wants("earlier") and not why_not and not fits:
            request = RecallRequest(
                self._asked.query,
                view.segment,
                tokens,
                None if draft.is_explicit else rag.top_k,
                frozenset({*self._window.keys, *self._asked.keys, *draft.request.known}),
                view.language,
                rag.relevance,
            )
            block = recall(view.index, request, embedder)
            self._recalled = frozenset(block.messages)
            if block.text:
                sources, cost = (view.path,), count(block.text)
                draft.add(Part("earlier", block.text, cost, sources, block.messages, block.reason))
            else:
                draft.drop("what was said earlier", block.reason)
            if block.left_out:
                what = counted(block.left_out, "fainter match", "fainter matches")
                draft.drop(what, self._full(block.full, tokens))
            return block.best
        if draft.wants("earlier"):
            draft.drop("what was said earlier", why_not or "the whole segment fits the window")
        query = self._asked.query
        if not query or not draft.wants("memory"):
            return 0.0
        vector = embedder.embed_query(query) if embedder else None
        keys = self._asked.keys
        return view.index.search(query, vector, segment=view.segment, without=keys).best

    def _full(self, limit: str, tokens: int) -> str:
        """Return which limit leaves out what was found, and what to raise."""
        draft, rag = self._draft, self._draft.config.auto_rag
        if limit == "top_k":
            return f"only the best {rag.top_k} are shown (raise auto_rag.top_k)"
        if draft.is_explicit and tokens == int(RAG_SHARE * draft.budget):
            return more_than(RAG_SHARE)
        enough = not draft.is_explicit and tokens == rag.max_tokens
        return more_than(tokens, "auto_rag.max_tokens") if enough else NO_ROOM

    def add_summary(self, path: str) -> None:
        """Add what was folded away, without the lines that stand in the window or above it."""
        draft, rolling = self._draft, self.view.rolling
        whole = _whole_tokens(rolling)
        if not draft.wants("summary") or not whole:
            return
        most = draft.config.summary.max_tokens
        cap = draft.cap(SUMMARY_SHARE, most)
        room = min(cap, draft.room - int(WINDOW_SHARE * draft.budget))
        title = self._words["summary"]
        left = room - count(f"{title}\n")
        fits = _fitting(rolling, left) if left >= MIN_SUMMARY_TOKENS else Rolling()
        there = self._window.keys | self._recalled
        blocks = {one.block for one in self._messages if key_of(one) in there}
        lines = tuple(o for o in fits.lines if o.own or not blocks.issuperset(o.sources or (" ",)))
        body = shown(replace(fits, lines=lines), speakers=True)
        text = f"{title}\n{body}" if body else ""
        why = f"{counted(rolling.messages, 'message')} folded"
        draft.add(Part("summary", text, count(text), (path,), (), why))
        if room < whole + HEADING_TOKENS:
            full = (
                more_than(most, "summary.max_tokens") if cap == most else more_than(SUMMARY_SHARE)
            )
            what = "a part of the summary" if text else "the summary"
            draft.drop(what, full if room == cap else NO_ROOM)

    def add_window(self, said: str, *, whole: bool) -> None:
        """Add the last messages and, under them, what waits for an answer and is paid for."""
        draft, view = self._draft, self.view
        if not draft.wants("window"):
            return
        room = draft.left if said else draft.room
        picked = self._pick(room)
        entries, keys = list(picked.entries), [one.key for one in picked.entries if one.whole]
        if not entries and not said and self._messages:
            entry, _ = entry_of(self._messages[-1], room, self._words)
            entries = [replace(entry, text=cut(entry.text, room - HEADING_TOKENS), whole=False)]
            entries = [one for one in entries if one.text.strip(MARK)]
        lines = dated([(one.day, one.text) for one in entries])
        lines = [self._words["window"], *lines] if lines else []
        text = "\n".join([*lines, *([said] if said else [])])
        keys += self._asked.keys if whole else ()
        why = counted(len(picked.keys), "message") if picked.keys else ""
        for key in picked.too_large:
            draft.drop(f"message {key}", "too large for the window")
        if picked.older:
            taken = len(self._messages) - picked.older
            by_number = self._sliding is not None and taken >= self._sliding
            reason = f"only the last {self._sliding} messages stay whole" if by_number else NO_ROOM
            draft.drop(counted(picked.older, "older message"), reason)
        if text:
            draft.parts["window"] = Part(
                "window", text, count(text), (view.path,), tuple(keys), why
            )


@lru_cache(maxsize=32)
def _fitting(rolling: Rolling, room: int) -> Rolling:
    """Return what of a summary fits: the same until it is folded on."""
    return fitting(rolling, room, speakers=True)


@lru_cache(maxsize=32)
def _whole_tokens(rolling: Rolling) -> int:
    return count(shown(rolling, speakers=True))
