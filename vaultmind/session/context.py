"""The context before an answer: ordered parts within a budget, and what was left out and why.

Where the budget is small, what waits for an answer comes first, then what the caller says of its
tools, then who the agent is and what it knows, then what was said earlier and matters, the summary,
lasting memory, associations; the last messages take all that is left.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
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
from vaultmind.session.recall import RecallRequest, dated, recall
from vaultmind.session.sentences import context_words
from vaultmind.session.start import Beginning, start_context
from vaultmind.session.subagents import block_of, history, runs_part
from vaultmind.session.summary import Rolling, Window, fitting, shown
from vaultmind.session.window import MARK, Picked, Waiting, cut, entry_of, pick, waiting
from vaultmind.tokens import clip, count
from vaultmind.types import Caller, Message
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
    "associations", "memory", "active context", "summary", "history", "earlier", "brain",
    "tools", "identity",
)  # fmt: skip
"""What goes first where the estimates of the parts missed their sum."""

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


@dataclass(frozen=True, slots=True)
class ContextBuilder:
    """Builds contexts of one vault's conversations. Any thread."""

    sources: ContextSources

    def build(self, request: BuildRequest, caller: Caller, report: Report = silent) -> BuiltContext:
        """Return what an agent is given before it answers, never more than the budget.

        Raises BadArgument for a budget below 1 or a bad name of a task, NotFound for a session
        that is not there or may not be seen.
        """
        most = self.sources.config.context.max_tokens
        budget = most if request.budget is None else request.budget
        if budget < 1:
            raise BadArgument("budget", budget, "1 or more")
        agent_name(request.agent)
        draft = _Draft(self.sources, request, caller, budget, budget + BETWEEN_TOKENS)
        draft.look()
        draft.add_pending()
        draft.add_tools()
        draft.add_start()
        if request.task:
            draft.add_runs()
        else:
            best = draft.add_earlier()
            draft.add_summary(report)
            draft.add_memory(best)
        draft.add_window()
        return draft.finished()


@dataclass(slots=True)
class _Draft:
    """A context while it is built: what is left, what stands in it, what does not and why.

    Room for what is recalled is reserved, the window is cut to the rest, what is not in it is
    searched, and the window is given back what was not spent.
    """

    sources: ContextSources
    request: BuildRequest
    caller: Caller
    budget: int
    left: int
    view: View | None = None
    asked: Waiting = Waiting((), ())  # noqa: RUF009 - frozen
    words: dict[str, str] = field(default_factory=dict)
    embedder: Embedder | None = None
    said: str = ""
    """The pending messages as they are shown, which are paid for."""
    whole: bool = False
    parts: dict[PartName, Part] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    picked: Picked = Picked()  # noqa: RUF009 - frozen
    window_room: int = 0
    recalled: frozenset[str] = frozenset()

    @property
    def frame(self) -> int:
        """Return what stands around a part."""
        return self.request.frame_tokens + BETWEEN_TOKENS

    @property
    def room(self) -> int:
        """Return what the text of one more part may cost."""
        return max(0, self.left - self.frame)

    @property
    def beside_window(self) -> int:
        """Return the same without what is kept for the window."""
        return max(0, self.room - int(WINDOW_SHARE * self.budget))

    @property
    def is_explicit(self) -> bool:
        """Tell whether the caller named the budget."""
        return self.request.budget is not None

    @property
    def language(self) -> str:
        """Return the conversation's language, else that of the question."""
        return self.view.language if self.view else detect(self.asked.query, "en")

    def wants(self, *names: PartName) -> bool:
        """Tell whether any of some parts may be in the context at all."""
        return not self.request.without.issuperset(names)

    def add(self, part: Part | None) -> None:
        """Take a part and pay for it; nothing for None or an empty one."""
        if part is not None and part.text:
            self.parts[part.name] = part
            self.left -= part.tokens + self.frame

    def drop(self, what: str, reason: str = NO_ROOM) -> None:
        """Note what is left out."""
        self.dropped.append(Dropped(what, reason))

    # --- what is asked, and where -----------------------------------------------------------

    def look(self) -> None:
        """Look at the conversation, what waits for an answer in it, and whether it has a vector."""
        request = self.request
        self.view = None if request.fresh or request.task else self._conversation()
        self.asked = waiting(self.view.messages if self.view else (), request.pending)
        self.words = context_words(self.language)
        asks = self.asked.query and self.view and self.wants("earlier", "memory", "associations")
        self.embedder = self.sources.embedder() if asks else None
        if self.embedder is not None:
            try:
                self.embedder.embed_query(self.asked.query)  # kept for those who ask after this
            except Exception:  # a model raises what it likes
                log.exception("a question could not be embedded")
                self.notes.append("The question could not be embedded: found by words alone.")
                self.embedder = None

    def _conversation(self) -> View | None:
        """Return the conversation; raise NotFound for one that is named and not to be seen.

        Where none is named, an agent whose latest has ended begins a new one; a person looks at
        what was, and is told so.
        """
        request, is_agent = self.request, self.caller.kind == "agent"
        try:
            view = self.sources.talks.view(request.agent, request.session)
        except UnreadableNote as error:
            if request.session:
                raise
            self.notes.append(f"The latest conversation cannot be read: {error}")
            return None
        if view is None or not self.sources.shows(view.path, self.caller):
            if request.session:
                raise NotFound(f"{request.agent} has no session {request.session!r}.")
            return None
        if not request.session and is_agent and view.ended:
            self.drop(f"the conversation {view.session}", "it has ended, and a new one begins")
            return None
        if not (request.session or is_agent) and (view.ended or view.imported):
            how = "was imported and has ended" if view.imported else "has ended"
            self.notes.append(f"This is the latest conversation, {view.session}, which {how}.")
        return view

    # --- the parts, the most important first --------------------------------------------------

    def add_pending(self) -> None:
        """Pay for what waits for an answer, which is shown to the letter.

        Where there is no room the oldest go first; the newest is cut, with a mark, if it must be.
        """
        lines: list[str] = []
        self.whole = self.wants("window") and bool(self.asked.texts)
        for text in reversed(self.asked.texts if self.whole else ()):
            room = self.room - count("\n".join(["", *lines]))
            line = cut(f"{self.words['user']}: {text}", room)
            self.whole = line.endswith(text)
            if self.whole or not lines:
                lines.insert(0, line)
            if not self.whole:
                self.drop("a part of the pending messages")
                break
        self.said = "\n".join(lines)
        self.left -= count(self.said) + self.frame if self.said else 0

    def add_tools(self) -> None:
        """Add what the caller says of its tools."""
        text = self.request.tools.strip() if self.wants("tools") else ""
        shown_ = cut(text, int(self.room * TOOLS_SHARE))
        if shown_ != text:
            self.drop("a part of the tools" if shown_ else "the tools")
        self.add(Part("tools", shown_, count(shown_)))

    def add_start(self) -> None:
        """Add what an agent knows when a conversation begins, but what it says of this very one.

        Within its share, or in what the others do not want.
        """
        reader, agent = self.sources.reader, self.request.agent
        names: tuple[PartName, ...] = ("identity", "brain", "active context")
        files = (reader.paths.identity(agent), reader.paths.brain(agent),
                 reader.paths.active_context(agent))  # fmt: skip
        wanted = {file for name, file in zip(names, files, strict=True) if self.wants(name)}
        session = self.view.session if self.view else ""
        if self.request.task:
            wanted.discard(files[-1])
        elif files[-1] in wanted and session:
            found = front_matter(read_text(reader, files[-1])[0])
            if found is not None and session in str(found.properties.get("session", "")):
                self.drop("the active context", "what it says of this conversation stands here")
        heading = self.words["active"]
        share = max(int(START_SHARE * self.budget), min(START_TOKENS, self.budget // 2))
        left = self.left - self.frame * len(wanted)
        room = min(left, max(share, left - self._wanted_by_others())) - count(f"{heading}\n")
        if wanted and room < 1:
            self.drop("identity, brain and active context")
        if not wanted or room < 1:
            return
        start = start_context(
            reader,
            Beginning(agent, self.caller, room, session),
            shows=lambda path, caller: path in wanted and self.sources.shows(path, caller),
            hides=self.sources.hides,
        )
        for one in start.parts:
            text = f"{heading}\n{one.text}" if one.name == "active context" else one.text
            self.add(Part(one.name, text, count(text), (one.path,)))
        self.dropped.extend(start.dropped)

    def add_earlier(self) -> float:
        """Add what was said earlier and matters; return how good the best match is."""
        if self.view is None:
            return 0.0
        rag, tokens, query = self.sources.config.auto_rag, self._rag_tokens(), self.asked.query
        self.window_room = self.left - tokens - self._reserve()
        self.picked = self._pick(self.window_room)
        everything = self._pick(self.left - self._reserve())
        fits = not (everything.older or everything.too_large)
        if not self.wants("earlier") or not rag.enabled or fits:
            if self.wants("earlier"):
                fitting_ = "the whole segment fits the window" if rag.enabled else "switched off"
                self.drop("what was said earlier", fitting_)
            if not query or not self.wants("memory"):
                return 0.0
            vector = self.embedder.embed_query(query) if self.embedder else None
            index, segment = self.view.index, self.view.segment
            return index.search(query, vector, segment=segment, without=self.asked.keys).best
        request = RecallRequest(
            query,
            self.view.segment,
            tokens,
            None if self.is_explicit else rag.top_k,
            frozenset({*self.picked.keys, *self.asked.keys, *self.request.known}),
            self.view.language,
            rag.relevance,
        )
        block = recall(self.view.index, request, self.embedder)
        self.recalled = frozenset(block.messages)
        cost, path = count(block.text), (self.view.path,)
        self.add(Part("earlier", block.text, cost, path, block.messages, block.reason))
        if not block.text:
            self.drop("what was said earlier", block.reason)
        if block.left_out:
            reason = NO_ROOM
            if block.full == "top_k":
                reason = f"only the best {rag.top_k} are shown (raise auto_rag.top_k)"
            elif self.is_explicit and tokens == int(RAG_SHARE * self.budget):
                reason = more_than(RAG_SHARE)
            elif not self.is_explicit and tokens == rag.max_tokens:
                reason = more_than(tokens, "auto_rag.max_tokens")
            self.drop(counted(block.left_out, "fainter match", "fainter matches"), reason)
        return block.best

    def add_summary(self, report: Report) -> None:
        """Add what was folded away, without the lines that stand in the window or above it.

        What is due is folded first; the summary of another's conversation is left as it is.
        """
        if self.view is None or not self.wants("summary"):
            return
        config, view = self.sources.config, self.view
        if self.caller.kind != "agent" or self.caller.agent == view.agent:
            view = self.view = self._folded(view, report)
        if view.refused:
            self.notes.append(f"The summary's file cannot be read: {view.refused}.")
        rolling, title = view.rolling, self.words["summary"]
        whole, most = _whole_tokens(rolling), config.summary.max_tokens
        if not whole:
            return
        cap = self._cap(SUMMARY_SHARE, most)
        room = min(cap, self.room - int(WINDOW_SHARE * self.budget))
        left = room - count(f"{title}\n")
        fits = _fitting(rolling, left) if left >= MIN_SUMMARY_TOKENS else Rolling()
        there = self.picked.keys | self.recalled
        blocks = {one.block for one in self._messages() if key_of(one) in there}
        lines = tuple(one for one in fits.lines if one.own or one.source not in blocks - {""})
        body = shown(replace(fits, lines=lines), speakers=True)
        text = f"{title}\n{body}" if body else ""
        why = f"{counted(rolling.messages, 'message')} folded"
        path = self.sources.reader.paths.rolling(view.agent, view.session, view.segment)
        self.add(Part("summary", text, count(text), (path,), (), why))
        if room < whole + HEADING_TOKENS:
            limit = (most, "summary.max_tokens") if cap == most else (SUMMARY_SHARE,)
            what = "a part of the summary" if text else "the summary"
            self.drop(what, more_than(*limit) if room == cap else NO_ROOM)

    def add_memory(self, best: float) -> None:
        """Add what lasting memory says, and what comes to mind through it."""
        config, view, query = self.sources.config, self.view, self.asked.query
        memory = min(self._cap(MEMORY_SHARE, config.recall.max_tokens), self.beside_window)
        memory = memory if self.wants("memory") else 0
        near = self._cap(ASSOCIATION_SHARE, config.association.max_tokens)
        near = max(0, min(near, self.beside_window - memory)) if self.wants("associations") else 0
        if not query or not (memory or near):
            if self.wants("memory"):
                self.drop("lasting memory", NO_ROOM if query else "nothing was asked")
            return
        ask = Ask(
            query=query,
            agent=self.request.agent,
            caller=self.caller,
            session=view.session if view else "",
            language=self.language,
            room_tokens=memory,
            association_tokens=near,
            shown=(*(part.text for part in self.parts.values()), *self.request.shown),
            best=best,
            topic_is_new=view.topic_is_new if view else True,
            since=view.messages[0].block if view and view.messages else "",
        )
        try:
            brought = self.sources.memory.recall(ask)
        except VaultMindError as error:  # the index is being repaired: the rest is there
            self.notes.append(f"Lasting memory could not be asked: {error}")
            return
        self.add(brought.memory)
        self.add(brought.associations)
        self.dropped.extend(brought.dropped)

    def add_runs(self) -> None:
        """Add a sub-agent's last completed runs, in the place of a conversation."""
        sources, paths = self.sources, self.sources.reader.paths
        agents = paths.agent_names()
        past = history(
            paths,
            self.request.task,
            sources.config.context.subagent_history,
            excludes=sources.excludes,
            hides=lambda file, line: any(sources.hides(a, file, block_of(line)) for a in agents),
        )
        self.notes.extend(past.notes)
        if self.wants("history"):
            part, dropped = runs_part(past, self.words["history"], self.room)
            self.add(part)
            self.dropped.extend(dropped)

    def add_window(self) -> None:
        """Add the last messages and, under them, what waits for an answer and is paid for."""
        if not self.wants("window"):
            return
        room, messages = self.left if self.said else self.room, self._messages()
        picked = self._pick(room)
        entries, keys = list(picked.entries), [one.key for one in picked.entries if one.whole]
        if not entries and not self.said and messages:
            entry, _ = entry_of(messages[-1], room, self.words)
            entries = [replace(entry, text=cut(entry.text, room - HEADING_TOKENS), whole=False)]
            entries = [one for one in entries if one.text.strip(MARK)]
        lines = dated([(one.day, one.text) for one in entries])
        lines = [self.words["window"], *lines] if lines else []
        text = "\n".join([*lines, *([self.said] if self.said else [])])
        keys += self.asked.keys if self.whole else ()
        why = counted(len(picked.keys), "message") if picked.keys else ""
        for key in picked.too_large:
            self.drop(f"message {key}", "too large for the window")
        if picked.older:
            most = self._sliding()
            by_number = most is not None and len(messages) - picked.older >= most
            reason = f"only the last {most} messages stay whole" if by_number else NO_ROOM
            self.drop(counted(picked.older, "older message"), reason)
        if text:
            path = (self.view.path,) if self.view else ()
            self.parts["window"] = Part("window", text, count(text), path, tuple(keys), why)

    # --- room -----------------------------------------------------------------------------

    def _cap(self, share: float, most: int) -> int:
        """Return what a part may take: its own limit, or its share of a small budget."""
        return min(most, int(share * self.budget))

    def _rag_tokens(self) -> int:
        """Return what auto-RAG may spend: never what is kept for the window."""
        rag = self.sources.config.auto_rag.max_tokens
        return min(int(RAG_SHARE * self.budget) if self.is_explicit else rag, self.beside_window)

    def _reserve(self) -> int:
        """Return what other parts than auto-RAG and the window may still take."""
        config = self.sources.config
        whole = _whole_tokens(self.view.rolling) if self.view else 0
        caps: dict[PartName, int] = {
            "earlier": 0,
            "summary": min(
                self._cap(SUMMARY_SHARE, config.summary.max_tokens), whole + HEADING_TOKENS
            ),
            "memory": self._cap(MEMORY_SHARE, config.recall.max_tokens),
            "associations": self._cap(ASSOCIATION_SHARE, config.association.max_tokens),
        }
        return sum(self.frame + tokens for name, tokens in caps.items() if self.wants(name))

    def _wanted_by_others(self) -> int:
        """Return what the conversation's parts and memory want of the budget at most."""
        if self.view is None:
            return 0
        picked = self._pick(self.left)
        window = sum(count(f"{entry.text}\n") for entry in picked.entries) + HEADING_TOKENS
        outside = picked.older or picked.too_large
        return window + self._reserve() + (self._rag_tokens() if outside else 0)

    def _sliding(self) -> int | None:
        return None if self.is_explicit else self.sources.config.context.sliding_window

    def _messages(self) -> list[Message]:
        """Return what was said before, other than what the host shows anyway."""
        known = self.request.known
        return [one for one in self.asked.before if key_of(one) not in known]

    def _pick(self, room: int) -> Picked:
        messages = self._messages()
        if not self.wants("window"):
            return Picked(older=len(messages))
        return pick(messages, room - HEADING_TOKENS, self.words, self._sliding(), self.recalled)

    def _folded(self, view: View, report: Report) -> View:
        """Return the view with what is due folded into its summary."""
        config = self.sources.config
        window = Window(
            config.context.sliding_window,
            max(MIN_FOLD_TOKENS, self.window_room),
            config.summary.every,
            config.session.summarize_at,
        )
        try:
            view = self.sources.talks.fold(view, window, report)
        except VaultMindError as error:  # a full disk, a file that somebody else keeps changing
            log.warning("a summary was not folded on: %s", error)
            self.notes.append(f"The summary could not be brought up to date: {error}")
        if view.behind:
            done, all_ = view.rolling.messages, view.rolling.messages + view.behind
            self.notes.append(f"The summary covers {done} of {all_} messages so far.")
        return view

    def finished(self) -> BuiltContext:
        """Return the context; what the estimates let in too much is taken out again."""
        for name in LEAST_FIRST:
            if self._cost() > self.budget and self.parts.pop(name, None) is not None:
                self.drop(f"the {name}")
        window, excess = self.parts.get("window"), self._cost() - self.budget
        if window is not None and excess > 0:
            text = clip(window.text, window.tokens - excess)
            self.parts["window"] = replace(window, text=text, tokens=count(text), messages=())
            if not text:
                self.drop("the pending messages")
        return BuiltContext(
            agent=self.request.agent,
            session=self.view.session if self.view else "",
            segment=self.view.segment if self.view else 0,
            budget=self.budget,
            tokens=self._cost(),
            parts=self._shown(),
            dropped=tuple(dict.fromkeys(self.dropped)),
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def _shown(self) -> tuple[Part, ...]:
        parts = sorted(self.parts.values(), key=lambda one: PART_NAMES.index(one.name))
        return tuple(one for one in parts if one.text)

    def _cost(self) -> int:
        parts = self._shown()
        return count(joined(part.text for part in parts)) + self.request.frame_tokens * len(parts)


@lru_cache(maxsize=32)
def _fitting(rolling: Rolling, room: int) -> Rolling:
    """Return what of a summary fits: the same until it is folded on."""
    return fitting(rolling, room, speakers=True)


@lru_cache(maxsize=32)
def _whole_tokens(rolling: Rolling) -> int:
    return count(shown(rolling, speakers=True))
