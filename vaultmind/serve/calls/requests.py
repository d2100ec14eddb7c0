"""What each operation takes. Help texts are read by models and people alike: short."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vaultmind.serve.calls.schema import arg
from vaultmind.types import Kind, Section

MAX_TEXT = 2000
"""Longest fact, name or id, in characters."""
MAX_WORDS = 200_000
"""Longest query, in characters: people paste whole pages."""
LATEST = 32_503_680_000
"""The year 3000, in seconds since 1970: what is later is no time."""
MAX_ID = 200
"""Longest id of a message, in characters."""
MAX_TOKENS = 20_000
"""Largest budget an answer can be given."""
MAX_QUERIES = 1000
MAX_LIMIT = 100
MAX_OFFSET = 10_000

_AGENT = "Whose; default: yours."


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What one search shares with many; what is left out comes from the configuration."""

    limit: int | None = arg("Hits at most.", default=None, min=1, max=MAX_LIMIT)
    kinds: tuple[Kind, ...] = arg(
        "Only these.",
        default=(),
    )
    agent: str = arg("Whose memory; default: yours, `*`: all you may read.", default="")
    folder: str = arg("Only notes below this folder.", default="", max=MAX_TEXT)
    tag: str = arg("Only notes with this tag.", default="", max=MAX_TEXT)
    after: str = arg("First day: 2026-02-20, 'last week'.", default="", max=MAX_TEXT)
    before: str = arg("Last day, likewise.", default="", max=MAX_TEXT)
    per_note: int | None = arg("Hits of one note at most.", default=None, min=1, max=MAX_LIMIT)
    max_tokens: int | None = arg("Size of the answer.", default=None, min=50, max=MAX_TOKENS)
    offset: int = arg("The last next_offset.", default=0, min=0, max=MAX_OFFSET)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchArgs(Filters):
    """Arguments of memory_search."""

    query: str = arg("A question or keywords.", max=MAX_WORDS, loose=True)
    explain: bool = arg("Say why each hit is there.", default=False)


@dataclass(frozen=True, slots=True)
class FetchArgs:
    """Arguments of memory_fetch."""

    id: str = arg("A hit's id, or a path like `Folder/Note.md#Heading`.", min=1, max=MAX_TEXT)
    max_tokens: int = arg("Size of the answer.", default=4000, min=50, max=MAX_TOKENS)
    offset: int = arg("The last next_offset.", default=0, min=0)


@dataclass(frozen=True, slots=True)
class UpdateArgs:
    """Arguments of memory_update."""

    utterance: str = arg(
        "What the person said, word for word. Or:",
        default="",
        max=MAX_WORDS,
    )
    message_id: str = arg(
        "With utterance: their message's id; it acts once.",
        default="",
        max=MAX_ID,
    )
    op: Literal["remember", "forget", "replace"] | None = arg("What to do with text.", default=None)
    text: str = arg(
        "The fact, as one sentence in the person's language; to forget: its words or id (^k3f9).",
        default="",
        max=MAX_TEXT,
    )
    old: str = arg("For replace: the old fact's words or id.", default="", max=MAX_TEXT)
    section: Section | None = arg("Where it belongs; default: guessed.", default=None)  # noqa: RUF009
    words: str = arg("With op: what the person said, the evidence.", default="", max=MAX_WORDS)
    agent: str = arg(_AGENT, default="")


@dataclass(frozen=True, slots=True)
class SayArgs:
    """Arguments of say: one or many sentences as a person says them."""

    utterances: tuple[str, ...] = arg("What the person said.", max=MAX_QUERIES)
    dry_run: bool = arg("Only tell what was understood.", default=False)
    agent: str = arg(_AGENT, default="")


@dataclass(frozen=True, slots=True)
class AgentArgs:
    """Arguments of operations on one agent's memory as a whole."""

    agent: str = arg(_AGENT, default="")


@dataclass(frozen=True, slots=True)
class NoArgs:
    """No arguments."""


@dataclass(frozen=True, slots=True)
class Query:
    """One query of many."""

    id: str = arg("Comes back with the hits.", max=MAX_TEXT)
    query: str = arg("A question or keywords.", max=MAX_WORDS, loose=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchManyArgs(Filters):
    """Arguments of search_many: queries that share their filters."""

    queries: tuple[Query, ...] = arg("What to search for.", max=MAX_QUERIES)


@dataclass(frozen=True, slots=True)
class IndexArgs:
    """Arguments of index: how long to wait, and for what."""

    vectors: bool = arg("Wait for the vectors too.", default=True)
    timeout_seconds: float = arg("Give up after this long.", default=3600.0, min=0.0, max=86400.0)


@dataclass(frozen=True, slots=True)
class ImportArgs:
    """Arguments of import_file."""

    path: str = arg("Absolute path of the export file.", min=1, max=4096)
    one_session: bool = arg("Make one session of all that the file holds.", default=False)
    agent: str = arg(_AGENT, default="")


@dataclass(frozen=True, slots=True)
class InitArgs:
    """Arguments of init."""

    agent: str = arg(_AGENT, default="")
    language: Literal["en", "pl", "ru"] = arg("Language of headings and identity.", default="en")
