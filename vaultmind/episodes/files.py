"""Where episodes lie: `<agent>/episodes/2026-11-22_001.md`, and beside it what plans offered.

Offers stand in `2026-11-22_001.offers.jsonl`, a line each. They are for training alone: never
indexed, never shown, and gone with the note.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from vaultmind.episodes.note import parsed
from vaultmind.episodes.types import Episode, Offer
from vaultmind.errors import BadArgument, NotFound, PathRefused, UnreadableNote, VaultMindError
from vaultmind.tables import adapter
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.paths import AGENT_NAME, SESSION_ID, VaultPaths

OFFERS = ".offers.jsonl"


class EpisodeFiles:
    """Reads episodes. Any thread; writes nothing."""

    def __init__(self, paths: VaultPaths, reader: VaultReader) -> None:
        self.paths = paths
        self._reader = reader

    def path(self, name: str) -> str:
        """Return the vault-relative path of an episode's note. Raises BadArgument."""
        return self.paths.episode(*split_name(name))

    def record(self, name: str) -> str:
        """Return what tombstones call an episode's note: its path without the ending."""
        return self.path(name).removesuffix(".md")

    def offers_path(self, name: str) -> str:
        """Return the vault-relative path of what plans offered in an episode."""
        return self.record(name) + OFFERS

    def name_of(self, path: str) -> str:
        """Return the episode that a vault-relative path is of, offers too; empty for no episode."""
        agent, (folder, _, file) = self.paths.agent_of(path), path.rpartition("/")
        name = f"{agent}/{file.removesuffix(OFFERS).removesuffix('.md')}"
        return name if is_name(name) and folder == self.paths.episodes(agent) else ""

    def names(self, agent: str = "") -> tuple[str, ...]:
        """Return the names of an agent's episodes, or of all, oldest first; none is opened."""
        agents = (agent,) if agent else self.paths.agent_names()
        files = (path for one in agents for path in self._folder(one).glob("*.md"))
        names = (f"{path.parent.parent.name}/{path.stem}" for path in files)
        return tuple(sorted((one for one in names if self.stamp(one)), key=order))

    def stamp(self, name: str) -> str:
        """Return text that differs once the note, or what was offered in it, may have changed.

        Empty where there is no note, or only a symbolic link.
        """
        with suppress(BadArgument, PathRefused, UnreadableNote):
            note, offers = map(self._reader.stat, (self.path(name), self.offers_path(name)))
            both = (one for one in (note, offers) if note and one)
            return " ".join(f"{it.mtime_ns}:{it.ctime_ns}:{it.size}" for it in both)
        return ""

    def read(self, name: str) -> Episode:
        """Return an episode. Raises NotFound, UnreadableNote, BadArgument."""
        return parsed(self.file(name).text, *split_name(name))

    def file(self, name: str) -> FileText:
        """Return an episode's note as it stands. Raises as `read` does."""
        try:
            return self._reader.read(self.path(name))
        except NotFound:
            raise NotFound(f"There is no episode {name!r}.") from None

    def offers(self, name: str) -> tuple[Offer, ...]:
        """Return what plans offered in an episode, oldest first; lines that are none left out."""
        found: list[Offer] = []
        with suppress(VaultMindError):
            for line in self._reader.read(self.offers_path(name)).text.splitlines():
                with suppress(ValueError):
                    found.append(adapter(Offer).validate_json(line))
        return tuple(found)

    def free_id(self, agent: str, day: str) -> str:
        """Return an id of a day that no episode of an agent ever had.

        Looked for in the files and in all that names an episode, audits and tombstones: a
        tombstone of an episode that is gone would hide what nobody forgot.
        """
        said = [" ".join(f"episodes/{it.name}" for it in self._folder(agent).glob("*")).encode()]
        for path in (self.paths.root / self.paths.memory(agent)).glob("*.jsonl"):
            if path.name.startswith(("audit-", "tombstones-")):
                said.append(path.read_bytes())
        named = rb"episodes/" + day.encode() + rb"_(\d{3,6})(?!\d)"
        used = (int(one) for raw in said for one in re.findall(named, raw))
        return f"{day}_{max(used, default=0) + 1:03d}"

    def _folder(self, agent: str) -> Path:
        return self.paths.root / self.paths.episodes(agent)


def split_name(name: str) -> tuple[str, str]:
    """Return (agent, id) of an episode's name. Raises BadArgument."""
    agent, _, id = name.partition("/")
    if not is_name(name):
        raise BadArgument("episode", name, "a name like main/2026-02-20_001")
    return agent, id


def is_name(name: str) -> bool:
    """Tell whether a text is an episode's whole name."""
    agent, slash, id = name.partition("/")
    return bool(slash and AGENT_NAME.fullmatch(agent) and SESSION_ID.fullmatch(id))


def order(name: str) -> tuple[str, int, str]:
    """Return what sorts names by time: the day, then the number."""
    agent, _, id = name.partition("/")
    day, _, number = id.partition("_")
    return day, int(number), agent


def line_of_offer(offer: Offer) -> str:
    """Return an offer as a line of JSON."""
    line: bytes = adapter(Offer).dump_json(offer, warnings=False)
    return f"{line.decode()}\n"
