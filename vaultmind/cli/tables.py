"""Answers as a person wants to look at them."""

from __future__ import annotations

from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from vaultmind.cli.output import escaped, out

MARKS = {"ok": "[green]✓[/]", "warn": "[yellow]![/]", "fail": "[red]✗[/]"}
KIND_STYLE = {"note": "cyan", "fact": "green", "message": "magenta", "summary": "yellow"}


def show_hits(answer: dict[str, Any]) -> None:
    """Show hits, best first, each with its place and why it is there."""
    for number, hit in enumerate(answer["hits"], 1):
        style = KIND_STYLE.get(hit["kind"], "")
        who = f" · {hit['speaker']}" if hit.get("speaker") else ""
        when = f" · {hit['time'][:10]}" if hit.get("time") else ""
        place = f"{hit['path']}{hit['anchor']}"
        out.print(f"[bold]{number}.[/] [{style}]{escaped(place)}[/][dim]{escaped(who + when)}[/]")
        out.print(Padding(Text(hit["text"].strip()), (0, 0, 0, 3)))
        out.print(f"   [dim]id {hit['id']} · score {hit['score']:.3f}{_parts(hit)}[/]\n")
    if answer.get("message"):
        out.print(escaped(answer["message"]))
    show_notes(answer["state"])


def show_memory(shown: dict[str, Any]) -> None:
    """Show the facts of an agent by section, then counts and files."""
    out.print(f"[bold]{escaped(shown['agent'])}[/] knows")
    for section in shown["sections"]:
        if section["facts"]:
            out.print(f"\n[bold cyan]{escaped(section['heading'])}[/]")
        for fact in section["facts"]:
            source = f" [dim]({fact['how']} {fact['written']})[/]" if fact.get("written") else ""
            out.print(f"  • {escaped(fact['text'])}{source}")
    counts = shown["counts"]
    table = Table.grid(padding=(0, 2))
    for name, value in counts.items():
        table.add_row(f"[dim]{name}[/]", str(value))
    out.print()
    out.print(table)


def show_status(status: dict[str, Any]) -> None:
    """Show the state of the index, the daemon and what is missing."""
    table = Table.grid(padding=(0, 2))
    for name, value in status.items():
        if isinstance(value, dict | list) or value in ("", None):
            continue
        table.add_row(f"[dim]{name}[/]", escaped(str(value)))
    out.print(table)
    if isinstance(status.get("index"), dict):
        show_index(status["index"])


def show_index(state: dict[str, Any]) -> None:
    """Show how complete the index is."""
    embedder = state.get("embedder") or "none"
    out.print(
        f"Index {state['phase']}: {state['indexed']} of {state['files']} files, "
        f"{state['chunks']} chunks, {state['vectors']} vectors ({escaped(embedder)})."
    )
    show_notes(state)
    for fault in state.get("faults", ()):
        out.print(f"  [yellow]![/] {escaped(fault['path'])}: {escaped(fault['reason'])}")


def show_checks(result: dict[str, Any]) -> None:
    """Show the doctor's checks and how to mend what is broken."""
    for check in result["checks"]:
        out.print(f"{MARKS[check['result']]} {escaped(check['name'])}: {escaped(check['what'])}")
        if check.get("mend"):
            out.print(f"    [dim]→[/] {escaped(check['mend'])}")


def show_notes(state: dict[str, Any]) -> None:
    """Say what the index lacks, if anything."""
    for note in state.get("notes", ()):
        out.print(f"[yellow]![/] {escaped(note)}")


def _parts(hit: dict[str, Any]) -> str:
    parts = hit.get("parts") or {}
    return "".join(f" · {name} {value:.3g}" for name, value in parts.items())
