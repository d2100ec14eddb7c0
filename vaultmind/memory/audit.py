"""audit-<device>.jsonl: a line for every change of memory, append only, one file a device."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields

from vaultmind.vault.paths import VaultPaths

_NAME = re.compile(r"audit-[A-Za-z0-9-]+\.jsonl")


@dataclass(frozen=True, slots=True)
class AuditLine:
    """What was asked, by whom, and what it came to. Secrets are masked before they get here."""

    time: str
    """ISO 8601 with an offset."""
    caller: str
    """The agent, or `person`."""
    client: str
    agent: str
    """Whose memory."""
    op: str
    """`remember`, `replace`, `forget`, `hide`, `save`."""
    outcome: str
    section: str = ""
    before: str = ""
    after: str = ""
    evidence: str = ""
    """Vault-relative path of the session and the message's block: `…/2026-02-20_001#^m7`."""
    reason: str = ""
    path: str = ""
    block: str = ""


_KEYS = tuple(item.name for item in fields(AuditLine))


def render_line(line: AuditLine) -> str:
    """Return an audit line as one line of JSON with its newline."""
    return json.dumps(asdict(line), ensure_ascii=False) + "\n"


def read_audit(paths: VaultPaths, agent: str) -> tuple[AuditLine, ...]:
    """Return an agent's audit over all devices, oldest first; unreadable lines are left out."""
    folder = paths.absolute(paths.memory(agent))
    if not folder.is_dir():
        return ()
    files = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))
    lines = [
        line
        for path in files
        if path.is_file() and not path.is_symlink()
        for line in _lines(path.read_text("utf-8", errors="replace"))
    ]
    return tuple(sorted(lines, key=lambda line: line.time))


def _lines(text: str) -> Iterator[AuditLine]:
    for raw in text.split("\n"):
        try:
            value = json.loads(raw)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield AuditLine(**{key: str(value.get(key) or "") for key in _KEYS})
