"""Names of everything in the memory folder, and the check every path must pass."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from vaultmind.errors import BadArgument, PathRefused
from vaultmind.types import MessageRef
from vaultmind.vault.oneline import one_line

AGENT_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
THE_PERSON = frozenset({"person", "you"})
"""What the audit and the surfaces call the person: no agent has such a name."""
SESSION_ID = re.compile(r"\d{4}-\d{2}-\d{2}_\d{3,6}")
_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[1-9¹²³])[ ]*(\..*)?$")
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f\x7f]|[ .]\Z')


def agent_name(name: str, field: str = "agent") -> str:
    """Return a valid agent name in lower case; raise BadArgument for any other."""
    folded = name.strip().lower()
    if not AGENT_NAME.fullmatch(folded) or _RESERVED.match(folded):
        raise BadArgument(field, name, "1 to 40 letters a-z, digits, '-' and '_'")
    if folded in THE_PERSON:
        raise BadArgument(field, name, f"any name but {folded!r}, which stands for the person")
    return folded


@dataclass(frozen=True, slots=True)
class VaultPaths:
    """Vault-relative names (with `/`) of what the memory folder holds, and their real paths."""

    root: Path
    memory_dir: str = "VaultMind"

    def absolute(self, relative: str) -> Path:
        """Return the real path of a vault-relative one, for reading.

        Raises PathRefused for absolute paths, `..` and symlinks.
        """
        path = os.fspath(self.root)
        for part in checked_parts(relative):
            path = os.path.join(path, part)  # noqa: PTH118  # every read comes by here
            try:
                if stat.S_ISLNK(os.lstat(path).st_mode):
                    raise PathRefused(relative, "a symbolic link")
            except (FileNotFoundError, NotADirectoryError, ValueError):
                continue  # nothing is there, or can be
            except OSError as error:  # a name too long, a folder that may not be entered
                reason = (error.strerror or "not readable").lower()
                raise PathRefused(relative, reason) from error
        return Path(path)

    def writable(self, relative: str, folder: str) -> Path:
        """Return the real path of a file below a folder; refuse all others.

        Raises PathRefused, for reserved and not portable names as well.
        """
        for part in checked_parts(relative):
            # names that some system reserves, forbids or shows as another
            if _RESERVED.match(part) or _FORBIDDEN.search(part):
                raise PathRefused(relative, f"the name {part!r} is reserved or not portable")
            if one_line(part) != part:
                raise PathRefused(relative, "an invisible character in the name")
        if not relative.startswith(f"{folder}/"):
            raise PathRefused(relative, f"outside the folder {folder}/")
        return self.absolute(relative)

    def relative(self, path: Path) -> str:
        """Return the vault-relative name of a path below the vault."""
        return path.relative_to(self.root).as_posix()

    def in_memory(self, relative: str) -> bool:
        """Tell whether a vault-relative path lies in the memory folder."""
        return relative.startswith(f"{self.memory_dir}/")

    @property
    def suggestions(self) -> str:
        """Return Suggestions.md."""
        return f"{self.memory_dir}/Suggestions.md"

    @property
    def overview(self) -> str:
        """Return Overview.md."""
        return f"{self.memory_dir}/Overview.md"

    @property
    def agents(self) -> str:
        """Return the folder that holds the agents."""
        return f"{self.memory_dir}/agents"

    def agent_names(self) -> tuple[str, ...]:
        """Return the agents that have a folder, sorted."""
        folders = (self.root / self.agents).glob("*")
        names = [one.name for one in folders if one.is_dir() and not one.is_symlink()]
        return tuple(sorted(n for n in names if AGENT_NAME.fullmatch(n) and n not in THE_PERSON))

    def agent_of(self, relative: str) -> str:
        """Return whose memory a path belongs to; empty when to nobody's."""
        prefix = f"{self.agents}/"
        if not relative.startswith(prefix):
            return ""
        name, slash, _ = relative[len(prefix) :].partition("/")
        return name if slash and AGENT_NAME.fullmatch(name) else ""

    def identity(self, agent: str) -> str:
        """Return an agent's identity.md."""
        return f"{self.agents}/{agent}/identity.md"

    def memory(self, agent: str) -> str:
        """Return an agent's memory folder."""
        return f"{self.agents}/{agent}/memory"

    def brain(self, agent: str) -> str:
        """Return an agent's brain.md."""
        return f"{self.memory(agent)}/brain.md"

    def archive(self, agent: str) -> str:
        """Return an agent's brain_archive.md."""
        return f"{self.memory(agent)}/brain_archive.md"

    def active_context(self, agent: str) -> str:
        """Return an agent's active_context.md."""
        return f"{self.memory(agent)}/active_context.md"

    def sessions(self, agent: str) -> str:
        """Return an agent's folder of sessions."""
        return f"{self.memory(agent)}/sessions"

    def session(self, agent: str, session: str) -> str:
        """Return the file of a session."""
        return f"{self.sessions(agent)}/{_checked_id(session, 'session')}.md"

    def link(self, ref: MessageRef) -> str:
        """Return what a link to a message or part names: its record without `.md`, its block."""
        record = ref.session if "/" in ref.session else self.session(ref.agent, ref.session)
        return record.removesuffix(".md") + (f"#^{ref.block}" if ref.block else "")

    def summaries(self, agent: str) -> str:
        """Return an agent's folder of summaries."""
        return f"{self.memory(agent)}/summaries"

    def rolling(self, agent: str, session: str, segment: int = 1) -> str:
        """Return the file of a segment's sliding summary: the first has the session's name."""
        stem = _checked_id(session, "session") + (f"-{segment}" if segment > 1 else "")
        return f"{self.summaries(agent)}/rolling/{stem}.md"

    def episodes(self, agent: str) -> str:
        """Return an agent's folder of episodes."""
        return f"{self.agents}/{agent}/episodes"

    def episode(self, agent: str, episode: str) -> str:
        """Return the file of an episode."""
        return f"{self.episodes(agent)}/{_checked_id(episode, 'episode')}.md"

    def audit(self, agent: str, device: str) -> str:
        """Return an agent's audit log of one device."""
        return f"{self.memory(agent)}/audit-{device}.jsonl"

    def tombstones(self, agent: str, device: str) -> str:
        """Return an agent's tombstones of one device."""
        return f"{self.memory(agent)}/tombstones-{device}.jsonl"


def _checked_id(id: str, field: str) -> str:
    if not SESSION_ID.fullmatch(id):
        raise BadArgument(field, id, "an id like 2026-02-20_001")
    return id


def checked_parts(relative: str) -> tuple[str, ...]:
    """Return the parts of a vault-relative path; raise PathRefused if it leads elsewhere."""
    if not relative or relative.startswith(("/", "~")) or "\0" in relative:
        raise PathRefused(relative, "not a vault-relative path")
    parts = tuple(relative.split("/"))
    if any(part in ("", ".", "..") for part in parts):
        raise PathRefused(relative, "it leaves its folder")
    return parts
