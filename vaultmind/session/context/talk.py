"""The parts of a context that come from the conversation: summary, what was said earlier, window.

Room for what is recalled is reserved, the window is cut to the rest, what is not in it is
searched, and the window is given back what was not spent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from vaultmind.plural import counted
from vaultmind.session.context.budget import more_than, more_than_share
from vaultmind.session.context.draft import Draft
from vaultmind.session.context.headings import headings
from vaultmind.session.context.parts import NO_ROOM, Part, PartName
from vaultmind.session.context.waiting import Waiting
from vaultmind.session.context.window import Picked, Scope, lines, newest_cut, pick
from vaultmind.session.conversation import View, key_of
from vaultmind.session.recall import autorag
from vaultmind.session.recall.autorag import AutoRagSettings, Block, Room, Situation
from vaultmind.session.recall.segment import Query
from vaultmind.session.recall.segment import Scope as Searched
from vaultmind.session.recall.triggers import small_words
from vaultmind.session.sentences import unmarked
from vaultmind.session.summary import Rolling, Window, fitting, shown
from vaultmind.tokens import count

if TYPE_CHECKING:
    from vaultmind.ports import Embedder

MIN_SUMMARY_TOKENS = 20
"""A summary cut to less says nothing."""
HEADING_TOKENS = 12
"""What the heading above a part costs at most."""
MIN_FOLD_TOKENS = 400
"""A window is not called full for being asked for with less: the summary is everybody's."""
_WHY = {
    "back": "it points back",
    "explicit": "it asks for what was said",
    "start": "it asks for the beginning",
    "weak": "the segment and the window say nothing of it",
}


@dataclass(frozen=True, slots=True)
class Talk:
    """What of a conversation a context is built from."""

    view: View
    waiting: Waiting
    sliding: int
    """The last messages that stay whole, ..."""
    explicit: bool
    """... or as many as fit, where the caller named the budget."""
    rag: AutoRagSettings
    summary: str
    """Where the summary is kept, vault-relative."""

    def of(self, view: View) -> Talk:
        """Return the same of the conversation as it is now."""
        return replace(self, view=view)


class TalkParts:
    """Adds the parts of one conversation to a context, in the order in which they take room."""

    def __init__(self, draft: Draft, talk: Talk) -> None:
        self._draft = draft
        self._talk = talk
        self._summary_tokens = _whole_tokens(talk.view.rolling)
        self._summary_room = 0
        known = draft.request.known
        before = talk.waiting.before
        self._messages = [m for m in before if key_of(m) not in known] if known else before
        """Those that the host does not show by itself."""
        self._recalled: frozenset[str] = frozenset()

    def fold_window(self, window: Window) -> Window:
        """Return by what the conversation is folded: by the room that its window has here."""
        room = self._draft.purse.left - self._rag_room().tokens - self._reserve()
        return replace(window, max_tokens=max(MIN_FOLD_TOKENS, room))

    def add_earlier(self, embedder: Embedder | None) -> float:
        """Add what was said earlier and matters; return how good the best match is."""
        draft, talk = self._draft, self._talk
        if not draft.wants("earlier"):
            return self._best(embedder)
        room = self._rag_room()
        window = self._pick(draft.purse.left - room.tokens - self._reserve())
        if reason := self._why_not(window):
            draft.drop("what was said earlier", reason)
            return self._best(embedder)
        hidden = {*window.keys, *talk.waiting.keys, *draft.request.known}
        request = autorag.Request(
            pending=(talk.waiting.query,),
            segment=talk.view.segment,
            window=frozenset(hidden),
            room=room,
            language=talk.view.language,
            relevance=talk.rag.relevance,
        )
        block = autorag.recall(talk.view.index, request, embedder)
        self._recalled = frozenset(block.messages)
        if block.text:
            source, why = (talk.view.path,), _why(block)
            draft.add(Part("earlier", block.text, block.tokens, source, block.messages, why))
        else:
            draft.drop("what was said earlier", block.reason)
        if block.left_out:
            what = counted(block.left_out, "fainter match", "fainter matches")
            draft.drop(what, self._rag_full(block, room))
        return block.best

    def add_summary(self) -> None:
        """Add what was folded away, without the lines that stand in what was recalled."""
        draft = self._draft
        if not draft.wants("summary") or not self._summary_tokens:
            return
        room = min(draft.caps.summary, draft.purse.room - draft.caps.window)
        self._summary_room = room
        part = self._summary(draft.text("earlier"))
        draft.add(part)
        if room < self._summary_tokens + HEADING_TOKENS:
            reason = draft.caps.summary_full if room == draft.caps.summary else NO_ROOM
            draft.drop("a part of the summary" if part.text else "the summary", reason)

    def add_window(self, waiting: str, *, whole: bool) -> None:
        """Add the last messages and, under them, what waits for an answer and is paid for."""
        draft = self._draft
        if not draft.wants("window"):
            return
        left = draft.purse.left if waiting else draft.purse.room
        picked = self._pick(left)
        left += self._thinner_summary(picked)
        picked = self._pick(left)
        part = self._window(picked, waiting, whole=whole, room=left)
        while picked.entries and (excess := draft.excess(part)) > 0:
            left -= excess
            picked = self._pick(left)
            part = self._window(picked, waiting, whole=whole, room=left)
        self._tell_what_is_not_there(picked)
        if part.text:
            draft.parts["window"] = part

    def _window(self, picked: Picked, waiting: str, *, whole: bool, room: int) -> Part:
        """Return the part: a heading where there is more than what waits, messages, what waits."""
        talk, keys, entries = self._talk, picked.whole, list(picked.entries)
        if not entries and not waiting and self._messages:
            cut = newest_cut(self._messages[-1], self._scope(room))
            entries = [cut] if cut else []
        shown_lines = lines(entries)
        if shown_lines:
            shown_lines.insert(0, headings(talk.view.language).window)
        if waiting:
            shown_lines.append(waiting)
            keys += talk.waiting.keys if whole else ()
        text = "\n".join(shown_lines)
        why = counted(len(picked.keys), "message") if picked.keys else ""
        return Part("window", text, count(text), (talk.view.path,), keys, why)

    def _tell_what_is_not_there(self, picked: Picked) -> None:
        draft, talk = self._draft, self._talk
        for entry in picked.too_large:
            size = (
                f"{entry.tokens:,} tokens or more" if not entry.text else f"{entry.tokens:,} tokens"
            )
            draft.drop(f"message {entry.key}", f"too large for the window: {size}")
        if picked.older:
            taken = len(self._messages) - picked.older
            by_number = not talk.explicit and taken >= talk.sliding
            reason = f"only the last {talk.sliding} messages stay whole" if by_number else NO_ROOM
            draft.drop(counted(picked.older, "older message"), reason)

    def _rag_room(self) -> Room:
        """Return what auto-RAG may spend: never what is kept for the window."""
        draft, talk = self._draft, self._talk
        room = autorag.room_of(talk.rag, draft.budget if talk.explicit else None)
        return replace(room, tokens=max(0, min(room.tokens, draft.purse.room - draft.caps.window)))

    def _rag_full(self, block: Block, room: Room) -> str:
        """Return which limit leaves out what was found, and what to raise."""
        draft, rag, explicit = self._draft, self._talk.rag, self._talk.explicit
        if block.full == "top_k":
            return f"only the best {rag.top_k} are shown (raise auto_rag.top_k)"
        if room.tokens < autorag.room_of(rag, draft.budget if explicit else None).tokens:
            return NO_ROOM
        if explicit:
            return more_than_share(autorag.BUDGET_SHARE)
        return more_than(rag.max_tokens, "auto_rag.max_tokens")

    def _reserve(self) -> int:
        """Return what other parts than auto-RAG and the window may still take."""
        draft = self._draft
        names: tuple[tuple[PartName, int], ...] = (
            ("earlier", 0),
            ("summary", min(draft.caps.summary, self._summary_tokens + HEADING_TOKENS)),
            ("memory", draft.caps.memory),
            ("associations", draft.caps.association),
        )
        return sum(draft.purse.price(tokens) for name, tokens in names if draft.wants(name))

    def _scope(self, room: int) -> Scope:
        talk = self._talk
        most = None if talk.explicit else talk.sliding
        return Scope(room - HEADING_TOKENS, talk.view.language, most, self._recalled)

    def _pick(self, room: int) -> Picked:
        wanted = self._draft.wants("window")
        return pick(self._messages if wanted else (), self._scope(room))

    def _why_not(self, window: Picked) -> str:
        """Return why nothing is looked for, in words; empty where it should be."""
        draft, talk, number = self._draft, self._talk, len(self._messages)
        if not draft.wants("window"):
            return autorag.why_not(talk.rag, Situation(number, 0, 0, 0))
        fits = not window.outside
        if not fits and number <= talk.sliding:
            fits = not self._pick(draft.purse.left).outside
        holds = max(number, talk.sliding) if fits else talk.sliding
        return autorag.why_not(talk.rag, Situation(number, int(not fits), holds, 0))

    def _best(self, embedder: Embedder | None) -> float:
        """Return how well the conversation matches, where nothing of it is recalled."""
        query = self._talk.waiting.query
        if not query or not self._draft.wants("memory"):
            return 0.0
        vector = embedder.embed_query(query) if embedder else None
        segment = Searched(self._talk.view.segment, self._talk.waiting.keys)
        return self._talk.view.index.search(Query(query, vector, small_words()), segment).best

    def _thinner_summary(self, picked: Picked) -> int:
        """Leave out of the summary what the window says; return the tokens that this saves."""
        draft, before = self._draft, self._draft.parts.get("summary")
        if before is None:
            return 0
        said = [draft.text("earlier"), *(entry.text for entry in picked.entries)]
        part = self._summary("\n".join(said))
        if part.text:
            draft.parts["summary"] = part
            return before.tokens - part.tokens
        del draft.parts["summary"]
        return draft.purse.price(before.tokens)

    def _summary(self, said: str) -> Part:
        """Return as much of the summary as there is room for, without what was said already."""
        view, title = self._talk.view, headings(self._talk.view.language).summary
        left = self._summary_room - count(f"{title}\n")
        rolling = _fitting(view.rolling, left) if left >= MIN_SUMMARY_TOKENS else Rolling()
        rest = tuple(one for one in rolling.lines if one.own or unmarked(one.text) not in said)
        body = shown(replace(rolling, lines=rest), speakers=True)
        text = f"{title}\n{body}" if body else ""
        why = f"{counted(view.rolling.messages, 'message')} folded"
        return Part("summary", text, count(text), (self._talk.summary,), (), why)


@lru_cache(maxsize=32)
def _fitting(rolling: Rolling, room: int) -> Rolling:
    """Return what of a summary fits: the same until it is folded on."""
    return fitting(rolling, room, speakers=True)


@lru_cache(maxsize=32)
def _whole_tokens(rolling: Rolling) -> int:
    return count(shown(rolling, speakers=True))


def _why(block: Block) -> str:
    """Return in words why a block is shown."""
    why = f"best match at distance {1 - block.best:.2f}"
    if not block.trigger:
        return why
    said = f": {block.trigger.words!r}" if block.trigger.words else ""
    return f"{why}; the whole session was searched, since {_WHY[block.trigger.kind]}{said}"
