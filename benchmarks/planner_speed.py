"""How long a plan takes: over 10,000 notes and over 5,000 files of code, stage by stage.

    python benchmarks/planner_speed.py [--notes 10000] [--files 5000] [--keep FOLDER] [--json]

The app as it runs in the daemon, in this process, with the vault of make_vault.py and the project
of make_code.py linked to it; plans one after the other. `plan` is the whole way. Its stages:
`understand` the task; `candidates` with their features, the search with its query vector among
them; `assemble` (the files of the best are read, cut into forms, packed and checked against the
disk); `the rest`. `after an edit`: before each plan a file was changed and indexed. `explore` is
the layers of a kind of task from the cache, of a source that has not changed; `hits` the share of
answers that came whole from the cache while every tenth followed an edit. `fast` and `full` are
plans with a model of fixed speed behind an OpenAI-compatible port (2,000 tokens a second read, 60
written) and `latency_budget_ms` 900; `used` is the share of plans in which it was heard in time.

Vectors: the bundled embedder's; of a large vault only the first texts are embedded, the others'
are drawn between two of those (search_speed.py).
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from vaultmind.heavy import importing

with importing():  # numpy with one thread, as the daemon has it: more wait busily for each other
    import numpy as np

from make_code import make_code
from make_vault import make_vault
from search_speed import Drawn
from speed import machine, make_queries

from vaultmind import tokens
from vaultmind.app import App, open_app
from vaultmind.config import Flags, load_config
from vaultmind.index.embed import open_embedder
from vaultmind.planner import plan as planning
from vaultmind.planner.layers import explore
from vaultmind.planner.sources import Source
from vaultmind.planner.types import TASK_KINDS, Mode, Plan, PlanRequest
from vaultmind.types import PERSON

PLANS, WARM = 200, 20
READ_A_SECOND, WRITTEN_A_SECOND = 2000.0, 60.0
LATENCY_MS = 900
EDIT_EVERY = 10
_WAIT_SECONDS = 7200.0
_STAGES = {"understand": "understand", "measured": "candidates", "lay": "read", "decide": "pack"}
"""What of the planner's module is timed, and what it is called here."""
Took = dict[str, list[float]]


class Stopwatch:
    """Adds up what the planner's stages take within one plan."""

    def __init__(self) -> None:
        self.took: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Time the planner's stages for as long as it is open."""
        kept = {name: getattr(planning, name) for name in _STAGES}
        for name, real in kept.items():
            setattr(planning, name, self._timed(_STAGES[name], real))
        try:
            yield
        finally:
            for name, real in kept.items():
                setattr(planning, name, real)

    def _timed(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            began = time.perf_counter()
            try:
                return real(*args, **kwargs)
            finally:
                self.took[name] += (time.perf_counter() - began) * 1000

        return timed


class Model(BaseHTTPRequestHandler):
    """A model of fixed speed: gives each candidate a number that its line's length tells.

    Asked for the kind of a task (`full`), it always says bugfix.
    """

    def do_POST(self) -> None:
        """Answer after the time that so many tokens take."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = "\n".join(turn["content"] for turn in body["messages"])
        lines = re.findall(r"^\d+\. .*$", asked, re.MULTILINE)
        wants_kind = '"kind"' in json.dumps(body.get("response_format", {}))
        answer = {"kind": "bugfix"} if wants_kind else {"scores": [len(one) % 10 for one in lines]}
        said = json.dumps(answer)
        time.sleep(tokens.count(asked) / READ_A_SECOND + tokens.count(said) / WRITTEN_A_SECOND)
        choice = {"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        raw = json.dumps({"choices": [choice], "usage": {}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def served() -> Iterator[str]:
    """Run the model; yield what the configuration calls it."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1#fixed"
        server.shutdown()


@contextmanager
def opened(folder: Path, notes: int, model: str) -> Iterator[App]:
    """Open the app over a vault of so many notes."""
    vault = folder / f"vault-{notes}"
    if not vault.exists():
        make_vault(vault, notes)
    env = {
        "VAULTMIND_STATE_DIR": str(folder / "state"),
        "VAULTMIND_CONFIG": str(folder / "config" / "none.toml"),
    }
    config = load_config(Flags(vault=str(vault)), env=env)
    config = replace(config, minion=replace(config.minion, rerank=model))
    real = open_embedder("use")
    app = open_app(config, embedder=Drawn(real) if real else None)
    app.start()
    try:
        yield app
    finally:
        app.close()


def ready(app: App, source: Source) -> float:
    """Wait until all is indexed, read and at hand; return the seconds."""
    began = time.perf_counter()
    if not source.index.wait_ready(_WAIT_SECONDS, vectors=True):
        sys.exit(f"{source.name} was not ready: {source.index.state()}")
    if not app.planner.settle(source, _WAIT_SECONDS):
        sys.exit(f"{source.name}: what a planner keeps was not ready")
    return time.perf_counter() - began


def planned(app: App, source: Source, task: str, mode: Mode = "off") -> Plan:
    """Return a plan."""
    request = PlanRequest(source.name, task, ml_mode=mode, latency_budget_ms=LATENCY_MS)
    return app.planner.plan(request, PERSON)


def plans(app: App, source: Source, tasks: Sequence[str]) -> Took:
    """Return the times of plans and of their stages."""
    for task in tasks[:WARM]:
        planned(app, source, task)
    took: Took = defaultdict(list)
    watch = Stopwatch()
    with watch.watching():
        for task in tasks[WARM:]:
            watch.took.clear()
            began = time.perf_counter()
            plan = planned(app, source, task)
            whole = (time.perf_counter() - began) * 1000
            took["plan"].append(whole)
            took["tokens"].append(float(plan.budget_report.estimated_used))
            took["files"].append(float(len(plan.context.files)))
            for name in _STAGES.values():
                took[name].append(watch.took[name])
            took["the rest"].append(whole - sum(watch.took.values()))
    return took


def edited(app: App, source: Source, tasks: Sequence[str]) -> list[float]:
    """Return the times of plans, before each of which a file was changed and indexed."""
    paths = sorted(row.path for row in source.index.rows())
    took = []
    for number, task in enumerate(tasks):
        _edit(source, paths[number * 7919 % len(paths)], number)
        began = time.perf_counter()
        planned(app, source, task)
        took.append((time.perf_counter() - began) * 1000)
    return took


def explored(source: Source) -> Took:
    """Return the times of exploring an unchanged source, and the share of hits under editing."""
    for kind in TASK_KINDS:
        explore(source.structure, kind)
    took = []
    for number in range(PLANS):
        began = time.perf_counter()
        explore(source.structure, TASK_KINDS[number % len(TASK_KINDS)])
        took.append((time.perf_counter() - began) * 1000)
    paths = sorted(row.path for row in source.index.rows())
    hits = []
    for number in range(PLANS):
        if number % EDIT_EVERY == 0:
            _edit(source, paths[number * 104729 % len(paths)], number)
        told = explore(source.structure, TASK_KINDS[number % len(TASK_KINDS)])
        hits.append(float(told.cache_status == "hit"))
    return {"explore": took, "hits": hits}


def modelled(app: App, source: Source, tasks: Sequence[str], mode: Mode) -> Took:
    """Return the times of plans with a model, and how often it was heard."""
    took: Took = defaultdict(list)
    for task in tasks:
        began = time.perf_counter()
        plan = planned(app, source, task, mode)
        took[mode].append((time.perf_counter() - began) * 1000)
        took[f"{mode}, used"].append(float(plan.rerank == "used"))
    return took


def _edit(source: Source, path: str, number: int) -> None:
    sign = "#" if path.endswith(".py") else "\n"
    with (source.root / path).open("a", encoding="utf-8") as file:
        file.write(f"{sign} seen once more: {number}\n")
    source.index.refresh([path])


def measured(app: App, source: Source, tasks: Sequence[str]) -> Took:
    """Return everything that is measured of a source."""
    seconds = ready(app, source)
    took = plans(app, source, tasks)
    took["after an edit"] = edited(app, source, tasks[WARM:])
    took |= explored(source)
    for mode in ("fast", "full"):
        took |= modelled(app, source, tasks[: PLANS // 4], mode)  # type: ignore[arg-type]
    state = source.index.state()
    took |= {"ready, s": [seconds], "indexed": [float(state.indexed)], "chunks": [state.chunks]}
    return took


def rows_of(took: Took) -> dict[str, dict[str, float]]:
    """Return p50 and p95 of times, means of shares."""
    rows: dict[str, dict[str, float]] = {}
    for name, values in took.items():
        if name == "hits" or name.endswith("used"):
            rows[name] = {"mean": statistics.fmean(values)}
        elif len(values) == 1:
            rows[name] = {"value": values[0]}
        else:
            p50, p95 = np.percentile(values, [50, 95])
            rows[name] = {"p50": float(p50), "p95": float(p95), "max": max(values)}
    return rows


def main() -> None:
    """Measure and print tables, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--keep", type=Path, help="keep the vault and its index, to measure again")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory(prefix="vaultmind-plans-") as passing, served() as model:
        folder = arguments.keep or Path(passing)
        folder.mkdir(parents=True, exist_ok=True)
        project = folder / f"project-{arguments.files}"
        tasks = make_code(project, arguments.files)
        with opened(folder, arguments.notes, model) as app:
            known = {source.name: source for source in app.sources.all()}
            shop = known.get("shop") or app.sources.link(str(project), "shop")
            queries = make_queries(PLANS + WARM)
            asked = {"notes": (app.sources.all()[0], queries), "code": (shop, tasks)}
            for name, (source, some) in asked.items():
                results[name] = rows_of(measured(app, source, some[: PLANS + WARM]))
    if arguments.json:
        print(json.dumps({"machine": machine(), "rows": results}, indent=1))
        return
    print(machine())
    for name, rows in results.items():
        print(f"\n{name}")
        for row, values in rows.items():
            print(f"  {row:16}" + "".join(f"{key:>7} {one:9.2f}" for key, one in values.items()))


if __name__ == "__main__":
    main()
