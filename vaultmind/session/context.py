"""The context before an answer: ordered parts within a budget, and what was left out and why.

Where the budget is small, what waits for an answer comes first, then what the caller says of its
tools, then who the agent is and what it knows, then what was said earlier and matters, the summary,
lasting memory, associations; the last messages take all that is left.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from vaultmind.config import Config
from vaultmind.errors import BadArgument, NotFound, UnreadableNote, VaultMindError
from vaultmind.index.words import detect
from vaultmind.memory.brain import MEND, PlacedFact, parse_brain
from vaultmind.memory.contradictions import OUTDATED, superseded, with_days
from vaultmind.plural import counted
from vaultmind.ports import MessageMeaning
from vaultmind.session import parts, subagents, summary
from vaultmind.session.active import speaks_of
from vaultmind.session.conversation import Conversations, View
from vaultmind.session.files import Hides, Shows, plain_text, read_brain, read_text
from vaultmind.session.longterm import Ask, LongTerm
from vaultmind.session.parts import (
    NO_ROOM,
    BuildRequest,
    BuiltContext,
    Dropped,
    Part,
    PartName,
    Recent,
)
from vaultmind.session.recall import (
    EARLIER,
    Picked,
    RecallRequest,
    dated,
    key_of,
    pick,
    recall,
    waiting,
)
from vaultmind.session.sentences import context_words
from vaultmind.session.summary import section_text
from vaultmind.tokens import clip, count
from vaultmind.types import Caller
from vaultmind.vault.files import VaultReader
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
MIN_TOKENS = 20
"""A text cut to less says nothing and is left out whole."""
OTHERS_TOKENS = 120
"""Room of other conversations' lines; over budget they go with the active context."""
_IMPORTANCE = {"current": 0, None: 1, "decisions": 2, "preferences": 3, "user": 4}
"""Sections whose facts go first; `None` is a heading of the person's own."""


@dataclass(frozen=True, slots=True)
class ContextBuilder:
    """Builds contexts of one vault's conversations. Any thread."""

    reader: VaultReader
    shows: Shows
    hides: Hides
    talks: Conversations
    memory: LongTerm
    meaning: MessageMeaning
    config: Config
    excludes: Callable[[str], bool] = lambda path: False
    """Tells whether the person's rules keep a vault-relative path from everybody."""

    def build(self, request: BuildRequest, caller: Caller) -> BuiltContext:
        """Return what an agent is given before it answers, never more than the budget.

        Raises BadArgument for a budget below 1 or a bad name of a task, NotFound for a session
        that is not there or may not be seen.
        """
        most = self.config.context.max_tokens
        budget = most if request.budget is None else request.budget
        if budget < 1:
            raise BadArgument("budget", budget, "1 or more")
        agent_name(request.agent)
        draft = _Draft(self, request, caller, budget)
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


class _Draft:
    """A context while it is built: what is left, what stands in it, what does not and why.

    Room for what is recalled is reserved, the window is cut to the rest, what is not in it is
    searched, and the window is given back what was not spent.
    """

    def __init__(
        self, by: ContextBuilder, request: BuildRequest, caller: Caller, budget: int
    ) -> None:
        """Look at the conversation, what waits for an answer in it, and whether it has a vector."""
        self.by, self.request, self.caller, self.budget = by, request, caller, budget
        self.config = by.config
        self.left = budget + parts.BETWEEN_TOKENS
        self.frame = request.frame_tokens + parts.BETWEEN_TOKENS
        """What stands around a part."""
        self.parts: dict[PartName, Part] = {}
        self.dropped: list[Dropped] = []
        self.notes: list[str] = []
        self.view = None if request.fresh or request.task else self._conversation()
        self.asked = waiting(self.view.messages if self.view else (), request.pending)
        self.query = self.asked.query
        self.before = [one for one in self.asked.before if key_of(one) not in request.known]
        """What was said before, other than what the host shows anyway."""
        self.language = self.view.language if self.view else detect(self.query, "en")
        self.words = context_words(self.language)
        self.said, self.whole = "", False
        """The pending messages as they are shown, which are paid for; whether all of them are."""
        self.picked, self.window_room = Picked(), 0
        self.recalled: frozenset[str] = frozenset()
        asks = self.query and self.view and self.wants("earlier", "memory", "associations")
        self.near = by.meaning.closeness(self.view.path, self.query) if asks and self.view else None

    # --- room -----------------------------------------------------------------------------

    @property
    def room(self) -> int:
        """Return what the text of one more part may cost."""
        return max(0, self.left - self.frame)

    def cap(self, name: PartName) -> int:
        """Return what a part may take: its own limit, or its share of a small budget."""
        section, share = SHARES[name]
        tokens, most = int(share * self.budget), getattr(self.config, section).max_tokens
        if name == "earlier":
            return tokens if self.request.budget is not None else int(most)
        return min(tokens, int(most)) if self.wants(name) else 0

    def beside_window(self, name: PartName, taken: int = 0) -> int:
        """Return the same, of what is there without what is kept for the window and is taken."""
        return min(self.cap(name), max(0, self.room - int(WINDOW_SHARE * self.budget) - taken))

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

    # --- what is asked --------------------------------------------------------------------

    def _conversation(self) -> View | None:
        """Return the conversation; raise NotFound for one that is named and not to be seen.

        Where none is named, an agent whose latest has ended begins a new one; a person looks at
        what was, and is told so.
        """
        request, view = self.request, None
        try:
            view = self.by.talks.view(request.agent, request.session)
        except UnreadableNote as error:
            if request.session:
                raise
            self.notes.append(f"The latest conversation cannot be read: {error}")
        if view and not self.by.shows(view.path, self.caller):
            view = None
        if view is None and request.session:
            raise NotFound(f"{request.agent} has no session {request.session!r}.")
        if view is None or request.session or not view.ended:
            return view
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
        shown = clip(text, int(self.room * TOOLS_SHARE))
        if shown != text:
            self.drop("a part of the tools" if shown else "the tools")
        self.add(Part("tools", shown, count(shown)))

    def add_start(self) -> None:
        """Add what an agent knows when a conversation begins, but what it says of this very one.

        Within its share, or in all there is where there is no conversation.
        """
        by, request, paths = self.by, self.request, self.by.reader.paths
        places = paths.identity, paths.brain, paths.active_context
        files = {name: place(request.agent) for name, place in zip(START, places, strict=True)}
        names = [name for name in files if self.wants(name) and by.shows(files[name], self.caller)]
        names = [name for name in names if not (request.task and name == "active context")]
        read = {name: readable(by.reader, files[name], self.dropped) for name in names}
        heading = "" if request.untitled else f"{self.words['active']}\n"
        room = self.left - self.frame * len(names) - count(heading)
        if self.view:
            share = int(START_SHARE * self.budget)
            room = min(room, max(share, min(START_TOKENS, self.budget // 2)) - count(heading))
        identity, brain, active = (read.get(name, "") for name in START)
        active = self._last_time(active) if "active context" in names else ""
        fit = start_texts(identity, brain, active, max(0, room), self.dropped)
        for name, text in zip(START, fit, strict=True):
            titled = f"{heading}{text}" if text and name == "active context" else text
            self.add(Part(name, titled, count(titled), (files[name],)))

    def _last_time(self, text: str) -> str:
        """Return what an active context tells, and what is told of other conversations.

        Nothing that it says of this very one, and nothing that is hidden or not to be seen.
        """
        paths, request, told = self.by.reader.paths, self.request, speaks_of(text)
        record = paths.active_context(request.agent).removesuffix(".md")
        last = without_hidden(text, lambda block: self.by.hides(request.agent, record, block))
        others = (one for one in request.others if f"/{one.session}]]" not in told)
        seen = [
            one
            for one in others
            if self.by.shows(paths.session(request.agent, one.session), self.caller)
        ]
        own = self.view.session if self.view else request.session
        if own and own in SESSION_ID.findall(told):
            self.drop("active context", "it is of this conversation")
            last = ""
        return f"{plain_text(last)}\n\n{others_text(seen)}".strip()

    def add_earlier(self) -> float:
        """Add what was said earlier and matters; return how good the best match is.

        What was said in an earlier segment may be brought by lasting memory, too.
        """
        if self.view is None:
            return 0.0
        rag, view, is_explicit = self.config.auto_rag, self.view, self.request.budget is not None
        tokens, reserve = self.beside_window("earlier"), self._reserve()
        everything = self._pick(self.left - reserve)
        fits = not everything.older and all(one.key for one in everything.entries)
        reason = "" if rag.enabled else "switched off"
        if fits and len(view.index.held) == len(view.messages):
            reason = "the whole conversation fits the window"
        self.window_room = self.left - reserve - (0 if reason else tokens)
        self.picked = self._pick(self.window_room)
        known = {*self.picked.keys, *self.asked.keys, *self.request.known}
        if reason or not self.wants("earlier"):
            tokens, running = 0, {key_of(one) for one in view.messages}
            known = {key_of(one) for one in view.index.held} - (running - {*self.asked.keys})
        top_k = None if is_explicit else rag.top_k
        request = RecallRequest(
            self.query, tokens, top_k, frozenset(known), view.language, rag.relevance
        )
        found = recall(view.index, request, self.near)
        if self.wants("earlier"):
            self.dropped.extend([Dropped(EARLIER, reason)] if reason else found.dropped)
        if found.part:
            self.recalled = frozenset(found.part.messages)
            self.add(replace(found.part, sources=(view.path,)))
        return found.best

    def add_summary(self) -> None:
        """Add what was folded away, without the lines that stand in the window or above it.

        What is due is folded first; the summary of another's conversation is left as it is.
        """
        if self.view is None or not self.wants("summary"):
            return
        if self.caller.kind != "agent" or self.caller.agent == self.view.agent:
            self.view = self._folded(self.view)
        view, title, rolling = self.view, self.words["summary"], self.view.rolling
        if not (whole := summary.tokens_of(rolling, speakers=True)):
            return
        room = self.beside_window("summary")
        fits = summary.fitting(rolling, room - count(f"{title}\n"), speakers=True)
        there = self.picked.keys | self.recalled
        blocks = {one.block for one in self.before if key_of(one) in there} - {""}
        lines = tuple(one for one in fits.lines if one.source not in blocks)
        body = summary.shown(replace(fits, lines=lines), speakers=True)
        text = f"{title}\n{body}" if body else ""
        path = self.by.reader.paths.rolling(view.agent, view.session, view.segment)
        why = f"{counted(rolling.messages, 'message')} folded"
        self.add(Part("summary", text, count(text), (path,), (), why))
        if room < whole + HEADING_TOKENS:
            self.drop("a part of the summary", parts.more_than(room, "summary.max_tokens"))

    def _folded(self, view: View) -> View:
        """Return the view with what is due folded into its summary."""
        config, tokens = self.config, max(MIN_FOLD_TOKENS, self.window_room)
        every, full = config.summary.every, config.session.summarize_at
        whole = summary.Window(config.context.sliding_window, tokens, every, full)
        try:
            return self.by.talks.fold(view, whole)
        except VaultMindError as error:  # a full disk, a file that somebody else keeps changing
            self.notes.append(f"The summary could not be brought up to date: {error}")
            return view

    def add_memory(self, best: float) -> None:
        """Add what lasting memory says, and what comes to mind through it."""
        view, memory = self.view, self.beside_window("memory")
        near = self.beside_window("associations", memory)
        if not self.wants("memory", "associations"):
            return
        if not (memory or near):
            self.drop("lasting memory")
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
            brought = self.by.memory.recall(ask)
        except VaultMindError as error:  # the index is being repaired: the rest is there
            self.notes.append(f"Lasting memory could not be asked: {error}")
            return
        for part in brought[0]:
            self.add(part)
        self.dropped.extend(brought[1])

    def add_runs(self) -> None:
        """Add a sub-agent's last completed runs, in the place of a conversation."""
        by, agents = self.by, self.by.reader.paths.agent_names()

        def hides(file: str, block: str) -> bool:
            return by.excludes(file) or any(by.hides(one, file, block) for one in agents)

        paths, task = by.reader.paths, self.request.task
        many = self.config.context.subagent_history
        runs = subagents.history(paths, task, many, hides)
        self.notes += [] if runs else [f"There are no completed runs of the task {task!r}."]
        if self.wants("history"):
            part, dropped = subagents.runs_part(runs, self.words["history"], self.room)
            self.add(part)
            self.dropped.extend(dropped)

    def add_window(self) -> None:
        """Add the last messages and, under them, what waits for an answer and is paid for."""
        if not self.wants("window"):
            return
        picked = self._pick(self.left if self.said else self.room)
        keys = [one.key for one in picked.entries if one.key]
        lines = dated([(one.day, one.text) for one in picked.entries])
        lines = [self.words["window"], *lines] if lines else []
        text = "\n".join([*lines, *([self.said] if self.said else [])])
        keys += self.asked.keys if self.whole else ()
        why = counted(len(picked.keys), "message") if picked.keys else ""
        if picked.older:
            self.drop(counted(picked.older, "older message"), "only the newest stay whole")
        path = (self.view.path,) if self.view else ()
        self.add(Part("window", text, count(text), path, tuple(keys), why))

    def _reserve(self) -> int:
        """Return what other parts than auto-RAG and the window may still take."""
        whole = summary.tokens_of(self.view.rolling, speakers=True) if self.view else 0
        tokens = min(self.cap("summary"), whole + HEADING_TOKENS)
        tokens += self.cap("memory") + self.cap("associations")
        others: tuple[PartName, ...] = ("summary", "memory", "associations")
        return tokens + self.frame * sum(self.wants(one) for one in others)

    def _pick(self, room: int) -> Picked:
        if not self.wants("window"):
            return Picked(older=len(self.before))
        is_explicit = self.request.budget is not None
        most = len(self.before) if is_explicit else self.config.context.sliding_window
        return pick(self.before, room - HEADING_TOKENS, self.words, most, self.recalled)

    def finished(self) -> BuiltContext:
        """Return the context; what the estimates let in too much is taken out again."""
        shown = [self.parts[name] for name in parts.PART_NAMES if name in self.parts]
        for part in [one for one in reversed(self.parts.values()) if one.name != "window"]:
            if self._cost(shown) > self.budget:
                shown.remove(part)
                self.drop(f"the {part.name}")
        if shown and (excess := self._cost(shown) - self.budget) > 0:
            last = shown.pop()
            text = clip(last.text, last.tokens - excess)
            part = replace(last, text=text, tokens=count(text), messages=())
            shown += [part] if text else []
        return BuiltContext(
            agent=self.request.agent,
            session=self.view.session if self.view else "",
            segment=self.view.segment if self.view else 0,
            budget=self.budget,
            tokens=self._cost(shown),
            parts=tuple(shown),
            dropped=tuple(dict.fromkeys(self.dropped)),
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def _cost(self, shown: Sequence[Part]) -> int:
        text = parts.joined(part.text for part in shown)
        return count(text) + self.request.frame_tokens * len(shown)


# --- what an agent knows when a conversation begins ---------------------------------------


def start_texts(
    identity: str, facts: str, active: str, room: int, dropped: list[Dropped]
) -> tuple[str, str, str]:
    """Return as much of an identity, a brain and an active context as there is room for.

    What is left out is added to `dropped`, with the reason.
    """
    identity, facts = plain_text(identity), _current(facts, dropped)
    brain = plain_text(with_days(facts))
    left = room - min(count(active), ACTIVE_TOKENS, room // 2)
    identity = _cut(identity, left - min(count(brain), left // 2), "identity", dropped)
    brain = _cut_brain(facts, left - count(identity), dropped)
    left = room - count(identity) - count(brain)
    return identity, brain, _cut(active, left, "active context", dropped)


def others_text(others: Sequence[Recent]) -> str:
    """Return what goes on in other conversations, and what was before the last one."""
    titles = context_words(detect("\n".join(one.line for one in others), "en"))
    shown, room = list[str](), OTHERS_TOKENS
    for running, title in ((True, titles["heading_beside"]), (False, titles["heading_before"])):
        lines = []
        for one in others:
            if one.running == running and (cost := count(f"- {one.line}")) <= room:
                lines.append(one.line)
                room -= cost
        shown += [section_text(title, lines)] if lines else []
    return "\n\n".join(shown)


def readable(reader: VaultReader, path: str, dropped: list[Dropped]) -> str:
    """Return what can be read of a file; what cannot is named, and how to mend it."""
    is_brain = path.endswith("/brain.md")
    text, wrong = (read_brain if is_brain else read_text)(reader, path)
    if wrong:
        reason = wrong if is_brain else f"{wrong}. {MEND}"
        dropped.append(
            Dropped("what cannot be read of the brain" if is_brain else f"part of {path}", reason)
        )
    return text


def _current(text: str, dropped: list[Dropped]) -> str:
    """Return a brain without facts that a newer one contradicts, but for those with others below.

    The file keeps them: which of the two holds is the person's to say.
    """
    placed = parse_brain(text).facts
    old = superseded([(one.fact.text, one.fact.written) for one in placed])
    gone = [placed[at] for at in sorted(old) if placed[at].tree_end == placed[at].end]
    dropped += [Dropped(f"a fact of {one.fact.written}", OUTDATED) for one in gone]
    return _without(text, gone)


def _cut(text: str, room: int, name: str, dropped: list[Dropped]) -> str:
    """Return as much of a text as there is room for."""
    if count(text) <= room:
        return text
    shown = clip(text, room) if room >= MIN_TOKENS else ""
    dropped.append(Dropped(f"part of the {name}" if shown else name, NO_ROOM))
    return shown


def _cut_brain(text: str, room: int, dropped: list[Dropped]) -> str:
    """Return a brain without as many of its least important facts as must go.

    By section; in a section what we wrote goes before what the person typed, then the older.
    """

    def importance(one: PlacedFact) -> tuple[int, bool, str, int]:
        fact = one.fact
        return _IMPORTANCE[fact.section], not fact.written, fact.written, one.start

    facts = sorted(parse_brain(text).facts, key=importance)

    def less(many: int) -> str:
        return plain_text(with_days(_without(text, facts[:many])))

    gone = bisect_left(range(len(facts)), True, key=lambda many: count(less(many)) <= room)
    if gone:
        dropped.append(Dropped(f"{gone} of {len(facts)} facts, the least important", NO_ROOM))
    return _cut(less(gone), room, "brain", dropped)


def _without(text: str, facts: Sequence[PlacedFact]) -> str:
    """Return a brain without some facts and what is nested under them."""
    kept, position = list[str](), 0
    for placed in sorted(facts, key=lambda one: one.start):
        if placed.start >= position:
            kept.append(text[position : placed.start])
        stop = text.find("\n", placed.tree_end)
        position = max(position, stop + 1 if stop >= 0 else len(text))
    return "".join((*kept, text[position:]))
