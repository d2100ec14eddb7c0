"""The context before an answer: ordered parts within a budget, and what was left out and why.

Where the budget is small, what waits for an answer comes first, then what the caller says of its
tools, then who the agent is and what it knows, then what was said earlier and matters, the summary,
lasting memory, associations; the last messages take all that is left.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vaultmind.config import Config
from vaultmind.errors import BadArgument, NotFound, UnreadableNote, VaultMindError
from vaultmind.index.words.language import detect
from vaultmind.plural import counted
from vaultmind.ports import Embedder
from vaultmind.session import parts, subagents, summary, window
from vaultmind.session.conversation import Conversations, View
from vaultmind.session.files import Hides, Shows
from vaultmind.session.longterm import Ask, LongTerm
from vaultmind.session.parts import NO_ROOM, BuildRequest, BuiltContext, Dropped, Part, PartName
from vaultmind.session.recall import RecallRequest, dated, key_of, recall
from vaultmind.session.sentences import context_words
from vaultmind.session.start import Beginning, files_of, start_context
from vaultmind.session.summary import Window
from vaultmind.tokens import clip, count
from vaultmind.types import Caller, Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

START_SHARE, START_TOKENS = 0.3, 240
"""Of a budget, that identity, brain and active context take even if all others want room; or so
many tokens, where half of it holds them."""
RAG_SHARE, SUMMARY_SHARE, MEMORY_SHARE, ASSOCIATION_SHARE = 0.4, 0.2, 0.15, 0.05
"""Of a budget, that what was said earlier may take where the caller named it; others at most."""
WINDOW_SHARE, TOOLS_SHARE = 0.1, 0.5
"""Kept for the last messages whatever is recalled; tools' share of what pending messages leave."""
HEADING_TOKENS, MIN_FOLD_TOKENS = 12, 400
"""What a heading costs at most; and a window is not
called full for being asked for with less: the summary is everybody's."""
BEGUN = 3
"""A conversation of fewer messages has just begun: whatever it says, lasting memory is asked."""
LEAST_FIRST: tuple[PartName, ...] = (
    "associations", "memory", "active context", "summary", "history", "earlier", "brain",
    "tools", "identity",
)  # fmt: skip
"""What goes first where the estimates of the parts missed their sum."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ContextSources:
    """What contexts are built of."""

    reader: VaultReader
    shows: Shows
    hides: Hides
    talks: Conversations
    memory: LongTerm
    embedder: Callable[[], Embedder | None]
    """Returns the index's embedder once it is loaded."""
    config: Config
    excludes: Callable[[str], bool] = lambda path: False
    """Tells whether the person's rules keep a vault-relative path from everybody."""


@dataclass(frozen=True, slots=True)
class ContextBuilder:
    """Builds contexts of one vault's conversations. Any thread."""

    sources: ContextSources

    def build(self, request: BuildRequest, caller: Caller) -> BuiltContext:
        """Return what an agent is given before it answers, never more than the budget.

        Raises BadArgument for a budget below 1 or a bad name of a task, NotFound for a session
        that is not there or may not be seen.
        """
        most = self.sources.config.context.max_tokens
        budget = most if request.budget is None else request.budget
        if budget < 1:
            raise BadArgument("budget", budget, "1 or more")
        agent_name(request.agent)
        draft = _Draft(self.sources, request, caller, budget)
        draft.add_pending()
        draft.add_tools()
        draft.add_start()
        if request.task:
            draft.add_runs()
        else:
            best = draft.add_earlier()
            draft.add_summary()
            draft.add_memory(best)
        draft.add_window()
        return draft.finished()


# --- the parts ----------------------------------------------------------------------------


class _Draft:
    """A context while it is built: what is left, what stands in it, what does not and why.

    Room for what is recalled is reserved, the window is cut to the rest, what is not in it is
    searched, and the window is given back what was not spent.
    """

    def __init__(
        self, sources: ContextSources, request: BuildRequest, caller: Caller, budget: int
    ) -> None:
        """Look at the conversation, what waits for an answer in it, and whether it has a vector."""
        self.sources, self.request, self.caller, self.budget = sources, request, caller, budget
        self.config = sources.config
        self.left = budget + parts.BETWEEN_TOKENS
        self.parts: dict[PartName, Part] = {}
        self.dropped: list[Dropped] = []
        self.notes: list[str] = []
        self.view = None if request.fresh or request.task else self._conversation()
        self.asked = window.waiting(self.view.messages if self.view else (), request.pending)
        self.query = self.asked.query
        self.language = self.view.language if self.view else detect(self.query, "en")
        self.words = context_words(self.language)
        self.frame = request.frame_tokens + parts.BETWEEN_TOKENS
        """What stands around a part."""
        self.is_explicit = request.budget is not None
        self.said, self.whole = "", False
        """The pending messages as they are shown, which are paid for; whether all of them are."""
        self.picked, self.window_room = window.Picked(), 0
        self.recalled: frozenset[str] = frozenset()
        asks = self.query and self.view and self.wants("earlier", "memory", "associations")
        self.embedder = sources.embedder() if asks else None
        if self.embedder is not None:
            try:
                self.embedder.embed_query(self.query)  # kept for those who ask after this
            except Exception:  # a model raises what it likes
                log.exception("a question could not be embedded")
                self.notes.append("The question could not be embedded: found by words alone.")
                self.embedder = None

    @property
    def room(self) -> int:
        """Return what the text of one more part may cost."""
        return max(0, self.left - self.frame)

    @property
    def beside_window(self) -> int:
        """Return the same without what is kept for the window."""
        return max(0, self.room - int(WINDOW_SHARE * self.budget))

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

    def add_pending(self) -> None:
        """Pay for what waits for an answer, which is shown to the letter.

        Where there is no room the oldest go first; the newest is cut, with a mark, if it must be.
        """
        lines: list[str] = []
        self.whole = self.wants("window") and bool(self.asked.texts)
        for text in reversed(self.asked.texts if self.whole else ()):
            line = window.cut(
                f"{self.words['user']}: {text}", self.room - count("\n".join(["", *lines]))
            )
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
        shown = window.cut(text, int(self.room * TOOLS_SHARE))
        if shown != text:
            self.drop("a part of the tools" if shown else "the tools")
        self.add(Part("tools", shown, count(shown)))

    def add_start(self) -> None:
        """Add what an agent knows when a conversation begins, but what it says of this very one.

        Within its share, or in all there is where there is no conversation.
        """
        paths, session = self.sources.reader.paths, self.view.session if self.view else ""
        without = {*self.request.without, *(["active context"] if self.request.task else [])}
        files = files_of(paths, self.request.agent)
        wanted = {file for name, file in files.items() if name not in without}
        share = max(int(START_SHARE * self.budget), min(START_TOKENS, self.budget // 2))
        heading = f"{self.words['active']}\n"
        left = self.left - self.frame * len(wanted)
        room = (min(left, share) if self.view else left) - count(heading)
        if wanted and room < 1:
            self.drop("identity, brain and active context")
        if not wanted or room < 1:
            return
        start = start_context(
            self.sources.reader,
            Beginning(self.request.agent, self.caller, room, session),
            shows=lambda path, caller: path in wanted and self.sources.shows(path, caller),
            hides=self.sources.hides,
        )
        for one in start.parts:
            text = heading * (one.name == "active context") + one.text
            self.add(Part(one.name, text, count(text), (one.path,)))
        self.dropped.extend(start.dropped)

    def add_earlier(self) -> float:
        """Add what was said earlier and matters; return how good the best match is."""
        if self.view is None:
            return 0.0
        rag, view = self.config.auto_rag, self.view
        share = int(RAG_SHARE * self.budget) if self.is_explicit else rag.max_tokens
        tokens, reserve = min(share, self.beside_window), self._reserve()
        self.window_room = self.left - tokens - reserve
        self.picked, everything = self._pick(self.window_room), self._pick(self.left - reserve)
        out = everything.older or everything.too_large
        fits = not out and len(view.index.held) == len(view.messages)
        if not self.wants("earlier") or not rag.enabled or fits:
            if self.wants("earlier"):
                reason = "the whole conversation fits the window" if rag.enabled else "switched off"
                self.drop("what was said earlier", reason)
            if not self.query or not self.wants("memory"):
                return 0.0
            running = {key_of(one) for one in view.messages}.difference(self.asked.keys)
            rest = {key_of(one) for one in view.index.held} - running  # memory may bring it
            return view.index.search(self.query, self._vector(), rest).best
        request = RecallRequest(
            self.query,
            tokens,
            None if self.is_explicit else rag.top_k,
            frozenset({*self.picked.keys, *self.asked.keys, *self.request.known}),
            view.language,
            rag.relevance,
        )
        block = recall(view.index, request, self._vector())
        self.recalled = frozenset(block.messages)
        cost = count(block.text)
        self.add(Part("earlier", block.text, cost, (view.path,), block.messages, block.reason))
        if not block.text:
            self.drop("what was said earlier", block.reason)
        if block.left_out:
            reason = parts.more_than(tokens, "auto_rag.max_tokens")
            if block.full == "top_k":
                reason = f"only the best {rag.top_k} are shown (raise auto_rag.top_k)"
            self.drop(counted(block.left_out, "fainter match", "fainter matches"), reason)
        return block.best

    def add_summary(self) -> None:
        """Add what was folded away, without the lines that stand in the window or above it.

        What is due is folded first; the summary of another's conversation is left as it is.
        """
        if self.view is None or not self.wants("summary"):
            return
        view = self.view
        if self.caller.kind != "agent" or self.caller.agent == view.agent:
            view = self.view = self._folded(view)
        title, rolling = self.words["summary"], view.rolling
        if not (whole := summary.tokens_of(rolling, speakers=True)):
            return
        cap = self._cap(SUMMARY_SHARE, self.config.summary.max_tokens)
        room = min(cap, self.beside_window)
        fits = summary.fitting(rolling, room - count(f"{title}\n"), speakers=True)
        there = self.picked.keys | self.recalled
        blocks = {one.block for one in self._messages() if key_of(one) in there} - {""}
        lines = tuple(one for one in fits.lines if one.own or one.source not in blocks)
        body = summary.shown(replace(fits, lines=lines), speakers=True)
        text = f"{title}\n{body}" if body else ""
        path = self.sources.reader.paths.rolling(view.agent, view.session, view.segment)
        why = f"{counted(rolling.messages, 'message')} folded"
        self.add(Part("summary", text, count(text), (path,), (), why))
        if room < whole + HEADING_TOKENS:
            what = "a part of the summary" if text else "the summary"
            self.drop(what, parts.more_than(room, "summary.max_tokens"))

    def _folded(self, view: View) -> View:
        """Return the view with what is due folded into its summary."""
        config, tokens = self.config, max(MIN_FOLD_TOKENS, self.window_room)
        every, full = config.summary.every, config.session.summarize_at
        try:
            whole = Window(config.context.sliding_window, tokens, every, full)
            view = self.sources.talks.fold(view, whole)
        except VaultMindError as error:  # a full disk, a file that somebody else keeps changing
            log.warning("a summary was not folded on: %s", error)
            self.notes.append(f"The summary could not be brought up to date: {error}")
        if view.behind:
            done = view.rolling.messages
            self.notes.append(f"The summary covers {done} of {done + view.behind} messages so far.")
        return view

    def add_memory(self, best: float) -> None:
        """Add what lasting memory says, and what comes to mind through it."""
        config, view = self.config, self.view
        memory = min(self._cap(MEMORY_SHARE, config.recall.max_tokens), self.beside_window)
        memory *= self.wants("memory")
        near = self._cap(ASSOCIATION_SHARE, config.association.max_tokens)
        near = max(0, min(near, self.beside_window - memory)) * self.wants("associations")
        if not self.query or not (memory or near):
            if self.wants("memory"):
                self.drop("lasting memory", NO_ROOM if self.query else "nothing was asked")
            return
        ask = Ask(
            query=self.query,
            agent=self.request.agent,
            caller=self.caller,
            session=view.session if view else "",
            language=self.language,
            room_tokens=memory,
            association_tokens=near,
            shown=(*(part.text for part in self.parts.values()), *self.request.shown),
            best=best if view and len(view.messages) >= BEGUN else 0.0,
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
        sources, paths, many = self.sources, self.sources.reader.paths, self.config.context
        agents = paths.agent_names()

        def hides(file: str, line: int) -> bool:
            return any(sources.hides(one, file, subagents.block_of(line)) for one in agents)

        task = self.request.task
        runs = subagents.history(
            paths, task, many.subagent_history, excludes=sources.excludes, hides=hides
        )
        self.notes += [] if runs else [subagents.missing(paths, task)]
        if self.wants("history"):
            part, dropped = subagents.runs_part(runs, self.words["history"], self.room)
            self.add(part)
            self.dropped.extend(dropped)

    def add_window(self) -> None:
        """Add the last messages and, under them, what waits for an answer and is paid for."""
        if not self.wants("window"):
            return
        room = self.left if self.said else self.room
        picked = self._pick(room)
        keys = [one.key for one in picked.entries if one.whole]
        lines = dated([(one.day, one.text) for one in picked.entries])
        lines = [self.words["window"], *lines] if lines else []
        text = "\n".join([*lines, *([self.said] if self.said else [])])
        keys += self.asked.keys if self.whole else ()
        why = counted(len(picked.keys), "message") if picked.keys else ""
        for key in picked.too_large:
            self.drop(f"message {key}", "too large for the window")
        if picked.older:
            self.drop(counted(picked.older, "older message"), "only the newest stay whole")
        if text:
            path = (self.view.path,) if self.view else ()
            self.parts["window"] = Part("window", text, count(text), path, tuple(keys), why)

    # --- room -----------------------------------------------------------------------------

    def _cap(self, share: float, most: int) -> int:
        """Return what a part may take: its own limit, or its share of a small budget."""
        return min(most, int(share * self.budget))

    def _reserve(self) -> int:
        """Return what other parts than auto-RAG and the window may still take."""
        config = self.config
        whole = (
            summary.tokens_of(self.view.rolling, speakers=True) + HEADING_TOKENS if self.view else 0
        )
        caps: dict[PartName, int] = {
            "earlier": 0,
            "summary": min(self._cap(SUMMARY_SHARE, config.summary.max_tokens), whole),
            "memory": self._cap(MEMORY_SHARE, config.recall.max_tokens),
            "associations": self._cap(ASSOCIATION_SHARE, config.association.max_tokens),
        }
        return sum(self.frame + tokens for name, tokens in caps.items() if self.wants(name))

    def _most(self) -> int:
        """Return how many of the last messages stay whole."""
        return len(self._messages()) if self.is_explicit else self.config.context.sliding_window

    def _messages(self) -> list[Message]:
        """Return what was said before, other than what the host shows anyway."""
        known = self.request.known
        return [one for one in self.asked.before if key_of(one) not in known]

    def _pick(self, room: int) -> window.Picked:
        messages = self._messages()
        if not self.wants("window"):
            return window.Picked(older=len(messages))
        return window.pick(messages, room - HEADING_TOKENS, self.words, self._most(), self.recalled)

    def finished(self) -> BuiltContext:
        """Return the context; what the estimates let in too much is taken out again."""
        for name in LEAST_FIRST:
            if self._cost() > self.budget and self.parts.pop(name, None) is not None:
                self.drop(f"the {name}")
        last, excess = self.parts.get("window"), self._cost() - self.budget
        if last is not None and excess > 0:
            text = clip(last.text, last.tokens - excess)
            self.parts["window"] = replace(last, text=text, tokens=count(text), messages=())
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
        names = (self.parts.get(name) for name in parts.PART_NAMES)
        return tuple(one for one in names if one is not None and one.text)

    def _cost(self) -> int:
        shown, frame = self._shown(), self.request.frame_tokens
        return count(parts.joined(part.text for part in shown)) + frame * len(shown)

    def _vector(self) -> Matrix | None:
        return self.embedder.embed_query(self.query) if self.embedder is not None else None
