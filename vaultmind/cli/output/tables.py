"""Answers as a person wants to look at them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from vaultmind.cli.output.output import (
    bad,
    bold,
    dim,
    good,
    odd,
    paragraph,
    place,
    say,
)
from vaultmind.plural import counted

MARKS = {"ok": good("✓"), "warn": odd("!"), "fail": bad("✗")}
SHOWN_FAULTS = 10
"""Faulty files that are named; the rest is a number."""
MINUTES_A_DAY, MINUTES_AN_HOUR = 1440, 60


def show_status(status: dict[str, Any]) -> None:
    """Show vault, index, daemon and what is missing."""
    agents = ", ".join(status["agents"]) or "no agent yet"
    rows = {
        "vault": place(status["vault"]),
        "memory": f"{status['memory_folder']}/ · {agents} · writing as {bold(status['agent'])}",
        "index": index_words(status["index"]),
        **_linked_rows(status["sources"]),
        "queue": status["consolidation"]["words"],
        "plans": plan_words(status["planning"], status["gain"]),
        "gain": gain_words(status["gain"]),
        "episodes": status["episodes"]["words"],
        "daemon": daemon_words(status["daemon"]),
        "state": f"{status['state_folder']} {dim('(safe to delete)')}",
        "version": status["version"],
    }
    for name, words in rows.items():
        say(f"{dim(f'{name:8}')} {words}")
    if status["waiting_words"]:
        say(f"{MARKS['warn']} {status['waiting_words']}")
    for warning in status["warnings"]:
        say(f"{MARKS['warn']} {warning}")
    show_faults(status["index"])


def _linked_rows(sources: list[dict[str, Any]]) -> dict[str, str]:
    """Return a row for each linked folder; the first is named."""
    linked = [one for one in sources if one["kind"] == "linked"]
    words = [f"{bold(one['name'])} · {one['words']} · {place(one['root'])}" for one in linked]
    return {("linked" if not at else " " * at): line for at, line in enumerate(words)}


def show_made(made: dict[str, Any]) -> None:
    """Show which files were made, and which were there."""
    say(bold(made["vault"]))
    for path in made["created"]:
        say(f"  {good('+')} {path}")
    for path in made["existing"]:
        say(f"  {dim('=')} {path} {dim('was there')}")


def show_index(state: dict[str, Any]) -> None:
    """Show how complete the index is."""
    mark = {"ready": MARKS["ok"], "failed": MARKS["fail"]}.get(state["phase"], MARKS["warn"])
    say(f"{mark} {index_words(state)}")
    show_faults(state)


def index_words(state: dict[str, Any]) -> str:
    """Return how complete an index is, in a line."""
    if state["phase"] in ("starting", "indexing") and not state["files"]:
        return f"{state['phase']} · the vault's files are being listed"
    files = f"{state['indexed']:,} of {counted(state['files'], 'file')}"
    meaning = "by words only"
    if state["embedder"]:
        meaning = f"{counted(state['vectors'], 'vector')} ({state['embedder']})"
    if state["sends_to"]:
        meaning += f" · texts are sent to {state['sends_to']}"
    return f"{state['phase']} · {files} · {counted(state['chunks'], 'chunk')} · {meaning}"


def daemon_words(status: dict[str, Any]) -> str:
    """Return who runs and for whom, in a line."""
    if not status["running"]:
        return dim("none runs; the next command starts one")
    clients = counted(status["clients"], "client")
    port = f" · http://127.0.0.1:{status['http_port']}" if status.get("http_port") else ""
    memory = f"{status['memory_mb']:,.0f} MB"
    return f"pid {status['pid']} · {clients} · {memory} · up {_age(status['started'])}{port}"


def plan_words(figures: dict[str, Any], kept: dict[str, Any] | None = None) -> str:
    """Return how planning went since the daemon started, in a line.

    Before its first plan as it went in the last month, as far as that was kept.
    """
    if not figures["plans"]:
        none = dim("none since the daemon started")
        is_known = kept and kept["plan_context_p50_ms"] is not None
        return f"{none} · before that {plan_words(kept)}" if kept and is_known else none
    times = f"{figures['plan_context_p50_ms']:,.0f} ms, p95 {figures['plan_context_p95_ms']:,.0f}"
    parts = [f"{figures['plans']:,} made", f"{times} ms"]
    parts += [f"{figures['context_tokens_median']:,} tokens each"]
    if asked := figures["rerank_invocation_rate"]:
        in_vain = figures["fallback_rate_ml_unavailable"]
        parts += [f"a model was asked for {asked:.0%}" + f", in vain {in_vain:.0%}" * bool(in_vain)]
    return " · ".join(parts)


def gain_words(figures: dict[str, Any]) -> str:
    """Return what plans saved in the last month and how episodes went, in a line."""
    if not figures["episodes"]:
        return dim("no episode in 30 days")
    parts = [counted(figures["episodes"], "episode")]
    for name, words in (
        ("saved_share", "fewer tokens than whole files"),
        ("hit_share", "of the offered files used"),
        ("first_pass_success_rate", "had all in one plan"),
        ("affinity_hit_rate", "of earlier work used again"),
        ("causal_trace_completeness", "whole chains"),
    ):
        parts += [f"{figures[name]:.0%} {words}"] if figures[name] is not None else []
    return " · ".join(parts) + dim(" · in 30 days")


def show_checks(result: dict[str, Any]) -> None:
    """Show the doctor's checks and how to mend what is broken."""
    width = max(len(check["name"]) for check in result["checks"])
    for check in result["checks"]:
        text = paragraph(check["what"], " " * (width + 4)).lstrip()
        say(f"{MARKS[check['result']]} {check['name']:{width}}  {text}")
        if check["mend"]:
            say(f"{' ' * (width + 2)}{dim('→')} {check['mend']}")
    results = [check["result"] for check in result["checks"]]
    broken, doubtful = results.count("fail"), results.count("warn")
    verdict = (
        "All is well." if not broken + doubtful else f"{broken} broken, {doubtful} to look at."
    )
    say(f"\n{bold(verdict)}")


def show_faults(state: dict[str, Any]) -> None:
    """Say what the index lacks, if anything."""
    for note in state["notes"]:
        say(f"{MARKS['warn']} {note}")
    for fault in state["faults"][:SHOWN_FAULTS]:
        say(f"{MARKS['warn']} {place(fault['path'])}: {fault['reason']}")
    if (more := len(state["faults"]) - SHOWN_FAULTS) > 0:
        say(f"{MARKS['warn']} … and {counted(more, 'more file')}: `vaultmind status --json`")


def _age(started: str) -> str:
    minutes = int((datetime.now(UTC) - datetime.fromisoformat(started)).total_seconds() // 60)
    if minutes >= MINUTES_A_DAY:
        return counted(minutes // MINUTES_A_DAY, "day")
    if minutes >= MINUTES_AN_HOUR:
        return f"{minutes // MINUTES_AN_HOUR} h {minutes % MINUTES_AN_HOUR} min"
    return f"{minutes} min" if minutes else "less than a minute"
