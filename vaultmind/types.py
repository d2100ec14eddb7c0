"""The words of the house: frozen results that travel between the packages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["note", "fact", "message", "summary", "episode"]
LinkedKind = Literal["code", "text", "data"]
"""What a file of a linked folder is that is no note."""
KINDS: tuple[Kind, ...] = ("note", "fact", "message", "summary", "episode")

Section = Literal["user", "preferences", "decisions", "current"]
SECTIONS: tuple[Section, ...] = ("user", "preferences", "decisions", "current")

Role = Literal["user", "assistant", "tool", "system"]
ROLES: tuple[Role, ...] = ("user", "assistant", "tool", "system")

How = Literal["captured", "reported", "cli"]
"""How a message came to us: a transcript, an agent's tool call, the command line."""

Asked = Literal["", "remember", "replace", "forget"]
"""What a message asked of the memory, where it is kept as evidence of that alone."""

Freshness = Literal["FRESH", "STALE", "DIRTY"]
"""FRESH: indexed as it stands. STALE: change seen, not indexed. DIRTY: cannot tell, rescan."""

OutcomeName = Literal["written", "suggested", "denied", "unchanged", "not_found"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. Fixed by the connection, never by an argument.

    `agent` is empty for a person at the command line, whose writes no level binds.
    """

    kind: Literal["agent", "person"]
    agent: str = ""
    client: str = ""
    project: str = ""
    """The name of the folder that it works in; empty where it does not say."""
    conversation: str = ""
    """Which of its conversations it speaks in; empty where nothing tells them apart."""

    @property
    def name(self) -> str:
        """Return what an audit line calls this caller."""
        return self.agent if self.kind == "agent" else "person"


PERSON = Caller("person", client="cli")


# --- messages -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a session. `id` is unique in its session and survives a rebuild."""

    role: Role
    text: str
    time: str
    """ISO 8601 with an offset."""
    id: str = ""
    speaker: str = ""
    how: How = "captured"
    block: str = ""
    """The Obsidian block id in the session file, e.g. `m7`."""
    asked: Asked = ""
    """Not empty: the words of a request, no part of the conversation: never recalled."""
    erased: bool = False
    """Its words were erased: a marker stands in their place, which is never recalled."""


@dataclass(frozen=True, slots=True)
class MessageRef:
    """Where a message stands: evidence for a fact, or a line in the tombstones."""

    agent: str
    session: str
    """The session's id, which is its file's stem, e.g. `2026-02-20_001`."""
    block: str
    id: str = ""


# --- memory -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fact:
    """One bullet of a brain, as a reader sees it: comment stripped, block id apart."""

    text: str
    section: Section | None
    block: str = ""
    evidence: MessageRef | None = None
    written: str = ""
    """ISO date of our write; empty for a fact that a person typed."""
    how: str = ""
    """`said`, `extracted`, `reported` (with a quote), `edited` (a person reworded it in the file);
    empty for a fact that they typed."""
    quote: str = ""
    until: str = ""
    """ISO date on which something else was said; empty for a fact that holds."""

    @property
    def is_typed(self) -> bool:
        """Tell whether its words are a person's own, typed into the file or reworded there."""
        return self.how in ("", "edited")


@dataclass(frozen=True, slots=True)
class MemoryWrite:
    """A change of one agent's facts, as asked for. Every one goes through `gate.write`."""

    op: Literal["remember", "replace", "forget"]
    agent: str
    """The target: whose memory."""
    caller: Caller
    text: str
    """The new fact; for `forget` what to forget: a fact's words, or its block id (`^k3f9`)."""
    old: str = ""
    """For `replace`: the old fact's words or block id."""
    section: Section | None = None
    evidence: MessageRef | None = None
    how: str = "said"
    reason: str = ""
    hold: str = ""
    """Why it is put before the person although the caller might write it, in words; else empty."""
    said_on: str = ""
    """ISO date or time of what says it, where that is not now: how fresh the fact is."""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a write came to. `message` says it in words for whoever asked."""

    outcome: OutcomeName
    agent: str
    section: Section | None = None
    fact: str = ""
    path: str = ""
    block: str = ""
    before: str = ""
    message: str = ""
    reason: str = ""
    nearest: tuple[str, ...] = ()
    """The closest facts, offered when nothing matched."""
    hidden_messages: int = 0
    archived: int = 0
    """Older facts that moved to the archive to make room."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets taken out before anything was stored; never the secrets."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a file that is indexed and found as one.

    `start` and `end` are offsets in the file's decoded text (BOM removed, newlines as they
    are). `id` is stable: it changes only when path, place or text change.
    """

    id: str
    path: str
    """Vault-relative, with `/`."""
    kind: Kind
    agent: str
    """Whose memory; empty for the user's own notes."""
    anchor: str
    """What follows the path in a link that Obsidian opens: `#Heading`, `#^k3f9` or empty."""
    title: str
    """The note's title, then its headings down to this chunk, joined by ` › `."""
    text: str
    start: int
    end: int
    lang: str = ""
    tags: tuple[str, ...] = ()
    time: str = ""
    """ISO date or time the text speaks from: a message's, a daily note's; else empty."""
    session: str = ""
    message: str = ""
    speaker: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to search for, and where."""

    query: str
    limit: int = 8
    kinds: tuple[Kind, ...] = ()
    agent: str = ""
    """Whose memory to search besides the notes. Empty: the caller's own; a person's: all.
    `*`: every agent the caller may read."""
    folder: str = ""
    file: str = ""
    """Path of the only file that is searched. Whoever asks knows what it says now and how good a
    hit must be: all that is found are hits, which are not checked against the disk."""
    tag: str = ""
    after: str = ""
    """ISO date, inclusive: notes by their change or daily date, messages by their time."""
    before: str = ""
    per_note: int = 3
    """At most so many hits of one note or session."""
    max_tokens: int = 1500
    """Budget for the texts of the answer."""
    running: str = ""
    """Path of a session that is left out: whoever asks is in it, and has it in view ..."""
    since: str = ""
    """... from the message with this block id on; empty: all of it."""
    offset: int = 0
    """Where to go on: `next_offset` of the answer before. `limit` must be the same."""
    apart: bool = False
    """Each chunk a hit of its own: nothing joined, left out as a copy or shown beside it."""


@dataclass(frozen=True, slots=True)
class Reason:
    """What lifts a hit above the other candidates, in words."""

    words: str
    share: float
    """Of all that lifts the hit, from 0 to 1."""
    family: str = ""
    """What the words are told of: `words`, `title`, `meaning`, ..."""

    def __str__(self) -> str:
        return f"{self.words} ({self.share:.0%})"


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer, checked against the file on disk a moment ago."""

    id: str
    path: str
    anchor: str
    kind: Kind | LinkedKind
    agent: str
    title: str
    text: str
    score: float
    """How much of the query it answers, from 0 to 1: the share of its telling words that the hit
    holds and its closeness in meaning, together. Below 0.45 it is a weak match. The order of
    hits is another matter: it is the ranker's.
    """
    parts: dict[str, float] = field(default_factory=dict)
    """What was measured: `rank` (what hits are ordered by), `bm25`, `coverage`, `cosine`, ..."""
    lang: str = ""
    time: str = ""
    session: str = ""
    message: str = ""
    speaker: str = ""
    truncated: bool = False
    """Whether something of the text is left out: `…` stands where."""
    why: tuple[Reason, ...] = ()
    """What puts it before the others, strongest first."""
    before: str = ""
    """Of a message: who spoke before it, and what they said; empty where it is not known."""
    after: str = ""
    also: tuple[str, ...] = ()
    """Where else the same stands (`path#anchor`): copies, which are no hits of their own."""


TieName = Literal["link", "backlink", "tag", "meaning"]
"""How a chunk is tied to what was found: that links to it, it links to that, both have a tag, or
they mean alike."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A chunk that is tied to what a search found, checked against the disk a moment ago."""

    chunk: Chunk
    """Its title and text without secrets."""
    tie: TieName
    """The strongest of its ties."""
    to: str
    """Id of the hit that it is tied to."""
    name: str = ""
    """The tag, where it is one."""
    strength: float = 0.0
    """How much it has to do with the question, from 0 to 1: `index.related` says how."""


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far the index is, in numbers that an answer can show."""

    phase: Literal["starting", "indexing", "ready", "failed"]
    files: int = 0
    """Files known to be in the vault that should be searchable; `faults` says which are not."""
    indexed: int = 0
    """Of these, files whose text is searchable."""
    chunks: int = 0
    vectors: int = 0
    """Chunks whose vector is searchable."""
    embedder: str = ""
    """Id of the embedder in use; empty when there is none."""
    sends_to: str = ""
    """The host that texts are sent to, to be embedded; empty when they stay on this machine."""
    embeddable: int = 0
    """Chunks that have or will have a vector: short messages and tool output get none."""
    loading: bool = False
    """Whether the embedder is still to come: for a while meaning cannot be searched."""
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()
    """Plain sentences about what is missing: no embedder, Chroma being rebuilt, ..."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A file that could not be taken whole, and why."""

    path: str
    reason: str
    severity: Literal["skipped", "partial"] = "skipped"
    """`partial`: indexed all the same, as with broken front matter."""


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """Hits, and how complete the index was when they were found.

    `answer` tells three empty answers apart: `nothing_found`, `indexing`, `no_query`.
    """

    hits: tuple[Hit, ...]
    answer: Literal["found", "nothing_found", "indexing", "no_query"]
    state: IndexState
    message: str = ""
    omitted: int = 0
    """Hits that were found and left out by the budget."""
    took_ms: float = 0.0
    next_offset: int | None = None
    """Where to go on; None at the end."""


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """What taking all traces of erased texts out of the index came to."""

    faults: tuple[str, ...] = ()
    """What could not be done, in words."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A step of a long piece of work."""

    done: int
    total: int
    what: str = ""


# --- the minion ---------------------------------------------------------------------------

Purpose = Literal["extraction", "summary", "rerank"]
"""What a local model is asked for; each may be given a model of its own."""
PURPOSES: tuple[Purpose, ...] = ("extraction", "summary", "rerank")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of what a model is shown."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked, and what it may spend on the answer."""

    turns: tuple[Turn, ...]
    schema: Mapping[str, Any] | None = None
    """A JSON schema that the answer has to follow; None for plain words."""
    max_tokens: int = 512
    """Of the answer."""
    seconds: float = 120.0
    """Wall time for all of it: waiting for another job, loading, reading, writing."""
    temperature: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Generated:
    """What a model wrote, and what it cost."""

    text: str
    ended: Literal["stop", "length"] = "stop"
    """`length`: it was cut at `max_tokens` or at the end of the time."""
    prompt_tokens: int = 0
    tokens: int = 0
    took_ms: float = 0.0
