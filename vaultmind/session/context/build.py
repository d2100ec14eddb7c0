"""The context before an answer: ordered parts within a budget, and what was left out and why.

Where the budget is small, what waits for an answer comes first, then what the caller says of its
tools, then who the agent is and what it knows, then what was said earlier and matters, a few of
the last messages, the summary, lasting memory, associations; the last messages take all that is
left. Identity, brain and active context cut themselves as at a conversation's start, and get what
nobody took in the end.
"""

from __future__ import annotations

import logging

from vaultmind.errors import BadArgument, NotFound, UnreadableNote, VaultMindError
from vaultmind.ports import Embedder, Report, silent
from vaultmind.session.context.beginning import add_start, fill_start
from vaultmind.session.context.budget import LONGEST_TOKEN, TOOLS_SHARE, Purse, caps_of, cut
from vaultmind.session.context.draft import Draft
from vaultmind.session.context.longterm.longterm import Ask
from vaultmind.session.context.means import Means
from vaultmind.session.context.parts import NO_ROOM, BuildRequest, BuiltContext, Part
from vaultmind.session.context.runs import add_runs
from vaultmind.session.context.talk import Talk, TalkParts
from vaultmind.session.context.waiting import Waiting, as_shown, waiting
from vaultmind.session.conversation import View
from vaultmind.session.recall.autorag import AutoRagSettings
from vaultmind.session.recall.triggers import language_of
from vaultmind.session.subagents import history
from vaultmind.session.summary import Window
from vaultmind.tokens import count
from vaultmind.types import Caller
from vaultmind.vault.paths import agent_name

ENDED = "it has ended, and a new one begins"

log = logging.getLogger(__name__)


class Builder:
    """Builds contexts of one vault's conversations. Any thread."""

    def __init__(self, means: Means) -> None:
        self._means = means

    def build(self, request: BuildRequest, caller: Caller, report: Report = silent) -> BuiltContext:
        """Return what an agent is given before it answers, never more than the budget.

        Raises BadArgument for a budget below 1 or a bad name of a task, NotFound for a session
        that is not there or may not be seen.
        """
        draft = self._draft(request, caller)
        if request.task:
            return self._for_task(draft)
        view = None if request.fresh else self._view(draft)
        asked = waiting(view.messages if view else (), request.pending)
        language = view.language if view else language_of(asked.query)
        shown, whole = self._waiting(draft, asked, language)
        self._add_tools(draft)
        session = view.session if view else ""
        add_start(self._means, draft, session, language)
        if view is None:
            self._add_memory(draft, asked, None, 0.0)
            if shown:
                draft.parts["window"] = Part("window", shown, count(shown))
            fill_start(self._means, draft, "", language)
            return draft.finished()
        talk = self._folded(draft, self._talk(draft, view, asked), report)
        parts = TalkParts(draft, talk)
        best = parts.add_earlier(self._embedder(draft, asked.query))
        if talk.view.refused and draft.wants("summary"):
            draft.notes.append(f"The summary's file cannot be read: {talk.view.refused}.")
        parts.add_summary()
        self._add_memory(draft, asked, talk.view, best)
        parts.add_window(shown, whole=whole)
        fill_start(self._means, draft, session, language)
        return draft.finished(view.session, view.segment)

    def _draft(self, request: BuildRequest, caller: Caller) -> Draft:
        config = self._means.config
        budget = config.context.max_tokens if request.budget is None else request.budget
        if budget < 1:
            raise BadArgument("budget", budget, "1 or more")
        agent_name(request.agent)
        return Draft(
            request, caller, budget, caps_of(config, budget), Purse.of(budget, request.frame_tokens)
        )

    def _for_task(self, draft: Draft) -> BuiltContext:
        """Return a sub-agent's context: who it is, what it knows, its runs, what it is to do."""
        request, means = draft.request, self._means
        runs = means.config.context.subagent_history
        past = history(
            means.reader.paths, request.task, runs, excludes=means.excludes, hides=means.hides_run
        )
        asked = waiting((), request.pending)
        language = language_of(asked.query)
        shown, _ = self._waiting(draft, asked, language)
        self._add_tools(draft)
        add_start(means, draft, "", language)
        add_runs(draft, past, language)
        if shown:
            draft.parts["window"] = Part("window", shown, count(shown))
        fill_start(means, draft, "", language)
        return draft.finished()

    def _view(self, draft: Draft) -> View | None:
        """Return the conversation; raise NotFound for one that is named and not to be seen.

        Where none is named, an agent whose latest has ended begins a new one; a person looks at
        what was, and is told so.
        """
        means, request = self._means, draft.request
        try:
            view = means.talks.view(request.agent, request.session)
        except UnreadableNote as error:
            if request.session:
                raise
            draft.notes.append(f"The latest conversation cannot be read: {error}")
            return None
        if view is not None and means.shows(view.path, draft.caller):
            if request.session:
                return view
            if draft.caller.kind == "agent":
                if view.ended:
                    draft.drop(f"the conversation {view.session}", ENDED)
                return None if view.ended else view
            if view.ended or view.imported:
                how = "was imported and has ended" if view.imported else "has ended"
                draft.notes.append(f"This is the latest conversation, {view.session}, which {how}.")
            return view
        if request.session:
            raise NotFound(f"{request.agent} has no session {request.session!r}.")
        return None

    def _talk(self, draft: Draft, view: View, asked: Waiting) -> Talk:
        config, paths = self._means.config, self._means.reader.paths
        rag = config.auto_rag
        return Talk(
            view,
            asked,
            sliding=config.context.sliding_window,
            explicit=draft.request.budget is not None,
            rag=AutoRagSettings(rag.enabled, rag.top_k, rag.max_tokens, rag.relevance),
            summary=paths.rolling(view.agent, view.session, view.segment),
        )

    def _folded(self, draft: Draft, talk: Talk, report: Report) -> Talk:
        """Return the talk with what is due folded; the summary of another's is left as it is."""
        config, caller = self._means.config, draft.caller
        if not draft.wants("summary"):
            return talk
        if caller.kind == "agent" and caller.agent != talk.view.agent:
            return talk
        window = Window(
            config.context.sliding_window,
            every=config.summary.every,
            full_at=config.session.summarize_at,
        )
        window = TalkParts(draft, talk).fold_window(window)
        try:
            view = self._means.talks.fold(talk.view, window, report)
            if view.behind:
                done, all_ = view.rolling.messages, view.rolling.messages + view.behind
                draft.notes.append(f"The summary covers {done} of {all_} messages so far.")
            return talk.of(view)
        except VaultMindError as error:  # a full disk, a file that somebody else keeps changing
            log.warning("a summary was not folded on: %s", error)
            draft.notes.append(f"The summary could not be brought up to date: {error}")
            return talk

    def _waiting(self, draft: Draft, asked: Waiting, language: str) -> tuple[str, bool]:
        """Return what waits for an answer as it is shown, and whether it is whole; pay for it."""
        if not draft.wants("window") or not asked.texts:
            return "", False
        shown, whole = as_shown(asked.texts, draft.purse.room, language)
        if not whole:
            draft.drop("a part of the pending messages", NO_ROOM)
        if shown:
            draft.purse.pay(count(shown))
        return shown, whole

    def _add_tools(self, draft: Draft) -> None:
        text = draft.request.tools.strip()
        if not text or not draft.wants("tools"):
            return
        room = draft.purse.room
        if len(text) > LONGEST_TOKEN * room or count(text) > room * TOOLS_SHARE:
            text = cut(text, int(room * TOOLS_SHARE))
            draft.drop("a part of the tools" if text else "the tools", NO_ROOM)
        draft.add(Part("tools", text, count(text)))

    def _add_memory(self, draft: Draft, asked: Waiting, view: View | None, best: float) -> None:
        """Add what lasting memory says, and what comes to mind through it."""
        caps, room = draft.caps, draft.purse.room - draft.caps.window
        memory = min(caps.memory, room) if draft.wants("memory") else 0
        associations = min(caps.association, room - memory) if draft.wants("associations") else 0
        if not asked.query or (memory < 1 and associations < 1):
            if draft.wants("memory"):
                draft.drop("lasting memory", NO_ROOM if asked.query else "nothing was asked")
            return
        ask = Ask(
            query=asked.query,
            agent=draft.request.agent,
            caller=draft.caller,
            session=view.session if view else "",
            language=view.language if view else language_of(asked.query),
            room_tokens=max(0, memory),
            association_tokens=max(0, associations),
            shown=(*(part.text for part in draft.parts.values()), *draft.request.shown),
            best=best,
            topic_is_new=view.topic_is_new if view else True,
            since=view.messages[0].block if view and view.messages else "",
        )
        try:
            brought = self._means.memory.recall(ask)
        except VaultMindError as error:  # the index is being repaired: the rest is there
            draft.notes.append(f"Lasting memory could not be asked: {error}")
            return
        draft.add(brought.memory)
        draft.add(brought.associations)
        draft.dropped.extend(brought.dropped)

    def _embedder(self, draft: Draft, query: str) -> Embedder | None:
        """Return what embeds a question, if it can embed this one: words alone find much."""
        asks = any(draft.wants(name) for name in ("earlier", "memory", "associations"))
        embedder = self._means.embedder() if query and asks else None
        if embedder is None:
            return None
        try:
            embedder.embed_query(query)  # kept for those who ask after this
        except Exception:  # a model raises what it likes
            log.exception("a question could not be embedded")
            draft.notes.append("The question could not be embedded: found by words alone.")
            return None
        return embedder
