"""The context before an answer: ordered parts within a budget, and what was left out and why.

Where the budget is small, what waits for an answer comes first, then what the caller says of its
tools, then who the agent is and what it knows, then what was said earlier and matters, the summary,
lasting memory, associations; the last messages take all that is left.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from vaultmind.errors import NotFound, UnreadableNote, VaultMindError
from vaultmind.index.words import detect
from vaultmind.memory.brain import PlacedFact, cut, parse_brain
from vaultmind.memory.contradictions import superseded, with_days
from vaultmind.plural import counted
from vaultmind.session import parts, subagents, summary
from vaultmind.session.active import speaks_of
from vaultmind.session.conversation import Conversations, View
from vaultmind.session.files import Shows, plain_text, read_text
from vaultmind.session.parts import BuildRequest, BuiltContext, Part, PartName, Piece, filled
from vaultmind.session.recall import Found, Recall, key_of, piece_of, remembered, spoken, waiting
from vaultmind.session.sentences import context_words
from vaultmind.tokens import clip, count
from vaultmind.types import Caller, Chunk, Hit, SearchRequest
from vaultmind.vault.parts import without_hidden
from vaultmind.vault.paths import SESSION_ID, agent_name

START: tuple[PartName, ...] = ("identity", "brain", "active context")
"""What an agent knows when a conversation begins."""
START_SHARE, START_TOKENS = 0.3, 240
"""Of a budget, that identity, brain and active context take even if all others want room; or so
many tokens, where half of it holds them."""
SHARES: dict[PartName, tuple[str, float]] = {
    "earlier": ("auto_rag", 0.4),
    "summary": ("summary", 0.2),
    "memory": ("recall", 0.15),
    "associations": ("association", 0.05),
}
"""The section of the configuration with a part's limit; the share of a budget that what was said
earlier may take where the caller named it, and others at most."""
WINDOW_SHARE, TOOLS_SHARE = 0.1, 0.5
"""Kept for the last messages whatever is recalled; tools' share of what pending messages leave."""
HEADING_TOKENS, MIN_FOLD_TOKENS = 12, 400
"""What a heading costs at most; and a window is not
called full for being asked for with less: the summary is everybody's."""
BEGUN = 3
"""A conversation of fewer messages has just begun: whatever it says, lasting memory is asked."""
ACTIVE_TOKENS = 120
"""Where the last conversation stopped has so much room, or half of a budget that is small."""
DEPTH, PER_NOTE = 12, 2
"""Hits of lasting memory that are looked at, since some stand in the context already; of one note.
"""
EARLIER, EARLIER_DEPTH, MESSAGE_TOKENS = "what was said earlier", 20, 20
"""Hits of the conversation that are looked at, and more where there is room for more messages of so
many tokens each."""
MIN_TOKENS = 20
"""A text cut to less says nothing and is left out whole."""
OTHERS_TOKENS = 120
"""Room of other conversations' lines; over budget they go with the active context."""
_IMPORTANCE = {"current": 0, None: 1, "decisions": 2, "preferences": 3, "user": 4}
"""Sections whose facts go first; `None` is a heading of the person's own."""


@dataclass(frozen=True, slots=True)
class ContextBuilder:
    """Builds contexts of one vault's conversations. Any thread."""

    shows: Shows
    talks: Conversations
    recall: Recall
    excludes: Callable[[str], bool] = lambda path: False
    """Tells whether the person's rules keep a vault-relative path from everybody."""

    def build(self, request: BuildRequest, caller: Caller) -> BuiltContext:
        """Return what an agent is given before it answers, never more than the budget.

        Raises BadArgument for a bad name of a task, NotFound for a session that is not there or
        may not be seen.
        """
        most = self.talks.config.context.max_tokens
        budget = most if request.budget is None else request.budget
        agent_name(request.agent)
        draft = _Draft(self, request, caller, budget)
        draft.add_pending()
        draft.add_tools()
        draft.add_start()
        if request.task:
            draft.add_runs()
        else:
            covered = draft.add_earlier()
            draft.add_summary()
            draft.add_memory(covered)
        draft.add_window()
        return draft.finished()


class _Draft:
    """A context while it is built: what is left, what stands in it, what does not and why.

    Room for what is recalled is reserved, the window is cut to the rest, what is not in it is
    searched, and the window is given back what was not spent.
    """

    def __init__(
        self, by: ContextBuilder, request: BuildRequest, caller: Caller, budget: int
    ) -> None:
        """Look at the conversation and at what waits for an answer in it."""
        self.by, self.request, self.caller, self.budget = by, request, caller, budget
        self.config, self.is_named = by.talks.config, request.budget is not None
        self.reader, self.paths = by.talks.reader, by.talks.reader.paths
        self.hides = by.talks.gate.hiding.hides
        self.without = request.without | ({"active context"} if request.task else set())
        self.left = budget + parts.BETWEEN_TOKENS
        self.frame = request.frame_tokens + parts.BETWEEN_TOKENS
        """What stands around a part."""
        self.parts: dict[PartName, Part] = {}
        self.dropped: list[parts.Dropped] = []
        self.notes: list[str] = []
        self.view = None if request.fresh or request.task else self._conversation()
        self.asked = waiting(self.view.messages if self.view else (), request.pending)
        self.query = self.asked.query
        self.before = [one for one in self.asked.before if key_of(one) not in request.known]
        """What was said before, other than what the host shows anyway."""
        self.words = context_words(self.view.language if self.view else detect(self.query, "en"))
        self.said, self.whole = "", False
        """The pending messages as they are shown, which are paid for; whether all of them are."""
        self.window, self.window_room = list[Piece](), 0
        """The last messages, and their room beside what else there may be."""

    # --- room -----------------------------------------------------------------------------

    @property
    def room(self) -> int:
        """Return what the text of one more part may cost."""
        return max(0, self.left - self.frame)

    def cap(self, name: PartName) -> int:
        """Return what a part may take: its own limit, its share of a budget, or what is left, of
        which something is kept for the window.
        """
        section, share = SHARES[name]
        tokens, most = int(share * self.budget), getattr(self.config, section).max_tokens
        tokens = tokens if self.is_named and name == "earlier" else min(tokens, most)
        spare = self.room - int(WINDOW_SHARE * self.budget)
        return max(0, min(tokens, spare)) if self.wants(name) else 0

    def wants(self, *names: PartName) -> bool:
        """Tell whether any of some parts may be in the context at all."""
        return not self.without.issuperset(names)

    def add(self, part: Part | None) -> None:
        """Take a part and pay for it; nothing for None or an empty one."""
        if part is not None and part.text:
            self.parts[part.name] = part
            self.left -= part.tokens + self.frame

    def drop(self, what: str, reason: str = parts.NO_ROOM) -> None:
        """Note what is left out."""
        self.dropped.append(parts.Dropped(what, reason))

    # --- what is asked --------------------------------------------------------------------

    def _conversation(self) -> View | None:
        """Return the conversation; raise NotFound for one that is named and not to be seen.

        Where none is named, an agent whose latest has ended begins a new one; a person looks at
        what was, and is told so.
        """
        by, request = self.by, self.request
        try:
            view = by.talks.view(request.agent, request.session)
        except UnreadableNote as error:
            if request.session:
                raise
            self.notes.append(f"The latest conversation cannot be read: {error}")
            return None
        if view is None or not by.shows(view.path, self.caller):
            if request.session:
                raise NotFound(f"{request.agent} has no session {request.session!r}.")
            return None
        if view.ended and not request.session:
            if self.caller.kind == "agent":
                self.drop(f"the conversation {view.session}", "it has ended, and a new one begins")
                return None
            self.notes.append(f"This is the latest conversation, {view.session}, which has ended.")
        return view

    # --- the parts ------------------------------------------------------------------------

    def add_pending(self) -> None:
        """Pay for what waits for an answer, which is shown to the letter.

        Where there is no room for all of it the newest stands alone; it is cut, with a mark, if it
        must be.
        """
        texts = self.asked.texts if self.wants("window") else ()
        lines = [f"{self.words['user']}: {text}" for text in texts]
        self.whole = count("\n".join(lines)) <= self.room
        if not self.whole:
            lines = [clip(lines[-1], self.room)]
            self.drop("a part of the pending messages")
        self.said = "\n".join(lines)
        self.left -= count(self.said) + self.frame if self.said else 0

    def add_tools(self) -> None:
        """Add what the caller says of its tools."""
        text = self.request.tools.strip() if self.wants("tools") else ""
        shown = self._cut(text, int(self.room * TOOLS_SHARE), "tools")
        self.add(Part("tools", shown, count(shown)))

    def add_start(self) -> None:
        """Add what an agent knows when a conversation begins, but what it says of this very one.

        Within its share, or in all there is where there is no conversation. What is left over
        there goes to the identity first, then to the brain, then to the active context.
        """
        request, paths, agent = self.request, self.paths, self.request.agent
        places = paths.identity(agent), paths.brain(agent), paths.active_context(agent)
        identity, facts, active = (self._readable(*one) for one in zip(START, places, strict=True))
        active = self._last_time(active) if self.wants("active context") else ""
        heading = "" if request.untitled else f"{self.words['active']}\n"
        room = self.left - self.frame * len(START) - count(heading)
        if self.view:
            share = int(START_SHARE * self.budget)
            room = min(room, max(share, min(START_TOKENS, self.budget // 2)) - count(heading))
        room = max(0, room)
        left = room - min(count(active), ACTIVE_TOKENS, room // 2)
        least = min(count(plain_text(facts)), left // 2)
        identity = self._cut(plain_text(identity), left - least, "identity")
        brain = self._brain(facts, left - count(identity))
        active = self._cut(active, room - count(identity) - count(brain), "active context")
        active = f"{heading}{active}" if active else ""
        for name, path, text in zip(START, places, (identity, brain, active), strict=True):
            self.add(Part(name, text, count(text), (path,)))

    def _readable(self, name: PartName, path: str) -> str:
        """Return what can be read of a file; what cannot is named, and how to mend it."""
        is_shown = self.wants(name) and self.by.shows(path, self.caller)
        text, wrong = read_text(self.reader, path) if is_shown else ("", "")
        if wrong:
            self.drop(f"part of the {name}", wrong)
        return text

    def _last_time(self, text: str) -> str:
        """Return what an active context tells, and what is told of other conversations.

        Nothing that it says of this very one, and nothing that is hidden or not to be seen.
        """
        request, agent, told = self.request, self.request.agent, speaks_of(text)
        record = self.paths.active_context(agent).removesuffix(".md")
        last = without_hidden(text, lambda block: self.hides(agent, record, block))
        rest = [one for one in request.others if f"/{one.session}]]" not in told]
        path = partial(self.paths.session, agent)
        seen = [one for one in rest if self.by.shows(path(one.session), self.caller)]
        own = self.view.session if self.view else request.session
        if own and own in SESSION_ID.findall(told):
            self.drop("active context", "it is about this conversation")
            last = ""
        return f"{plain_text(last)}\n\n{others_text(seen)}".strip()

    def _brain(self, text: str, room: int) -> str:
        """Return a brain without facts that a newer one contradicts, and without as many of the
        least important as must go.

        The file keeps them. By section; in a section what we wrote goes before what the person
        typed, then the older. Outdated facts that have others below them stay.
        """
        facts = parse_brain(text).facts
        old = superseded([(one.fact.text, one.fact.written) for one in facts])
        gone = [facts[at] for at in sorted(old) if facts[at].tree_end == facts[at].end]
        for one in gone:
            self.drop(f"a fact of {one.fact.written}", parts.OUTDATED)
        rest = sorted((one for one in facts if one not in gone), key=_importance)

        def less(many: int) -> str:
            return plain_text(days(_without(text, [*gone, *rest[:many]])))

        whole = plain_text(with_days(_without(text, gone)))
        days: Callable[[str], str] = with_days if count(whole) <= room else str
        many = bisect_left(range(len(rest)), True, key=lambda many: count(less(many)) <= room)
        if many:
            self.drop(f"{many} of {len(rest)} facts, the least important")
        return self._cut(less(many), room, "brain")

    def _cut(self, text: str, room: int, name: str) -> str:
        """Return as much of a text as there is room for."""
        if count(text) <= room:
            return text
        shown = clip(text, room) if room >= MIN_TOKENS else ""
        self.drop(f"part of the {name}" if shown else name)
        return shown

    def add_earlier(self) -> float:
        """Add what was said earlier and matters; return how much of the question a match holds."""
        view, rag, asked = self.view, self.config.auto_rag, self.asked.keys
        if view is None:
            return 0.0
        room, reserve = self.cap("earlier"), self._reserve()
        self.window = self._newest(self.left - reserve)
        is_all = len(self.window) == len(self.before) and all(one.key for one in self.window)
        reason = "" if rag.enabled else "switched off"
        if is_all and len(view.said) == len(view.messages):
            reason = "the whole conversation fits the window"
        self.window_room = self.left - reserve - (0 if reason else room)
        self.window = self._newest(self.window_room)
        placed = [(at, one) for at, one in enumerate(view.said) if key_of(one) not in asked]
        said = {f"#^{one.block}": (at, one) for at, one in placed}
        limit = max(EARLIER_DEPTH, room // MESSAGE_TOKENS)
        request = SearchRequest(
            self.query, limit, agent=view.agent, file=view.path, per_note=limit + 1
        )
        least = "auto_rag.relevance", 1.0 - rag.relevance
        found = self.by.recall.find(request, self.caller, least, lambda hit: hit.anchor not in said)
        reason = reason or found.reason
        if reason and self.wants("earlier"):
            self.drop(EARLIER, reason)
        hits = found.hits if self.wants("earlier") and not reason else ()
        there = {*self.request.known, *(one.key for one in self.window)}
        pieces = [
            replace(spoken(one, self.words, room // 2, at, link=True), source=view.path)
            for at, one in dict.fromkeys(said[hit.anchor] for hit in hits)
            if key_of(one) not in there
        ]
        why = f"best match at distance {1 - found.best:.2f}"
        self._add_pieces("earlier", pieces, None if self.is_named else rag.top_k, why)
        return max((hit.parts.get("coverage", 0.0) for hit in found.hits), default=0.0)

    def add_summary(self) -> None:
        """Add what was folded away, without the lines that stand in the window or above it.

        What is due is folded first; the summary of another's conversation is left as it is.
        """
        if self.view is None or not self.wants("summary"):
            return
        if self.caller.kind != "agent" or self.caller.agent == self.view.agent:
            try:
                self.view = self.by.talks.fold(self.view, max(MIN_FOLD_TOKENS, self.window_room))
            except VaultMindError as error:  # a full disk, a file that somebody else keeps changing
                self.notes.append(f"The summary could not be updated: {error}")
        view, title, rolling = self.view, self.words["summary"], self.view.rolling
        there = {one.key for one in self.window} | self._recalled()
        blocks = {one.block for one in self.before if key_of(one) in there} - {""}
        lines = tuple(one for one in rolling.lines if one.source not in blocks)
        rolling, room = replace(rolling, lines=lines), self.cap("summary")
        fits = summary.fitting(rolling, room - count(f"{title}\n"), speakers=True)
        body = summary.shown(fits, speakers=True)
        text = f"{title}\n{body}" if body else ""
        path = self.paths.rolling(view.agent, view.session, view.segment)
        why = f"{counted(rolling.messages, 'message')} folded"
        self.add(Part("summary", text, count(text), (path,), (), why))
        if len(fits.lines) < len(lines):
            self.drop("a part of the summary", parts.more_than(room, "summary.max_tokens"))

    def add_memory(self, covered: float) -> None:
        """Add what lasting memory says where the conversation does not, and what comes to mind."""
        view, recall, agent = self.view, self.config.recall, self.request.agent
        if not self.wants("memory", "associations"):
            return
        reason = "" if recall.enabled else "switched off"
        if view and len(view.messages) >= BEGUN and covered >= self.config.context.recall_gate:
            reason = f"the conversation itself covers {covered:.0%} of it"
        limit, running = max(DEPTH, 4 * recall.top_k), view.path if view else ""
        since = view.messages[0].block if view and view.messages else ""
        request = SearchRequest(
            self.query, limit, agent=agent, per_note=PER_NOTE, running=running, since=since
        )
        found = Found(reason=reason)
        if not reason:
            least = "recall.relevance", recall.relevance
            found = self.by.recall.find(request, self.caller, least, self._is_own)
        if found.reason:
            self.drop("memory", found.reason)
            return
        hits = [hit for hit in found.hits if hit.score >= found.least]
        texts = [*(part.text for part in self.parts.values()), *self.request.shown]
        self._add_pieces("memory", remembered(hits, self.query, texts), recall.top_k)
        if not self.cap("associations"):
            return
        memory, gate = self.parts.get("memory"), self.config.association.gate
        notes = {source.partition("#")[0] for source in memory.sources} if memory else ()
        names = {hit.id: hit.path.rpartition("/")[2].removesuffix(".md") for hit in found.hits}
        near = list[Piece]()
        for one in self.by.recall.tied(self.query, found.hits, agent, self.caller, gate):
            if one.chunk.path not in notes and not self._is_own(one.chunk):
                way = self.words[one.tie].format(x=names.get(one.to, ""), tag=one.name)
                piece = piece_of(one.chunk, "associations", self.query, f"({way})")
                near.append(replace(piece, at=len(near), why=f"{one.strength:.2f}"))
        self._add_pieces("associations", near, None)
        if not near:
            reason = f"nothing is related to the hits strongly enough ({gate:.2f})"
            self.drop("associations", reason)

    def _add_pieces(
        self, name: PartName, pieces: Sequence[Piece], most: int | None, why: str = ""
    ) -> None:
        """Add a part of what was found, without what stands in the context already."""
        title, texts = self.words[name], (part.text for part in self.parts.values())
        known = "".join(map(parts.bare, (*texts, *self.request.shown, self.query)))
        limit = SHARES[name][0], most
        kept, out = filled(title, pieces, self.cap(name), limit, known)
        self.add(parts.part_of(name, title, kept, why))
        for one in out:
            self.drop(one.source if one.says else "fainter matches", one.reason)

    def _is_own(self, one: Hit | Chunk) -> bool:
        """Tell whether something is of the running conversation, which has places of its own.

        Its messages since its segment began, its sliding summaries, and the active context.
        """
        view, own = self.view, [self.paths.active_context(self.request.agent)]
        if view:
            rolling = f"{self.paths.summaries(view.agent)}/rolling/{view.session}"
            own += [f"{rolling}.", f"{rolling}-"]
            if one.path == view.path:
                return one.anchor in {f"#^{message.block}" for message in view.messages}
        return one.path.startswith(tuple(own))

    def add_runs(self) -> None:
        """Add a sub-agent's last completed runs, in the place of a conversation."""
        agents = self.paths.agent_names()

        def hides(file: str, block: str) -> bool:
            return self.by.excludes(file) or any(self.hides(one, file, block) for one in agents)

        task, many = self.request.task, self.config.context.subagent_history
        runs = subagents.history(self.paths, task, many, hides)
        self.notes += [] if runs else [f"There are no completed runs of the task {task!r}."]
        title, room, pieces = self.words["history"], self.room, list[Piece]()
        for at, run in enumerate(runs if self.wants("history") else ()):
            text = "\n".join(one.text for one in run)
            texts = (f"{text}\n---",) if at else (text, clip(text, room - HEADING_TOKENS))
            pieces.append(Piece(texts, -at, source=run[-1].file))
        kept, _ = filled(title, pieces, room, ("", None), unbroken=True)
        self.add(parts.part_of("history", title, kept, counted(len(kept), "completed run")))
        if older := len(pieces) - len(kept):
            self.drop(counted(older, "older run"))

    def add_window(self) -> None:
        """Add the last messages and, under them, what waits for an answer and is paid for."""
        if not self.wants("window"):
            return
        kept = self._newest(self.left if self.said else self.room)
        lines = [self.words["window"], *parts.dated(kept)] if kept else []
        text = "\n".join([*lines, *([self.said] if self.said else [])])
        keys = [one.key for one in kept if one.key]
        why = counted(len(keys), "message") if keys else ""
        if older := kept[0].at if kept else len(self.before):
            self.drop(counted(older, "older message"), "only the newest are kept in full")
        keys += self.asked.keys if self.whole else ()
        path = (self.view.path,) if self.view else ()
        self.add(Part("window", text, count(text), path, tuple(keys), why))

    def _newest(self, room: int) -> list[Piece]:
        """Return the newest messages that fit a room, without those that are recalled."""
        recalled, many = self._recalled(), len(self.before) if self.wants("window") else 0
        newest = (at for at in reversed(range(many)) if key_of(self.before[at]) not in recalled)
        most = None if self.is_named else self.config.context.sliding_window
        pieces = (spoken(self.before[at], self.words, room // 2, at) for at in newest)
        return filled(self.words["window"], pieces, room, ("context", most), unbroken=True)[0]

    def _recalled(self) -> set[str]:
        """Return the keys of the messages that stand in the context as what was said earlier."""
        return set(self.parts["earlier"].messages) if "earlier" in self.parts else set()

    def _reserve(self) -> int:
        """Return what other parts than auto-RAG and the window may still take."""
        whole = summary.tokens_of(self.view.rolling, speakers=True) if self.view else 0
        tokens = min(self.cap("summary"), whole + HEADING_TOKENS)
        tokens += self.cap("memory") + self.cap("associations")
        others: tuple[PartName, ...] = ("summary", "memory", "associations")
        return tokens + self.frame * sum(self.wants(one) for one in others)

    def finished(self) -> BuiltContext:
        """Return the context."""
        shown = tuple(self.parts[name] for name in parts.PART_NAMES if name in self.parts)
        cost = count(parts.BETWEEN.join(part.text for part in shown))
        return BuiltContext(
            agent=self.request.agent,
            session=self.view.session if self.view else "",
            segment=self.view.segment if self.view else 0,
            budget=self.budget,
            tokens=cost + self.request.frame_tokens * len(shown),
            parts=shown,
            dropped=tuple(dict.fromkeys(self.dropped)),
            notes=tuple(dict.fromkeys(self.notes)),
        )


# --- what an agent knows when a conversation begins ---------------------------------------


def others_text(others: Sequence[parts.Recent]) -> str:
    """Return what goes on in other conversations, and what was before the last one."""
    titles = context_words(detect("\n".join(one.line for one in others), "en"))
    told, room = list[str](), OTHERS_TOKENS
    for running, name in ((True, "heading_beside"), (False, "heading_before")):
        lines = (Piece((f"- {one.line}",)) for one in others if one.running == running)
        if kept := filled(titles[name], lines, room, ("", None))[0]:
            told.append("\n".join([f"## {titles[name]}", *parts.dated(kept)]))
            room -= count(told[-1])
    return "\n\n".join(told)


def _importance(one: PlacedFact) -> tuple[int, bool, str, int]:
    return _IMPORTANCE[one.fact.section], not one.fact.written, one.fact.written, one.start


def _without(text: str, facts: Sequence[PlacedFact]) -> str:
    """Return a brain without some facts and what is nested under them."""
    above = [one for one in facts if not any(it.start < one.start < it.tree_end for it in facts)]
    for one in sorted(above, key=lambda one: -one.start):
        text = cut(text, one.start, one.tree_end)
    return text
