"""`vaultmind model`: what ranks plans and searches, learnt from what you and your agents do."""

from __future__ import annotations

import re
from typing import Any

import click

from vaultmind.cli.options import Settings, VaultCommand, VaultGroup, pass_settings
from vaultmind.cli.output.bars import progress
from vaultmind.cli.output.output import (
    EXIT_OTHER,
    bold,
    dim,
    good,
    odd,
    paragraph,
    place,
    print_json,
    say,
)
from vaultmind.plural import counted

WAIT_SECONDS = 1800.0
"""How long a person waits for a training at most; it goes on without them."""
ID_WIDTH = 26
RANKS = {"planner": "Plans, over a source of", "ranker": "Searches, with the embedder"}
_DAYS = re.compile(r"(\d{1,5})d?")


def _days(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Return a number of days, of `30d` or `30`."""
    if value is None:
        return None
    found = _DAYS.fullmatch(value.strip())
    if found is None:
        raise click.BadParameter(f"{value!r} is no number of days such as 30d.")
    return int(found[1])


@click.group(cls=VaultGroup)
def model() -> None:
    """Train what ranks plans and searches, look at it, or go back.

    It learns from episodes and from what searches were worth, on this machine; a new model comes
    into use only if it is better on what it has not seen.
    """


@model.command(cls=VaultCommand)
@click.option("--kind", type=click.Choice(("planner", "ranker", "all")),
              help="What ranks plans, or searches.  [default: all]")  # fmt: skip
@click.option("--since", "since_days", callback=_days, metavar="30d",
              help="Learn only from so far back.  [default: all]")  # fmt: skip
@click.option("--min-samples", "min_lessons", type=int, metavar="N",
              help="Fewer lessons make no model.  [default: learning.min_lessons]")  # fmt: skip
@click.option("--activate", "force", is_flag=True, help="Use it whatever its trial says.")
@click.option("--no-wait", is_flag=True, help="Do not wait for its end.")
@pass_settings
def train(settings: Settings, *, force: bool, no_wait: bool, **options: object) -> int:
    """Learn in the background, try what was learnt, and use it if it is better.

    Example: vaultmind model train --kind ranker
    """
    args = {name: value for name, value in options.items() if value is not None}
    wait = 0.0 if no_wait and not settings.in_process else WAIT_SECONDS
    args |= {"force": force, "wait_seconds": wait}
    with progress(quiet=settings.json) as report:
        job = settings.backend().call("model_train", args, report)
    if settings.json:
        print_json(job)
    else:
        _show_job(job)
    return EXIT_OTHER if job["state"] in ("failed", "cancelled") or not job["begun"] else 0


@model.command(cls=VaultCommand)
@pass_settings
def status(settings: Settings) -> int:
    """List the models, those in use, and what the last training came to."""
    found = settings.backend().call("model_status", {})
    if settings.json:
        print_json(found)
        return 0
    for kind, words in RANKS.items():
        say(bold(f"{words} …"))
        for one in (one for one in found["models"] if one["kind"] == kind):
            _show_model(one)
    there = counted(found["searches"], "search", "searches")
    say(dim(f"To learn from: {there} with a verdict; `vaultmind episode list` for episodes."))
    for fault in found["faults"]:
        say(paragraph(f"{odd('!')} {fault}", "  ").lstrip())
    if found["job"] is not None:
        _show_job(found["job"])
    return 0


@model.command(cls=VaultCommand)
@click.argument("model_id", metavar="ID")
@pass_settings
def activate(settings: Settings, model_id: str) -> int:
    """Put the model ID into use; `shipped-use` is one, too.

    Example: vaultmind model activate shipped-code
    """
    return _changed(settings, "model_activate", {"model": model_id})


@model.command(cls=VaultCommand)
@click.argument("kind", type=click.Choice(("planner", "ranker")))
@pass_settings
def rollback(settings: Settings, kind: str) -> int:
    """Go back to what ranked before the last change."""
    return _changed(settings, "model_rollback", {"kind": kind})


def _changed(settings: Settings, operation: str, args: dict[str, Any]) -> int:
    answer = settings.backend().call(operation, args)
    if settings.json:
        print_json(answer)
    else:
        say(f"{good('✓')} {paragraph(answer['message'], '  ').lstrip()}")
    return 0


def _show_model(one: dict[str, Any]) -> None:
    mark = good("✓") if one["active"] else " "
    learnt = ", ".join(one["learnt_on"]) if one["path"] else "comes with the program"
    say(f"  {mark} {one['of']:6} {one['id']:{ID_WIDTH}} {dim(learnt)}")
    if one["path"]:
        say(f"    {'':6} {dim(place(one['path']))}")


def _show_job(job: dict[str, Any]) -> None:
    """Show a training: what was learnt, why it is in use or is not."""
    if not job["begun"] and job["state"] == "done":
        say(paragraph(f"{odd('!')} {job['message'].partition(chr(10))[0]}", "  ").lstrip())
    if job["state"] != "done":
        say(paragraph(f"{odd('·')} {job['message']}", "  ").lstrip())
        return
    for one in job["results"]:
        mark = good("✓") if one["activated"] else dim("=")
        named = f" {one['id']}" if one["id"] else ""
        used = "in use now" if one["activated"] else "not in use" if one["id"] else "no model"
        of = f" for {one['of']}" if one["of"] else ""
        say(f"{mark} {bold(one['kind'])}{of}{named}: {used}")
        say(dim(paragraph(one["why"], "  ")))
        for guard in (one["verdict"] or {}).get("guards", ()):
            fell = f"{guard['before']:.3f} before, {guard['after']:.3f} with it"
            say(dim(paragraph(f"{guard['name']}: MRR {fell}", "  ")))
