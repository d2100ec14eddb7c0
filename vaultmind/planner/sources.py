"""The sources that can be planned over: the vault, and the folders that the person linked to it."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.config import Config
from vaultmind.config.links import Link, link_name, links_file, name_for, read_links, write_links
from vaultmind.errors import BadArgument, ConfigError, NotFound, VaultMindError
from vaultmind.heavy import step_back
from vaultmind.index.index import Index
from vaultmind.index.linked import MAX_BYTES, LinkedFolder
from vaultmind.index.outlet import Outlet
from vaultmind.planner.types import FileRecord
from vaultmind.ports import Clock, Embedder
from vaultmind.tables import adapter
from vaultmind.types import IndexState
from vaultmind.vault.files import FileText

if TYPE_CHECKING:
    from vaultmind.planner.source import Source, SourceKind

VAULT = "vault"
"""Stands for the vault, whatever its folder is called."""
FOLDER = "sources"
"""Of the state folder: one folder for each linked source."""
_LOOK_SECONDS = 0.5
"""How often it is looked what changed."""
_FIRST_SECONDS = 60.0
"""So long the vault's own index goes first."""
_SYSTEM = ("/proc", "/sys", "/dev", "/run", "/boot", "/etc")
_KEYS = (".ssh", ".gnupg", ".aws", ".kube", ".password-store", ".azure", ".config", ".local")
"""Folders of the home folder that hold keys and settings."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SourceState:
    """How a source is."""

    name: str
    root: str
    kind: SourceKind
    there: bool
    """Whether the folder is there: a disk may be unplugged."""
    index: IndexState | None = None
    """None where it is not opened (yet)."""
    note: str = ""
    """Why it cannot be used, in words."""


class Sources:
    """Finds the sources by name or root; links and unlinks folders. Any thread."""

    def __init__(
        self,
        config: Config,
        index: Index,
        open_index: Callable[[Path, Path], Index],
        clock: Clock,
        home: Path = Path("~"),
    ) -> None:
        """Take the vault's index, and what opens a linked folder's by its root and state folder."""
        self._config, self._index, self._open_index = config, index, open_index
        self._clock, self._home = clock, home
        self._links_file = links_file(config.state_dir, config.config_folder)
        self._lock = threading.RLock()
        self._opened: dict[str, Source] = {}
        """By name; the vault by none."""
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    # --- finding -------------------------------------------------------------------------

    @property
    def vault(self) -> Source:
        """Return the vault as a source."""
        with self._lock:
            if "" not in self._opened:
                name = self._config.vault.name or VAULT
                self._opened[""] = self._hold(name, "vault", self._index)
            return self._opened[""]

    def _hold(self, name: str, kind: SourceKind, index: Index) -> Source:
        from vaultmind.planner.source import Source  # not at the daemon's start

        return Source(name, kind, index, self._clock)

    def find(self, name_or_root: str) -> Source:
        """Return a source by its name, or the innermost that a path lies in; empty: the vault.

        Raises NotFound naming those there are; never links by itself.
        """
        wanted, own = name_or_root.strip(), self._config.vault.name
        if wanted.casefold() in ("", VAULT, own.casefold()):
            return self.vault
        links = {link.name: link for link in self.links()}
        if wanted.casefold() in links:
            return self._linked(links[wanted.casefold()])
        path = Path(wanted).expanduser()
        if path.is_absolute() and (held := self.holding(path)) is not None:
            return held
        known = ", ".join([own or VAULT, *links])
        raise NotFound(
            f"There is no source {name_or_root[:200]!r}; there are: {known}.",
            hint="The person links a folder with: vaultmind link FOLDER",
        )

    def holding(self, path: Path) -> Source | None:
        """Return the source that a path lies in, the innermost; None where it lies in none."""
        try:
            real = path.resolve()
        except (OSError, RuntimeError):
            return None
        inside = [link for link in self._known() if real.is_relative_to(link.root)]
        if inside:
            return self._linked(max(inside, key=lambda link: len(link.root.parts)))
        return self.vault if real.is_relative_to(self._config.vault) else None

    def all(self) -> tuple[Source, ...]:
        """Return every source that can be opened, the vault first."""
        found = [self.vault]
        for link in self._known():
            try:
                found.append(self._linked(link))
            except VaultMindError as error:
                log.warning("the linked folder %s cannot be opened: %s", link.name, error)
        return tuple(found)

    def links(self) -> tuple[Link, ...]:
        """Return what is linked, by name. Raises ConfigError where that cannot be read."""
        return read_links(self._links_file)

    def states(self) -> tuple[SourceState, ...]:
        """Return how each source is, the vault first. Opens none."""
        root, state = self._config.vault, self._index.state()
        states = [SourceState(root.name or VAULT, str(root), "vault", root.is_dir(), state)]
        try:
            links = self.links()
        except ConfigError as error:
            return (*states, SourceState("?", "", "linked", there=False, note=str(error)))
        for name, root in ((link.name, link.root) for link in links):
            held, is_there = self._opened.get(name), root.is_dir() and root.resolve() == root
            note = "" if is_there else f"The folder {root} is missing; its index is kept."
            index = held.index.state() if held is not None else None
            states.append(SourceState(name, str(root), "linked", is_there, index, note))
        return tuple(states)

    # --- linking -------------------------------------------------------------------------

    def link(self, path: str, name: str = "") -> Source:
        """Link a folder under a name and begin to index it. The person's alone: callers see to it.

        Raises BadArgument for a folder or name that cannot be, NotFound for no folder.
        """
        config = self._config
        ours = {"the vault": config.vault, "VaultMind's state": config.state_dir}
        if config.config_folder is not None:
            ours["VaultMind's configuration"] = config.config_folder
        root = linkable(path, self._home.expanduser().resolve(), ours)
        with self._lock:
            links = self.links()
            chosen = link_name(name) if name else name_for(root)
            if same := next((link for link in links if link.root == root), None):
                said = f"{root} is already linked as {same.name}."
                raise BadArgument("path", path, "a folder that is not linked", said=said)
            if chosen in {VAULT, config.vault.name.casefold(), *(link.name for link in links)}:
                said = f"The name {chosen!r} is taken; choose another with --as."
                raise BadArgument("name", chosen, "a name that is not taken", said=said)
            new = Link(chosen, root)
            shutil.rmtree(self._folder(new), ignore_errors=True)
            write_links(self._links_file, config.vault, (*links, new))
            return self._linked(new)

    def unlink(self, name: str) -> Link:
        """Unlink a folder and drop its index; the folder itself is not touched.

        Raises NotFound naming what is linked.
        """
        with self._lock:
            links, wanted = self.links(), name.strip()
            found = next((one for one in links if wanted in (one.name, str(one.root))), None)
            if found is None:
                known = ", ".join(link.name for link in links) or "nothing"
                raise NotFound(f"There is no linked folder {name[:200]!r}; linked: {known}.")
            self._close_one(found.name)
            shutil.rmtree(self._folder(found), ignore_errors=True)
            kept = tuple(link for link in links if link != found)
            write_links(self._links_file, self._config.vault, kept)
            return found

    # --- life ----------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to follow the linked folders, once the vault's index is ready; returns at once."""
        with self._lock:
            self._thread = threading.Thread(target=self._run, name="sources", daemon=True)
            for one in self._opened.values():
                if one.kind == "linked":
                    one.index.start()
        self._thread.start()

    def close(self) -> None:
        """Let go of every source but the vault's index, which is the app's."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            for name in list(self._opened):
                self._close_one(name)

    def _run(self) -> None:
        """Open what is linked, after the vault; then keep what is known of the files in step."""
        step_back()
        until = time.monotonic() + _FIRST_SECONDS
        while not self._closing.wait(_LOOK_SECONDS):
            state = self._index.state()
            is_busy = state.phase != "failed" and (state.phase != "ready" or state.loading)
            for source in () if is_busy and time.monotonic() < until else self.all():
                source.tend()

    def _known(self) -> tuple[Link, ...]:
        try:
            return self.links()
        except ConfigError as error:
            log.warning("%s", error)
            return ()

    def _linked(self, link: Link) -> Source:
        """Return a linked source, opened and started now if it was not."""
        with self._lock:
            if link.name not in self._opened:
                folder = self._folder(link)
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                index = self._open_index(link.root, folder)
                self._opened[link.name] = self._hold(link.name, "linked", index)
                if self._thread is not None:
                    index.start()
            return self._opened[link.name]

    def _close_one(self, name: str) -> None:
        held = self._opened.pop(name, None)
        if held is not None and name:
            held.index.close()

    def _folder(self, link: Link) -> Path:
        """Return a linked source's state folder: another root under a name is another folder."""
        digest = hashlib.sha256(os.fsencode(link.root)).hexdigest()[:8]
        return self._config.state_dir / FOLDER / f"{link.name}-{digest}"


# --- what may be linked -------------------------------------------------------------------


def linkable(path: str, home: Path, ours: dict[str, Path]) -> Path:
    """Return the real path of a folder that may be linked.

    `ours` are folders of this vault by what they are. Raises NotFound for no folder, BadArgument
    for one that is too much or must not be read this way.
    """
    named = Path(path).expanduser()
    if not named.is_absolute():
        raise BadArgument("path", path, "an absolute path: the daemon has its own folder")
    try:
        root = named.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        hint = "Is it spelt right? To see what is linked: vaultmind links."
        raise NotFound(f"There is no folder {path!r}.", hint=hint) from error
    if why := next(_faults(root, home, ours), ""):
        shown = path if path.isprintable() else repr(path)
        said = f"{shown} cannot be linked: {why}."
        raise BadArgument("path", shown, "one project's folder", said=said)
    return root


def _faults(root: Path, home: Path, ours: dict[str, Path]) -> Iterator[str]:
    """Yield why a folder cannot be linked; first what holds whosever vault it is for."""
    from vaultmind.index.linked import lies_in_memory  # not at the daemon's start

    around = {root, *root.parents}
    if not root.is_dir() or not os.access(root, os.R_OK | os.X_OK):
        yield "it is not a readable folder"
    if not os.fspath(root).isprintable():  # nor can what is not UTF-8 be told to a client
        yield "its name has characters that cannot be shown"
    if root in (home, *home.parents):
        yield "it holds everything; link one project's folder"
    if around & set(map(Path, _SYSTEM)):
        yield "it belongs to the system"
    if around & {home / key for key in _KEYS}:
        yield "it is for keys and settings"
    if lies_in_memory(root):
        yield "it is inside a vault's memory folder"
    for what, folder in ours.items():
        if folder.resolve() in around:
            yield f"it is {what}" if folder.resolve() == root else f"it is inside {what}"
        if root in folder.resolve().parents:
            yield f"{what} is inside it"


# --- opening ------------------------------------------------------------------------------


def folder_indexes(
    config: Config, outlet: Outlet, lend: Callable[[], Embedder | None], clock: Clock
) -> Callable[[Path, Path], Index]:
    """Return what opens the index of a linked folder, with an embedder that is lent to it."""
    most = min(config.index.max_file_bytes, MAX_BYTES)

    def opens(root: Path, state_dir: Path) -> Index:
        from vaultmind.planner.records import code_spans, grammars  # not at the daemon's start

        own = replace(config, vault=root, state_dir=state_dir)
        cut = ",".join(grammars())  # with other grammars, code is cut elsewhere
        ground = LinkedFolder(root, config.index.exclude, code_spans, cut, most)
        return Index(own, outlet.over(ground), clock=clock, embedder=lend, describe=described)

    return opens


def described(file: FileText, language: str) -> bytes:
    """Return the record of a file as an index stores it."""
    from vaultmind.planner.records import record_of  # not at the daemon's start

    record: bytes = adapter(FileRecord).dump_json(record_of(file, language), exclude_defaults=True)
    return record
