"""Overview.md: what the agents know, what waits, what was said and changed lately, on one page.

`vaultmind init` makes the page; whoever deletes it, does without. What stands between its two marks
is ours, and made anew when something changed; what a person writes around them stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, timedelta

from vaultmind.consolidate.types import Resources
from vaultmind.episodes.gains import Figures
from vaultmind.memory.audit import FACT_OPS, newest_first
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.wording import page
from vaultmind.redact import blank_private, mask
from vaultmind.session.active import recent_of
from vaultmind.session.files import Head, Shelf, read_text
from vaultmind.times import seconds_of
from vaultmind.types import Fact
from vaultmind.vault.files import FileText
from vaultmind.vault.paths import VaultPaths

SECONDS = 60.0
"""How often it is looked whether something changed."""
BEGIN = "%% overview: rewritten automatically; write above or below %%"
END = "%% end of overview %%"
FACTS, TALKS, DAYS, WEEK = 5, 8, 14, 7
"""Newest facts of an agent, last conversations, days of the chart, days of changes."""
_OURS = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)


def keep(by: Resources, gain: Callable[[], Figures], language: str) -> None:
    """Make the page anew where it is there and says something else; `gain`: what plans saved."""
    path = by.gate.paths.overview
    if not by.reader.exists(path):
        return
    ours = f"{BEGIN}\n\n{written(by, gain(), language)}\n{END}"

    def change(file: FileText | None) -> str | None:
        text = file.text if file else ""
        new = _OURS.sub(lambda _: ours, text, count=1)
        return new if new != text else None

    by.gate.edit(path, change)


def written(by: Resources, gain: Figures, language: str) -> str:
    """Return what stands between the marks."""
    paths, today = by.gate.paths, by.clock().date()
    agents = paths.agent_names()
    talks = [(agent, one) for agent in agents for one in by.heads(agent) if one.said]
    talks.sort(key=lambda one: one[1].meta.started, reverse=True)
    days = [today - timedelta(days=ago) for ago in range(DAYS - 1, -1, -1)]
    began = Counter(one.meta.started[:10] for _, one in talks)
    counts = [began[one.isoformat()] for one in days]
    shown = page("Overview", language)
    return (shown if gain.plans else shown.rpartition("\n## ")[0]).format(
        agents=_listed(line for agent in agents for line in _known(by, agent)),
        waiting=by.gate.queue.waiting(),
        suggestions=paths.suggestions.removesuffix(".md"),
        talks=_listed(_talk(by, who, one) for who, one in talks[:TALKS]),
        days=", ".join(f'"{one.day}"' for one in days),
        counts=", ".join(map(str, counts)),
        most=max(8, *counts),
        plans=gain.plans,
        offered=f"{gain.offered_tokens:,}",
        whole=f"{gain.whole_tokens:,}",
        **_changes(paths, today),
    )


def _known(by: Resources, agent: str) -> Iterator[str]:
    """Yield how much an agent knows, and the newest of it."""
    path = by.gate.paths.brain(agent)
    facts = parse_brain(blank_private(read_text(by.reader, path)[0])).all()
    yield f"- **[[{path.removesuffix('.md')}|{agent}]]**: {len(facts)}"
    oldest = sorted(facts, key=lambda one: one.written)
    yield from (f"\t- {_told(one)}" for one in reversed(oldest[-FACTS:]))


def _talk(by: Resources, agent: str, head: Head) -> str:
    """Return a conversation as a link with its day and its title; its id where it has none."""
    named, path = head.meta.title, by.gate.paths.session(agent, head.id)
    recent = None if named else recent_of(Shelf(by.reader), agent, head.id, by.hides)
    title = re.sub(r"[\[\]|#^]", " ", mask(named or (recent.title if recent else head.id)).text)
    return f"- {head.meta.started[:10]} [[{path.removesuffix('.md')}|{title}]] · {agent}"


def _changes(paths: VaultPaths, today: date) -> dict[str, int]:
    """Return how many facts were written, replaced and forgotten in the last days."""
    since = datetime.combine(today - timedelta(days=WEEK), datetime.min.time()).timestamp()
    done = Counter[str]()
    for line in newest_first(paths, paths.agent_names(), FACT_OPS):
        if seconds_of(line.time) < since:
            break
        done[line.op] += line.outcome == "written" and not line.undone_by
    return {op: done[op] for op in FACT_OPS}


def _told(fact: Fact) -> str:
    return f"{mask(fact.text).text}{f' · {fact.written}' if fact.written else ''}"


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(lines) or "–"
