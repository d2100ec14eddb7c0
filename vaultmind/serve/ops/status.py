"""How VaultMind is, gathered from all there is to tell of, and a check of everything."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vaultmind import __version__
from vaultmind.plural import counted
from vaultmind.serve.calls.call import Call
from vaultmind.serve.op import NOT_MCP, operation
from vaultmind.serve.ops import past_work
from vaultmind.serve.ops.consolidation import Brief, brief
from vaultmind.serve.ops.indexing import index_words, seen_state
from vaultmind.serve.ops.sources import SourceStatus, source_statuses
from vaultmind.serve.ops.suggestions import Waiting, waiting_for, waiting_words
from vaultmind.serve.show import Reader, dumps, plain, words
from vaultmind.types import Caller, IndexState

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.episodes.gains import Figures
    from vaultmind.planner.ready import PlanFigures
    from vaultmind.serve.ops.doctor import Examination


@dataclass(frozen=True, slots=True)
class Status:
    """How VaultMind is, for whoever asks."""

    version: str
    pid: int
    vault: str
    memory_folder: str
    state_folder: str
    agent: str
    """Whose memory this caller writes to."""
    agents: tuple[str, ...]
    index: IndexState
    warnings: tuple[str, ...]
    """Configuration and phrases that were found and not taken; rights that are asked for and not
    in force."""
    waiting: Waiting
    consolidation: Brief
    planning: PlanFigures
    """How planning went since the daemon started."""
    sources: tuple[SourceStatus, ...]
    gain: Figures | None
    """Of the last month; for the person."""
    episodes: past_work.Brief
    models: tuple[str, ...]
    """The rankers in use, as `model status` names them."""


@operation("Status of the memory")
def memory_status(app: App, call: Call) -> Status:
    """How complete the index is and what is missing. For when a search finds too little."""
    from vaultmind.serve.memory import damaged

    caller = call.caller
    return Status(
        version=__version__,
        pid=os.getpid(),
        vault=str(app.config.vault),
        memory_folder=app.config.memory_dir,
        state_folder=str(app.config.state_dir),
        agent=caller.agent or app.config.agent,
        agents=app.index.outlet.readable_agents(caller),
        index=seen_state(app, caller),
        warnings=(
            *app.config.warnings,
            *app.words.faults(),
            *_rights(app, caller),
            *damaged.notes(app, caller),
        ),
        waiting=waiting_for(app, caller),
        consolidation=brief(app, caller),
        planning=app.planner.figures,
        sources=source_statuses(app),
        gain=past_work.recent_gain(app, caller) if caller.kind == "person" else None,
        episodes=past_work.brief(app, caller),
        models=_models(app),
    )


@operation("Check everything", surfaces=NOT_MCP)
def doctor(app: App, call: Call) -> Examination:
    """Check vault, memory, embedder and index, and say how to mend what is broken."""
    from vaultmind.serve.ops.doctor import examine

    return examine(app, call)


def _models(app: App) -> tuple[str, ...]:
    """Return the ids of the planner's rankers in use and of the one that ranks searches."""
    embedder = app.index.state().embedder
    rows = (one for one in app.learning.models.rows() if one.active)
    return tuple(
        f"{one.id} ({one.of})" for one in rows if one.kind == "planner" or one.of in ("", embedder)
    )


def _rights(app: App, caller: Caller) -> Iterator[str]:
    """Yield what of the agents' rights is not as their identities say.

    A person is told of all agents; an agent of itself, and of nothing outside the vault.
    """
    whose: tuple[str, ...] = (caller.agent,)
    if caller.kind == "person":
        whose = app.paths.agent_names()
        yield from [f"{app.authority.fault}."] if app.authority.fault else []
    for name in whose:
        faults = app.authority.claim(name).faults
        if faults:
            yield f"{app.paths.identity(name)}: {'; '.join(faults)}."
        elif waiting := app.authority.waiting(name):
            how = f"If you want that: vaultmind agents allow {name}"
            if caller.kind == "agent":
                how = "Only the person can allow that, at the command line."
            yield f"{name} asks for more than is in force: {', '.join(waiting)}. {how}"


# --- how it is told -----------------------------------------------------------------------


@dumps(Status)
def _status_json(status: Status, to: Reader) -> dict[str, Any]:
    """Return how VaultMind is; an agent is not told folders outside the vault."""
    told = plain(status)
    told["waiting"] = status.waiting.count
    told["waiting_words"] = waiting_words(status.waiting)
    hidden: tuple[str, ...] = ("state_folder", "pid", "gain") if to.mark else ()
    hidden += ("planning", "models", "version") if to.lean else ()
    return {name: one for name, one in told.items() if name not in hidden}


@words(Status)
def _status_words(status: Status, to: Reader) -> Iterator[str]:
    yield (
        f"VaultMind {status.version}, vault {status.vault}, agent {status.agent} "
        f"(of {', '.join(status.agents) or 'none yet'})."
    )
    yield from index_words(status.index, to)
    yield waiting_words(status.waiting)
    yield f"Consolidation: {status.consolidation.words}."
    yield f"Episodes: {status.episodes.words}."
    if not to.mark:
        yield plan_words(status.planning, status.gain)
        yield gain_words(status.gain) if status.gain else ""
        yield f"State in {status.state_folder} (safe to delete)."
    yield f"Ranked by {', '.join(status.models)}." if status.models else ""
    yield from (
        f"Linked: {one.name}: {one.words}." for one in status.sources if one.kind == "linked"
    )
    yield from (f"! {warning}" if not to.mark else warning for warning in status.warnings)


def plan_words(figures: PlanFigures | Figures, kept: Figures | None = None) -> str:
    """Return how planning went since the daemon started, in a line.

    Before its first plan as it went in the last month, as far as that was kept.
    """
    if not figures.plans:
        known = kept is not None and kept.plan_context_p50_ms is not None
        before = f"; before that {plan_words(kept)}" if kept is not None and known else ""
        return f"Plans: none since the daemon started{before}"
    parts = [
        f"{figures.plans:,} made",
        f"{figures.plan_context_p50_ms:,.0f} ms, p95 {figures.plan_context_p95_ms:,.0f} ms",
        f"{figures.context_tokens_median:,} tokens each",
    ]
    if asked := figures.rerank_invocation_rate:
        in_vain = figures.fallback_rate_ml_unavailable
        parts += [f"a model was asked for {asked:.0%}" + f", in vain {in_vain:.0%}" * bool(in_vain)]
    return f"Plans: {' · '.join(parts)}"


def gain_words(figures: Figures) -> str:
    """Return what plans saved in the last month and how episodes went, in a line."""
    if not figures.episodes:
        return ""
    parts = [f"In 30 days {counted(figures.episodes, 'episode')}"]
    for name, said in (
        ("saved_share", "fewer tokens than whole files"),
        ("hit_share", "of the offered files used"),
        ("first_pass_success_rate", "had all in one plan"),
        ("affinity_hit_rate", "of earlier work used again"),
        ("causal_trace_completeness", "whole chains"),
    ):
        share = getattr(figures, name)
        parts += [f"{share:.0%} {said}"] if share is not None else []
    return " · ".join(parts)


@words("serve.ops.doctor.Examination")
def _examination_words(found: Examination, to: Reader) -> Iterator[str]:
    marks = {"ok": "✓", "warn": "!", "fail": "✗"}
    for check in found.checks:
        yield f"{marks[check.result]} {check.name}: {check.what}"
        yield f"  → {check.mend}" if check.mend else ""
