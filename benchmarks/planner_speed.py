"""How long a plan takes: over 10,000 notes and over 5,000 files of code.

    python benchmarks/planner_speed.py [--notes 10000] [--files 5000] [--keep FOLDER]

The app as it runs in the daemon, in this process, with the vault of make_vault.py and the project
of make_code.py linked to it; plans one after the other, without a model. `plan` is the whole way;
`after an edit`: before each plan a file was changed and indexed. `explore` is the layers of a kind
of task from the cache, of a source that has not changed.

Vectors: the bundled embedder's; of a large vault only the first texts are embedded, the others'
are drawn between two of those (search_speed.py).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from vaultmind.heavy import importing

with importing():  # numpy with one thread, as the daemon has it: more wait busily for each other
    import numpy as np

from make_code import make_code
from make_vault import make_vault
from search_speed import Drawn
from speed import machine, make_queries

from vaultmind.app import App, open_app
from vaultmind.config import Flags, load_config
from vaultmind.index.embed import open_embedder
from vaultmind.planner.layers import explore
from vaultmind.planner.source import Source
from vaultmind.planner.types import TASK_KINDS, Plan, PlanRequest
from vaultmind.types import PERSON

PLANS, WARM = 200, 20
_WAIT_SECONDS = 7200.0
Took = dict[str, list[float]]


@contextmanager
def opened(folder: Path, notes: int) -> Iterator[App]:
    """Open the app over a vault of so many notes."""
    vault = folder / f"vault-{notes}"
    if not vault.exists():
        make_vault(vault, notes)
    env = {
        "VAULTMIND_STATE_DIR": str(folder / "state"),
        "VAULTMIND_CONFIG": str(folder / "config" / "none.toml"),
    }
    config = load_config(Flags(vault=str(vault)), env=env)
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
    if source.settle(_WAIT_SECONDS) == "partial":
        sys.exit(f"{source.name}: what a planner keeps was not ready")
    return time.perf_counter() - began


def planned(app: App, source: Source, task: str) -> Plan:
    """Return a plan."""
    return app.planner.plan(PlanRequest(source.name, task), PERSON)


def plans(app: App, source: Source, tasks: Sequence[str]) -> Took:
    """Return the times of plans, and what they hold."""
    for task in tasks[:WARM]:
        planned(app, source, task)
    took: Took = defaultdict(list)
    for task in tasks[WARM:]:
        began = time.perf_counter()
        plan = planned(app, source, task)
        took["plan"].append((time.perf_counter() - began) * 1000)
        took["tokens"].append(float(plan.budget_report.estimated_used))
        took["files"].append(float(len(plan.context.files)))
    return took


def edited(app: App, source: Source, tasks: Sequence[str]) -> list[float]:
    """Return the times of plans, before each of which a file was changed and indexed."""
    paths = sorted(source.index.records())
    took = []
    for number, task in enumerate(tasks):
        _edit(source, paths[number * 7919 % len(paths)], number)
        began = time.perf_counter()
        planned(app, source, task)
        took.append((time.perf_counter() - began) * 1000)
    return took


def explored(source: Source) -> list[float]:
    """Return the times of exploring an unchanged source."""
    for kind in TASK_KINDS:
        explore(source, kind)
    took = []
    for number in range(PLANS):
        began = time.perf_counter()
        explore(source, TASK_KINDS[number % len(TASK_KINDS)])
        took.append((time.perf_counter() - began) * 1000)
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
    took["explore"] = explored(source)
    state = source.index.state()
    took |= {"ready, s": [seconds], "indexed": [float(state.indexed)], "chunks": [state.chunks]}
    return took


def main() -> None:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--keep", type=Path, help="keep the vault and its index, to measure again")
    arguments = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory(prefix="vaultmind-plans-") as passing:
        folder = arguments.keep or Path(passing)
        folder.mkdir(parents=True, exist_ok=True)
        project = folder / f"project-{arguments.files}"
        tasks = make_code(project, arguments.files)
        with opened(folder, arguments.notes) as app:
            known = {source.name: source for source in app.sources.all()}
            shop = known.get("shop") or app.sources.link(str(project), "shop")
            queries = make_queries(PLANS + WARM)
            asked = {"notes": (app.sources.all()[0], queries), "code": (shop, tasks)}
            for name, (source, some) in asked.items():
                results[name] = measured(app, source, some[: PLANS + WARM])
    print(machine())
    for name, took in results.items():
        print(f"\n{name:18}{'p50':>9}{'p95':>9}{'max':>9}")
        for row, values in took.items():
            cells = np.percentile(values, [50, 95, 100])
            print(f"  {row:16}" + "".join(f"{one:9.2f}" for one in cells))


if __name__ == "__main__":
    main()
