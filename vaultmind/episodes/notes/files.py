"""Where episodes lie: `<agent>/episodes/2026-11-22_001.md`, and beside it what plans offered.

Offers stand in `2026-11-22_001.offers.jsonl`, a line each. They are for training alone: never
indexed, never shown, and gone with the note.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from vaultmind.episodes.notes.note import parsed
from vaultmind.episodes.types import Episode, Offer
from vaultmind.errors import BadArgument, NotFound, VaultMindError
from vaultmind.vault.files import FileStat, FileText, VaultReader, stat_of
from vaultmind.vault.paths import AGENT_NAME, SESSION_ID, VaultPaths
from vaultmind.vault.properties import front_matter

OFFERS = ".offers.jsonl"
HEAD_BYTES = 4096
"""Of a note: so much holds its front matter, as we write it."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An episode's note as a folder shows it."""

    name: str
    """`agent/id`."""
    path: str
    stat: FileStat
    offers: FileStat | None = None
    """The stamp of what plans offered in it; None where nobody kept it."""

    @property
    def agent(self) -> str:
        """Return whose it is."""
        return self.name.partition("/")[0]

    @property
    def id(self) -> str:
        """Return its id, which is its file's stem."""
        return self.name.partition("/")[2]


class EpisodeFiles:
    """Reads episodes. Any thread; writes nothing."""

    def __init__(self, paths: VaultPaths, reader: VaultReader) -> None:
        self._paths = paths
        self._reader = reader

    def path(self, name: str) -> str:
        """Return the vault-relative path of an episode's note. Raises BadArgument."""
        agent, id = split_name(name)
        return self._paths.episode(agent, id)

    def offers_path(self, name: str) -> str:
        """Return the vault-relative path of what plans offered in an episode."""
        return self.path(name).removesuffix(".md") + OFFERS

    def name_of(self, path: str) -> str:
        """Return the episode that a vault-relative path is of, offers too; empty for no episode."""
        agent = self._paths.agent_of(path)
        folder, _, file = path.rpartition("/")
        id = file.removesuffix(OFFERS).removesuffix(".md")
        ours = agent and folder == self._paths.episodes(agent) and file.endswith((".md", OFFERS))
        return f"{agent}/{id}" if ours and SESSION_ID.fullmatch(id) else ""

    def listed(self, agent: str = "") -> tuple[Listed, ...]:
        """Return the notes of an agent, or of all, oldest first; none of them is opened."""
        agents = (agent,) if agent else self._paths.agent_names()
        found = [one for name in agents for one in self._of(name)]
        return tuple(sorted(found, key=lambda one: (order(one.id), one.agent)))

    def names(self, agent: str = "") -> tuple[str, ...]:
        """Return the names of an agent's episodes, or of all, oldest first: many, quickly."""
        agents = (agent,) if agent else self._paths.agent_names()
        found = [
            (order(id), one, id)
            for one in agents
            for entry in _entries(self._paths.root / self._paths.episodes(one))
            if entry.name.endswith(".md") and SESSION_ID.fullmatch(id := entry.name[: -len(".md")])
        ]
        return tuple(f"{one}/{id}" for _, one, id in sorted(found))

    def read(self, name: str) -> Episode:
        """Return an episode. Raises NotFound, UnreadableNote, BadArgument."""
        return self.opened(name)[0]

    def opened(self, name: str) -> tuple[Episode, FileText]:
        """Return an episode and its file as it stands. Raises as `read` does."""
        file = self.file(name)
        return parsed(file.text, *split_name(name)), file

    def file(self, name: str) -> FileText:
        """Return an episode's note as it stands. Raises as `read` does."""
        try:
            return self._reader.read(self.path(name))
        except NotFound:
            raise NotFound(f"There is no episode {name!r}.") from None

    def stat(self, name: str) -> FileStat | None:
        """Return the stamp of an episode's note; None where there is none."""
        return self._reader.stat(self.path(name))

    def seems_running(self, listed: Listed) -> bool:
        """Tell by its first bytes whether an episode may be running: for many, quickly."""
        return _RUNNING.search(self._head(listed)) is not None

    def offers(self, name: str) -> tuple[Offer, ...]:
        """Return what plans offered in an episode, oldest first; lines that are none left out."""
        try:
            text = self._reader.read(self.offers_path(name)).text
        except VaultMindError:
            return ()
        return tuple(filter(None, map(offer_of, text.splitlines())))

    def orphans(self, before: float) -> tuple[str, ...]:
        """Return the episodes without a note of which offers are left, written before a time.

        In seconds since 1970.
        """
        found = []
        for agent in self._paths.agent_names():
            stats = dict(_stats(self._paths.root / self._paths.episodes(agent)))
            for name, stat in stats.items():
                id = name.removesuffix(OFFERS)
                alone = name.endswith(OFFERS) and f"{id}.md" not in stats
                if alone and SESSION_ID.fullmatch(id) and stat.mtime_ns < before * 1e9:
                    found.append(f"{agent}/{id}")
        return tuple(sorted(found))

    def session_of(self, listed: Listed, wanted: str = "") -> str:
        """Return the conversation that an episode is of, by its first bytes: for many, quickly.

        Nothing for one that cannot be the `wanted`.
        """
        head = self._head(listed).decode("utf-8", "replace")
        if _PLAIN.fullmatch(wanted) and wanted not in head:
            return ""
        found = front_matter(head)
        said = (found.properties if found else {}).get("session")
        return said if isinstance(said, str) else ""

    def numbers(self, agent: str) -> Counter[str]:
        """Return the highest number of each day that an episode of an agent has."""
        names = (entry.name for entry in _entries(self._paths.root / self._paths.episodes(agent)))
        return _highest([" ".join(f"episodes/{name}" for name in names).encode()])

    def numbers_used(self, agent: str) -> Counter[str]:
        """Return the highest number of each day that an episode of an agent has, or ever had.

        Looked for in the files and in all that names an episode: audit lines and tombstones. A
        number is never used again: a tombstone would hide what nobody forgot.
        """
        texts = []
        for entry in _entries(self._paths.root / self._paths.memory(agent)):
            if entry.name.startswith(("audit-", "tombstones-")) and entry.is_file():
                try:
                    texts.append(Path(entry.path).read_bytes())
                except OSError:
                    continue
        return self.numbers(agent) | _highest(texts)

    def _head(self, listed: Listed) -> bytes:
        try:
            with self._paths.absolute(listed.path).open("rb") as file:
                return file.read(HEAD_BYTES)
        except (OSError, VaultMindError):
            return b""

    def _of(self, agent: str) -> Iterator[Listed]:
        folder = self._paths.episodes(agent)
        stats = dict(_stats(self._paths.root / folder))
        for file, stat in stats.items():
            id = file.removesuffix(".md")
            if file.endswith(".md") and SESSION_ID.fullmatch(id):
                yield Listed(f"{agent}/{id}", f"{folder}/{file}", stat, stats.get(id + OFFERS))


_RUNNING = re.compile(rb"(?m)^state:[ \t]*[\"']?running\b")
_PLAIN = re.compile(r"[A-Za-z0-9_.:-]+")
"""What stands in front matter as it is."""
_NAMED = re.compile(rb"episodes/(\d{4}-\d\d-\d\d)_(\d{3,6})(?!\d)")


def _highest(texts: Iterable[bytes]) -> Counter[str]:
    used: Counter[str] = Counter()
    for raw in texts:
        for day, number in set(_NAMED.findall(raw)):
            used[day.decode()] = max(used[day.decode()], int(number))
    return used


def split_name(name: str) -> tuple[str, str]:
    """Return (agent, id) of an episode's name. Raises BadArgument."""
    agent, _, id = name.partition("/")
    if not is_name(name):
        raise BadArgument("episode", name, "a name like main/2026-11-22_001")
    return agent, id


def is_name(name: str) -> bool:
    """Tell whether a text is an episode's whole name."""
    agent, slash, id = name.partition("/")
    return bool(slash and AGENT_NAME.fullmatch(agent) and SESSION_ID.fullmatch(id))


def order(id: str) -> tuple[str, int]:
    """Return what sorts ids by time: the day, then the number."""
    day, _, number = id.partition("_")
    return day, int(number)


def line_of_offer(offer: Offer) -> str:
    """Return an offer as a line of JSON."""
    held = asdict(offer) | {"files": {path: dict(of) for path, of in offer.files.items()}}
    return json.dumps(held, ensure_ascii=False, separators=(",", ":")) + "\n"


def offer_of(line: str) -> Offer | None:
    """Return the offer of a line; None for a line that is none. Never raises."""
    try:
        held = json.loads(line, parse_int=_whole)
        if "\\ud" in line.lower():  # half of a character, which nothing could write
            json.dumps(held, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    files = held.get("files") if isinstance(held, dict) else None
    if not isinstance(files, dict):
        return None
    known: dict[str, Any] = {
        name: kind(held[name]) for name, kind in _FIELDS.items() if _is_of(held.get(name), kind)
    }
    known["files"] = {str(path): _features(of) for path, of in files.items()}
    chosen = held.get("chosen")
    known["chosen"] = tuple(filter(_is_text, chosen)) if isinstance(chosen, list) else ()
    try:
        return Offer(**known)
    except TypeError:  # a line of which fingerprint, time or weights are gone
        return None


_MOST_WHOLE = 2**63 - 1
"""What the tables can hold."""
_FIELDS: dict[str, type] = {
    "fingerprint": str, "time": str, "weights": str, "tokens": int, "whole_tokens": int,
    "took_ms": float, "rerank": str, "cache": str,
}  # fmt: skip


def _whole(digits: str) -> int:
    """Return a whole number. Raises ValueError for one that is past all sense."""
    value = int(digits)
    if abs(value) > _MOST_WHOLE:
        raise ValueError(f"{digits[:20]}… is too large")
    return value


def _is_of(value: object, kind: type) -> bool:
    if isinstance(value, bool) or kind is str:
        return isinstance(value, str)
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return False
    return kind is float or abs(value) < _MOST_WHOLE


def _features(of: object) -> Mapping[str, float]:
    pairs = of.items() if isinstance(of, dict) else ()
    return {str(name): float(value) for name, value in pairs
            if isinstance(value, (int, float)) and not isinstance(value, bool)}  # fmt: skip


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _stats(folder: Path) -> Iterator[tuple[str, FileStat]]:
    for entry in _entries(folder):
        try:
            if entry.is_file(follow_symlinks=False):
                yield entry.name, stat_of(entry.stat(follow_symlinks=False))
        except OSError:
            continue


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
