"""The search after an erasure: by text, by meaning, over raw bytes. What it finds is the answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from vaultmind.memory.forget.erasure import Erased, Near, Place
from vaultmind.memory.forget.planning import Plan, Planning, excerpt
from vaultmind.memory.forget.traces import Trace, blank_logs, search, wordings
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.plural import counted
from vaultmind.ports import IndexErasing
from vaultmind.types import Scrubbed
from vaultmind.vault.paths import VaultPaths

CANDIDATES = 200
"""Chunks of the full text that are looked at."""
MOST_NEAR = 10
NEAR_TEXTS = 8
"""Wordings whose meaning is searched for."""


class Done(Protocol):
    """What an erasure did."""

    paths: list[str]
    texts: list[str]
    faults: list[Place]


class Verifying:
    """Looks for what was erased in the memory folder, the state folder and the index."""

    def __init__(self, paths: VaultPaths, planning: Planning, state_dir: Path | None) -> None:
        self._paths = paths
        self._planning = planning
        self._state_dir = state_dir

    def state_files(self, plan: Plan) -> tuple[str, ...]:
        """Return the files of the state folder that hold it, but for what your notes explain."""
        if self._state_dir is None:
            return ()
        traces = search([self._state_dir], plan.wanted.texts)
        holders = self._holders(plan)
        found = {one.path for one in traces.found if not _explained(one, holders)}
        return tuple(sorted(str(path.relative_to(self._state_dir)) for path in found))

    def blank(self, wanted: Wanted) -> int:
        """Write over the log's lines that say it."""
        return blank_logs(self._state_dir, wanted) if self._state_dir else 0

    def verified(self, plan: Plan, done: Done, scrubbed: Scrubbed, index: IndexErasing) -> Erased:
        """Return what an erasure came to, by what is still there."""
        texts = wordings(plan.wanted, (*plan.texts, *done.texts))
        left = {one.path: one for one in (*done.faults, *plan.unread)}
        for place in (*self._by_text(plan, index), *self._by_bytes(plan, texts, scrubbed)):
            left.setdefault(place.path, place)
        near = self._near(plan, texts, index)
        faults = scrubbed.faults
        searched = ("text", "bytes") if near is None else ("text", "meaning", "bytes")
        nothing = not (plan.items or plan.wholes or left or faults or done.paths)
        whole = not (left or faults)
        return Erased(
            "not_found" if nothing else "erased" if whole else "partial",
            plan.counts,
            tuple(dict.fromkeys(done.paths)),
            tuple(left.values()),
            plan.yours,
            near or (),
            searched,
            faults,
            _told(plan, tuple(left.values()), faults, near),
        )

    def _by_text(self, plan: Plan, index: IndexErasing) -> Iterable[Place]:
        """Yield files and chunks of the memory that still say it."""
        everyone = plan.agents == self._paths.agent_names()
        for item in self._planning.items(plan.wanted, plan.agents, shared=everyone):
            yield Place(item.path, plan.excerpt(item.taken[0].text), "the file still says it")
        explained = {place.path for place in (*plan.yours, *plan.others)}
        for text in plan.wanted.texts:
            for chunk in index.saying(text, CANDIDATES):
                if chunk.path not in explained and plan.wanted.says(chunk.text):
                    yield Place(chunk.path, plan.excerpt(chunk.text), "the index still has it")

    def _by_bytes(self, plan: Plan, texts: Sequence[str], scrubbed: Scrubbed) -> Iterable[Place]:
        """Yield files whose raw bytes hold it, but for the person's own."""
        memory = self._paths.root / self._paths.memory_dir
        rest = {self._paths.root / place.path for place in (*plan.yours, *plan.others)}
        found = search([memory], texts)
        for trace in found.found:
            if trace.path not in rest and self._concerns(trace.path, plan):
                yield Place(self._paths.relative(trace.path), why="its bytes hold it")
        yield from (Place("the memory folder", why=fault) for fault in found.faults)
        if self._state_dir is None:
            return
        found = search([self._state_dir], texts, scrubbed.traces)
        holders = self._holders(plan)
        for trace in found.found:
            if not _explained(trace, holders):
                what = "its bytes hold it" if trace.text else "it holds a vector of it"
                yield Place(str(trace.path), why=what)
        yield from (Place("the state folder", why=fault) for fault in found.faults)

    def _concerns(self, path: Path, plan: Plan) -> bool:
        """Tell whether a file of the memory folder is one of those that were to be cleaned."""
        agent = self._paths.agent_of(self._paths.relative(path))
        return agent in plan.agents if agent else plan.agents == self._paths.agent_names()

    def _holders(self, plan: Plan) -> tuple[str, ...]:
        """Return the texts that may stand in the index: of files that are not to be touched."""
        texts = []
        for place in (*plan.yours, *plan.others):
            target = self._planning.target(place.path, "")
            texts += [target.text] if target else []
        return tuple(texts)

    def _near(
        self, plan: Plan, texts: Sequence[str], index: IndexErasing
    ) -> tuple[Near, ...] | None:
        """Return what means nearly the same; None where meaning cannot be searched."""
        found = index.nearest_to(texts[:NEAR_TEXTS], MOST_NEAR)
        if found is None:
            return None
        return tuple(
            Near(chunk.path, chunk.anchor, chunk.kind, excerpt(chunk.text, plan.wanted), cosine)
            for chunk, cosine in found
            if not plan.wanted.says(chunk.text)
        )


def _explained(trace: Trace, holders: Sequence[str]) -> bool:
    """Tell whether a trace is in the index because a file says it that stays as it is."""
    return bool(trace.text) and any(map(Wanted([trace.text]).says, holders))


def _told(
    plan: Plan, left: tuple[Place, ...], faults: tuple[str, ...], near: tuple[Near, ...] | None
) -> str:
    counts = plan.counts
    what = ", ".join(f"{name}: {number}" for name, number in counts.items())
    lines = [f"Erased: {what}." if counts else "No file of the memory said it."]
    looked = "text and raw bytes" if near is None else "text, meaning and raw bytes"
    if left or faults:
        found = [f"{place.path} ({place.why})" for place in left]
        lines.append(f"Only in part. Left: {'; '.join((*found, *faults))}.")
    else:
        lines.append(f"A search by {looked} finds it nowhere in the memory or the index.")
    if near is None:
        lines.append("Meaning was not searched: no embedder is loaded.")
    elif near:
        lines.append(f"{counted(len(near), 'passage')} may say it in other words: see the list.")
    if plan.yours:
        names = ", ".join(place.path for place in plan.yours)
        lines.append(f"Your own files that hold it, untouched: {names}.")
    return " ".join(lines)
