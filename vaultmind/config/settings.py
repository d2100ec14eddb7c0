"""Every key there is: its default, its help, its bounds, and who may set it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vaultmind.locate import MEMORY_DIR


def key(default: Any, help: str, **bounds: Any) -> Any:  # noqa: ANN401
    """Declare a configuration key.

    `bounds`: min, max, choices, check (returns what is wrong), vault (may a vault set it), raises
    (may a vault switch it on, and never off).
    """
    return field(default=default, metadata={"help": help, **bounds})


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """What is indexed, and with what."""

    embedder: str = key(
        "use",
        "Embedder: `use` (bundled), `e5` (extra), the path of a GGUF file, a server's `URL#MODEL`, "
        "or `none`.",
    )
    embedder_key_env: str = key(
        "VAULTMIND_EMBEDDER_KEY", "Environment variable that holds that server's key."
    )
    chroma_url: str = key(
        "",
        "URL of a Chroma server that keeps the vectors, in place of a folder; its token comes from "
        "the environment variable VAULTMIND_CHROMA_TOKEN.",
    )
    exclude: tuple[str, ...] = key(
        (), "Globs of vault-relative paths that are never indexed.", vault=True
    )
    max_file_mb: float = key(
        8.0, "Larger files are reported and left alone.", min=0.01, max=256.0, vault=True
    )
    debounce_ms: int = key(150, "Quiet time after a change before it is indexed.", min=0, max=5000)
    reconcile_minutes: float = key(
        10.0, "How often the whole vault is compared with the index.", min=0.05, max=1440.0
    )
    watch: bool = key(True, "Follow changes while the daemon runs.")

    @property
    def max_file_bytes(self) -> int:
        """Return `max_file_mb` in bytes."""
        return int(self.max_file_mb * 1_000_000)


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """Defaults of a search."""

    limit: int = key(8, "Hits an answer holds.", min=1, max=100, vault=True)
    max_tokens: int = key(1500, "Token budget of an answer.", min=50, max=20000, vault=True)
    per_note: int = key(
        3, "Hits of one note or session; facts do not count.", min=1, max=100, vault=True
    )


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """Limits of the agents' memory."""

    brain_max_tokens: int = key(500, "Size of a brain.", min=100, max=5000, vault=True)
    brain_target_tokens: int = key(
        300, "A brain over its size never shrinks below this.", min=50, max=5000, vault=True
    )
    caution: bool = key(
        False, "What an agent wants to keep of sensitive matters waits for you.", raises=True
    )
    autonomy: int = key(2, "Level of an agent whose identity.md names none.", choices=(0, 1, 2, 3))


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """How long a conversation lasts, and when its old part is folded away."""

    idle_minutes: float = key(
        30.0, "A silence this long ends a session.", min=1.0, max=1440.0, vault=True
    )
    summarize_at: float = key(
        0.7,
        "Share of the window's budget beyond which all but its last 4 messages are summarised.",
        min=0.1,
        max=1.0,
        vault=True,
    )


@dataclass(frozen=True, slots=True)
class ContextConfig:
    """What an agent is given before it answers, and how much of it."""

    start_tokens: int = key(
        800, "Size of the context at session start.", min=100, max=8000, vault=True
    )
    max_tokens: int = key(
        5000,
        "Size of a context that is built before an answer, where none is asked for.",
        min=200,
        max=200_000,
        vault=True,
    )
    sliding_window: int = key(20, "The last messages that stay whole.", min=1, max=1000, vault=True)
    subagent_history: int = key(
        5, "Completed runs that a scheduled sub-agent is shown.", min=1, max=100, vault=True
    )
    recall_gate: float = key(
        0.7,
        "Where nothing in the conversation matches so well, lasting memory is asked too.",
        min=0.0,
        max=1.0,
        vault=True,
    )


@dataclass(frozen=True, slots=True)
class SummaryConfig:
    """The sliding summary of a running conversation."""

    every: int = key(
        6, "Messages that leave the window before they are folded.", min=1, max=100, vault=True
    )
    max_tokens: int = key(500, "Size of a sliding summary.", min=50, max=5000, vault=True)


@dataclass(frozen=True, slots=True)
class AutoRagConfig:
    """What is recalled from earlier in the same conversation."""

    enabled: bool = key(True, "Recall what was said earlier in a conversation.", vault=True)
    top_k: int = key(
        3, "Messages recalled at most, where no budget is asked for.", min=1, max=100, vault=True
    )
    max_tokens: int = key(
        400, "Their size, where no budget is asked for.", min=20, max=20_000, vault=True
    )
    relevance: float = key(
        0.5, "Greatest distance of the best match, or nothing is.", min=0.0, max=1.0, vault=True
    )
    min_message_tokens: int = key(
        10, "Shorter messages get no vector: their words find them.", min=1, max=200, vault=True
    )


@dataclass(frozen=True, slots=True)
class RecallConfig:
    """What is recalled from notes, facts and past conversations."""

    enabled: bool = key(True, "Recall from lasting memory.", vault=True)
    top_k: int = key(3, "Pieces recalled at most.", min=1, max=50, vault=True)
    max_tokens: int = key(300, "Their size.", min=20, max=20_000, vault=True)
    relevance: float = key(
        0.5, "Least score of a piece, or it is left out.", min=0.0, max=1.0, vault=True
    )


@dataclass(frozen=True, slots=True)
class AssociationConfig:
    """What comes to mind through what was recalled."""

    gate: float = key(
        0.3, "Least strength of an association, or it is left out.", min=0.0, max=1.0, vault=True
    )
    max_tokens: int = key(100, "Size of all associations.", min=0, max=5000, vault=True)


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

    patterns: tuple[str, ...] = key(
        (), "Regular expressions of what is taken out before storing.", check=_usable
    )


@dataclass(frozen=True, slots=True)
class DaemonConfig:
    """The process that owns the index."""

    idle_exit_minutes: float = key(
        35.0, "Without a client for this long the daemon stops.", min=0.01, max=10080.0
    )
    http: bool = key(False, "Serve HTTP /v1 and /mcp on loopback.")
    http_port: int = key(8765, "Port of the HTTP server; 0 takes a free one.", min=0, max=65535)


@dataclass(frozen=True, slots=True)
class ConsolidationConfig:
    """What happens when a conversation has ended."""

    auto: bool = key(
        True, "Take facts and summaries from a session of your own when it ends.", vault=True
    )
    delay_seconds: float = key(
        20.0, "Quiet time after an end before it is begun with.", min=0.0, max=3600.0
    )


@dataclass(frozen=True, slots=True)
class ExtractionConfig:
    """What a conversation may leave in a brain."""

    max_facts: int = key(8, "Facts that one session may leave.", min=0, max=50, vault=True)


@dataclass(frozen=True, slots=True)
class LevelsConfig:
    """Summaries of sessions (L1), and of these (L2)."""

    l1_sessions: int = key(5, "Sessions of one L1 summary.", min=2, max=50, vault=True)
    l2_summaries: int = key(5, "L1 summaries of one L2.", min=2, max=50, vault=True)
    l1_tokens: int = key(400, "Size of an L1 summary.", min=50, max=4000, vault=True)
    l2_tokens: int = key(400, "Size of an L2 summary.", min=50, max=4000, vault=True)


@dataclass(frozen=True, slots=True)
class MinionConfig:
    """The language models that work in the background, none of which is needed.

    A model is named by the path of a GGUF file, by `URL#NAME` of an OpenAI-compatible server, or
    by `extractive`, which is no model. Where they run and whom they ask is the person's alone.
    """

    model: str = key(
        "extractive", "`extractive` (none), the path of a GGUF file, or a server's `URL#NAME`."
    )
    extraction: str = key("", "Another model for facts.")
    summary: str = key("", "Another model for summaries.")
    rerank: str = key("", "Another model for ranking.")
    context_tokens: int = key(
        8192, "Window of a model at most, prompt and answer.", min=512, max=1_048_576
    )
    rope: str = key(
        "none",
        "How a window is stretched beyond what the model was trained on.",
        choices=("none", "linear", "yarn"),
    )
    answer_tokens: int = key(1024, "Size of one answer.", min=16, max=32_768)
    job_seconds: float = key(120.0, "A job that takes longer is ended.", min=1.0, max=3600.0)
    daily_seconds: float = key(
        3600.0, "Seconds a day that models may work in the background; 0: any.",
        min=0.0, max=86_400.0,
    )  # fmt: skip
    idle_seconds: float = key(
        120.0, "A model with nothing to do for this long is unloaded.", min=1.0, max=86_400.0
    )
    memory_mb: int = key(
        8192, "Memory of a model's process, its file included; 0: any.", min=0, max=1_000_000
    )
    threads: int = key(0, "Threads of a model; 0: half of the cores.", min=0, max=256)
    gpu_layers: int = key(
        -1, "Layers on a graphics card, where llama.cpp was built for one; -1: all.",
        min=-1, max=1000,
    )  # fmt: skip
    key_env: str = key("VAULTMIND_MINION_KEY", "Environment variable that holds a server's key.")


@dataclass(frozen=True, slots=True)
class PlanConfig:
    """What is planned to be read for a task."""

    hook: bool = key(True, "Put a plan before the prompt of Claude Code's sub-agents.")


@dataclass(frozen=True, slots=True)
class EpisodesConfig:
    """What agents did for a task."""

    keep: bool = key(True, "Keep a note of what an agent did for a task.")
    idle_minutes: float = key(
        120.0, "An episode without an event for this long is closed as `unknown`.",
        min=1.0, max=10_080.0, vault=True,
    )  # fmt: skip
    hook: bool = key(True, "Take from Claude Code's hooks what is read, edited and committed.")


@dataclass(frozen=True, slots=True)
class RetentionConfig:
    """How long what agents did is kept in full."""

    days: int = key(
        90, "Episodes shrink to their outcome and links this long after their end.",
        min=1, max=36_500,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class LearningConfig:
    """What is learnt from what agents did and from what searches were worth."""

    min_lessons: int = key(
        20, "Plans of successful episodes, or judged searches, without which no model is made.",
        min=1, max=100_000,
    )  # fmt: skip


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
