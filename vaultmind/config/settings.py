"""Every key there is: its default, its help, its bounds, and who may set it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vaultmind.locate import MEMORY_DIR


def key(default: Any, help: str, min: Any = None, max: Any = None, **more: Any) -> Any:  # noqa: ANN401
    """Declare a configuration key.

    `more`: choices, check (returns what is wrong), vault (may a vault set it), raises
    (may a vault switch it on, and never off).
    """
    bounds = {} if min is None else {"min": min, "max": max}
    return field(default=default, metadata={"help": help, **bounds, **more})


def tune(default: Any, help: str, *bounds: Any) -> Any:  # noqa: ANN401
    """Declare a key that a vault's own file may set, too."""
    return key(default, help, *bounds, vault=True)


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """What is indexed, and with what."""

    embedder: str = key(
        "use",
        "Embedder: `use` (bundled), `e5` (extra), the path of a GGUF file, a server's `URL#MODEL`, "
        "or `none`.",
    )
    embedder_key_env: str = key("VAULTMIND_EMBEDDER_KEY", "Environment variable with its key.")
    chroma_url: str = key(
        "",
        "URL of a Chroma server that keeps the vectors, in place of a folder; its token comes from "
        "the environment variable VAULTMIND_CHROMA_TOKEN.",
    )
    exclude: tuple[str, ...] = tune((), "Paths that are never indexed, as in a .gitignore.")
    max_file_mb: float = tune(8.0, "Larger files are reported and skipped.", 0.01, 256.0)
    debounce_ms: int = key(150, "Quiet time after a change before it is indexed.", 0, 5000)
    reconcile_minutes: float = key(10.0, "How often the whole vault is checked.", 0.05, 1440.0)
    watch: bool = key(True, "Follow changes while the daemon runs.")

    @property
    def max_file_bytes(self) -> int:
        """Return `max_file_mb` in bytes."""
        return int(self.max_file_mb * 1_000_000)


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """Defaults of a search."""

    limit: int = tune(8, "Maximum number of hits.", 1, 100)
    max_tokens: int = tune(1500, "Token budget of an answer.", 50, 20000)
    per_note: int = tune(3, "Maximum hits per note or session, facts aside.", 1, 100)


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """Limits of the agents' memory."""

    brain_max_tokens: int = tune(500, "Maximum size of a brain.", 100, 5000)
    brain_target_tokens: int = tune(300, "Archiving never shrinks a brain below this.", 50, 5000)
    caution: bool = key(False, "Sensitive facts from agents wait for you.", raises=True)
    # 0 reads, 1 suggests, 2 writes; 3 permits what 2 does
    autonomy: int = key(2, "Level of an agent whose identity.md names none.", choices=(0, 1, 2, 3))


def _misplaced(folder: str) -> str:
    """Return what is wrong with a folder of the vault; empty for a sound one, and for none."""
    parts = folder.split("/") if folder else ()
    is_wrong = any(not part.strip() or part.startswith(".") for part in parts)
    return "allowed: a folder below the vault that is not hidden, such as `Answers`" * is_wrong


@dataclass(frozen=True, slots=True)
class NotesConfig:
    """What agents may do among the person's own notes: nothing, until a folder is named."""

    folder: str = key(
        "", "Folder where agents may save answers as new notes; empty: nowhere.", check=_misplaced
    )


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """How long a conversation lasts, and when its old part is folded away."""

    idle_minutes: float = tune(30.0, "A silence this long ends a session.", 1.0, 1440.0)
    summarize_at: float = tune(
        0.7, "How full the window gets before old messages are summarised.", 0.1, 1.0
    )


@dataclass(frozen=True, slots=True)
class ContextConfig:
    """What an agent is given before it answers, and how much of it."""

    start_tokens: int = tune(800, "Budget of the context at session start.", 100, 8000)
    max_tokens: int = tune(5000, "Budget of the context before an answer.", 200, 200_000)
    sliding_window: int = tune(20, "How many last messages are shown in full.", 1, 1000)
    subagent_history: int = tune(5, "Completed runs that a scheduled sub-agent sees.", 1, 100)
    recall_gate: float = tune(0.7, "Below this match, lasting memory is searched.", 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class SummaryConfig:
    """The sliding summary of a running conversation."""

    every: int = tune(6, "Messages summarised at a time.", 1, 100)
    max_tokens: int = tune(500, "Maximum size of a running summary.", 50, 5000)


@dataclass(frozen=True, slots=True)
class AutoRagConfig:
    """What is recalled from earlier in the same conversation."""

    enabled: bool = tune(True, "Recall what was said earlier in a conversation.")
    top_k: int = tune(3, "Maximum messages recalled without a budget.", 1, 100)
    max_tokens: int = tune(400, "Their maximum size without a budget.", 20, 20_000)
    relevance: float = tune(0.5, "Maximum distance of the best match.", 0.0, 1.0)
    min_message_tokens: int = tune(10, "Shorter messages get no vector.", 1, 200)


@dataclass(frozen=True, slots=True)
class RecallConfig:
    """What is recalled from notes, facts and past conversations."""

    enabled: bool = tune(True, "Recall from lasting memory.")
    top_k: int = tune(3, "Maximum pieces recalled.", 1, 50)
    max_tokens: int = tune(300, "Their maximum size.", 20, 20_000)
    relevance: float = tune(0.5, "Minimum score of a piece.", 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class AssociationConfig:
    """What comes to mind through what was recalled."""

    gate: float = tune(0.3, "Minimum strength of an association.", 0.0, 1.0)
    max_tokens: int = tune(100, "Maximum size of all associations.", 0, 5000)


def _usable(patterns: tuple[str, ...]) -> str:
    """Return which regular expression cannot be used and why; empty when all can."""
    from vaultmind.redact import BadPattern, checked

    for one in patterns:
        try:
            checked(one)
        except BadPattern as error:
            return f"{one!r} cannot be used: {error}"
    return ""


@dataclass(frozen=True, slots=True)
class RedactConfig:
    """What is never stored, besides secrets and private passages."""

    patterns: tuple[str, ...] = key((), "Patterns that are never stored.", check=_usable)


@dataclass(frozen=True, slots=True)
class DaemonConfig:
    """The process that owns the index."""

    idle_exit_minutes: float = key(35.0, "The daemon stops after this long unused.", 0.01, 10080.0)
    http: bool = key(False, "Serve HTTP /v1 and /mcp on loopback.")
    http_port: int = key(8765, "Port of the HTTP server; 0 takes a free one.", 0, 65535)


@dataclass(frozen=True, slots=True)
class ConsolidationConfig:
    """What happens when a conversation has ended."""

    auto: bool = tune(True, "Take facts and summaries from your sessions after they end.")
    delay_seconds: float = key(20.0, "How long after the end.", 0.0, 3600.0)


@dataclass(frozen=True, slots=True)
class ExtractionConfig:
    """What a conversation may leave in a brain."""

    max_facts: int = tune(8, "Maximum facts from one session.", 0, 50)


@dataclass(frozen=True, slots=True)
class LevelsConfig:
    """Summaries of sessions (L1), and of these (L2)."""

    l1_sessions: int = tune(5, "Sessions per L1 summary.", 2, 50)
    l2_summaries: int = tune(5, "L1 summaries per L2.", 2, 50)
    l1_tokens: int = tune(400, "Maximum size of an L1.", 50, 4000)
    l2_tokens: int = tune(400, "Maximum size of an L2.", 50, 4000)


@dataclass(frozen=True, slots=True)
class MinionConfig:
    """The language models that work in the background, none of which is needed.

    A model is named by the path of a GGUF file, by `URL#NAME` of an OpenAI-compatible server, or
    by `extractive`, which is no model. Where they run and whom they ask is the person's alone.
    """

    model: str = key(
        "extractive", "`extractive` (none), the path of a GGUF file, or a server's `URL#NAME`."
    )
    command: tuple[str, ...] = key((), "Your own command in place of a model: `claude`, `-p`.")
    calls_per_day: int = key(20, "Maximum calls of it a day, one per conversation.", 0, 10_000)
    extraction: str = key("", "A different model for facts.")
    summary: str = key("", "A different model for summaries.")
    rerank: str = key("", "A different model for ranking.")
    context_tokens: int = key(8192, "Maximum window, prompt and answer.", 512, 1_048_576)
    rope: str = key("none", "How to stretch the window.", choices=("none", "linear", "yarn"))
    answer_tokens: int = key(1024, "Maximum size of an answer.", 16, 32_768)
    job_seconds: float = key(120.0, "A job that takes longer is stopped.", 1.0, 3600.0)
    daily_seconds: float = key(3600.0, "Background work a day; 0: no limit.", 0.0, 86_400.0)
    idle_seconds: float = key(120.0, "An idle model is unloaded.", 1.0, 86_400.0)
    memory_mb: int = key(8192, "Memory limit; 0: none.", 0, 1_000_000)
    threads: int = key(0, "Threads of a model; 0: half of the cores.", 0, 256)
    gpu_layers: int = key(-1, "Layers on the graphics card; -1: all.", -1, 1000)
    key_env: str = key("VAULTMIND_MINION_KEY", "Environment variable that holds a server's key.")


@dataclass(frozen=True, slots=True)
class PlanConfig:
    """What is planned to be read for a task."""

    hook: bool = key(True, "Put a plan before the prompt of Claude Code's sub-agents.")


@dataclass(frozen=True, slots=True)
class EpisodesConfig:
    """What agents did for a task."""

    keep: bool = key(True, "Keep a note of what agents do for a task.")
    idle_minutes: float = tune(120.0, "A silent episode is closed as `unknown`.", 1.0, 10_080.0)
    hook: bool = key(True, "Record what Claude Code reads, edits and commits.")


@dataclass(frozen=True, slots=True)
class RetentionConfig:
    """How long what agents did is kept in full."""

    days: int = key(90, "Episodes shrink this long after their end.", 1, 36_500)


@dataclass(frozen=True, slots=True)
class LearningConfig:
    """What is learnt from what agents did and from what searches were worth."""

    min_lessons: int = key(20, "Lessons needed to train a model.", 1, 100_000)


@dataclass(frozen=True, slots=True)
class Config:
    """Everything a process needs to know before it opens a vault."""

    vault: Path
    state_dir: Path
    """This vault's own state folder: index, lock, socket, log. Safe to delete."""
    config_folder: Path | None = None
    """Where the person's own configuration lies; None for a configuration made without one."""
    memory_dir: str = MEMORY_DIR
    agent: str = "main"
    agent_named: bool = False
    """Whether someone named the agent, or it is the default."""
    index: IndexConfig = IndexConfig()
    search: SearchConfig = SearchConfig()
    memory: MemoryConfig = MemoryConfig()
    notes: NotesConfig = NotesConfig()
    session: SessionConfig = SessionConfig()
    context: ContextConfig = ContextConfig()
    summary: SummaryConfig = SummaryConfig()
    auto_rag: AutoRagConfig = AutoRagConfig()
    recall: RecallConfig = RecallConfig()
    association: AssociationConfig = AssociationConfig()
    consolidation: ConsolidationConfig = ConsolidationConfig()
    extraction: ExtractionConfig = ExtractionConfig()
    levels: LevelsConfig = LevelsConfig()
    redact: RedactConfig = RedactConfig()
    daemon: DaemonConfig = DaemonConfig()
    minion: MinionConfig = MinionConfig()
    plan: PlanConfig = PlanConfig()
    episodes: EpisodesConfig = EpisodesConfig()
    retention: RetentionConfig = RetentionConfig()
    learning: LearningConfig = LearningConfig()
    warnings: tuple[str, ...] = ()
    """Keys that were found and not taken, in words."""
