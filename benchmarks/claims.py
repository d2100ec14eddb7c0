"""Measure which claims in an agent's own words are kept: true ones, and ones that are made up.

    python benchmarks/claims.py --claims benchmarks/data/claims.jsonl

A line of the file is a conversation with claims of an agent about it, each with the words it
quotes: `{"id", "lang", "messages": [{"role", "text"}], "claims": [{"text", "quote", "label",
"sort"}]}`. A claim is reported with `session_log` at the end of its conversation, to an agent of
its own, so that none disturbs another. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from example import read

from vaultmind.app import App, open_app
from vaultmind.config import Flags, load_config
from vaultmind.language.secrets import sensitive
from vaultmind.serve.op import Call, run_operation
from vaultmind.types import Caller

OUTCOMES = ("written", "suggested", "dropped")
Fate = dict[str, str]
WAITS = {"denied": "suggested"}
"""Once many suggestions wait, what would wait is denied: that says nothing of the claim."""
SORTS = ("true", "true, sensitive", "name", "number", "date", "negation", "other")


def main() -> None:
    """Report every claim and print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--claims", type=Path, default=Path("benchmarks/data/claims.jsonl"))
    parser.add_argument("--wrong", action="store_true", help="print what went wrong, too")
    args = parser.parse_args()
    talks = read(args.claims)
    found: Counter[tuple[str, str, str]] = Counter()
    for talk, claim, fate in measure(talks):
        sort = claim["sort"] if not claim["label"] else "true"
        sort += ", sensitive" if claim["label"] and sensitive(claim["text"]) else ""
        for lang in (talk["lang"], "all"):
            found[lang, sort, WAITS.get(fate["outcome"], fate["outcome"])] += 1
        good = ("written", "unchanged") if claim["label"] else ("dropped", "suggested")
        if args.wrong and fate["outcome"] not in good:
            print(talk["id"], sort, fate, claim["text"], "|", claim["quote"])
    print(table(found))


def measure(talks: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any], Fate]]:
    """Return every claim with its conversation and what became of it."""
    done: list[tuple[dict[str, Any], dict[str, Any], Fate]] = []
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        (vault / ".obsidian").mkdir(parents=True)
        os.environ["VAULTMIND_STATE_DIR"] = str(Path(folder) / "state")
        os.environ["VAULTMIND_INDEX_EMBEDDER"] = "none"
        os.environ["VAULTMIND_CONSOLIDATION_AUTO"] = "false"
        app = open_app(load_config(Flags(vault=str(vault))))
        try:
            for talk in talks:
                for claim in talk["claims"]:
                    fate = report(app, f"agent-{len(done)}", talk["messages"], claim)
                    done.append((talk, claim, fate))
        finally:
            app.close()
    return done


def report(app: App, agent: str, messages: list[dict[str, str]], claim: dict[str, Any]) -> Fate:
    """Report a claim at the end of a conversation; return what became of it."""
    identity = app.config.vault / app.paths.identity(agent)
    identity.parent.mkdir(parents=True)
    identity.write_text("---\nautonomy: 2\n---\n", "utf-8")
    fact = {"text": claim["text"], "quote": claim["quote"]}
    args = {"messages": messages, "end": True, "facts": [fact]}
    body: Any = run_operation(app, Call(Caller("agent", agent)), "session_log", args, "mcp")
    fate: Fate = body["facts"][0]
    return fate


def table(found: Counter[tuple[str, str, str]]) -> str:
    """Return the outcomes of each sort of claim by language."""
    lines = ["| language | claims | n | written | waits | refused |", "|---|---|---|---|---|---|"]
    for lang in sorted({lang for lang, _, _ in found}):
        for sort in SORTS:
            counts = [found[lang, sort, one] for one in OUTCOMES]
            if total := sum(counts):
                shares = " | ".join(f"{count / total:.3f}" for count in counts)
                lines.append(f"| {lang} | {sort} | {total} | {shares} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
