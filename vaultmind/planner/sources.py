"""The sources that can be planned over: the vault, and the folders that the person linked to it."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from vaultmind.config import Config
from vaultmind.config.links import Link, link_name, links_file, name_for, read_links, write_links
from vaultmind.errors import BadArgument, ConfigError, NotFound, VaultMindError
from vaultmind.index.index import Index
from vaultmind.index.linked import MAX_BYTES, FolderGround, NamedLines
from vaultmind.index.outlet import Withheld
from vaultmind.planner.linkable import linkable
from vaultmind.ports import Clock, Embedder, IndexErasing
from vaultmind.types import Chunk, IndexState, Scrubbed
from vaultmind.vault.files import VaultReader

if TYPE_CHECKING:
    from vaultmind.planner.structure import Structure

SourceKind = Literal["vault", "linked"]
VAULT = "vault"
"""Stands for the vault, whatever its folder is called."""
FOLDER = "sources"
"""Of the state folder: one folder for each linked source."""
STRUCTURE = "structure.db"
_LOOK_SECONDS = 0.5
_FIRST_SECONDS = 60.0
"""So long the vault's own index goes first."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Source:
    """A folder with its index and its structure. Paths in it are relative, with `/`."""

    name: str
    root: Path
    kind: SourceKind
    index: Index
    reader: VaultReader
    """Reads its files, and refuses symlinks and what leads out; `index.outlet` says what of them
    may be shown."""
    structure: Structure | None = None
    """None where it cannot be had."""

    def has(self, path: str) -> bool:
        """Tell whether there is a file now, read or not yet."""
        known = self.structure is not None and self.structure.record(path) is not None
        return known or (self.root / path).is_file()


OpenStructure = Callable[[str, Path, Index, VaultReader], "Structure | None"]
"""Opens the structure of a source: by name, the file of its database, its index, its reader."""
OpenIndex = Callable[[Path, Path], tuple[Index, VaultReader]]
"""Opens the index of a linked folder, not yet started: by its root, and its own state folder."""


@dataclass(frozen=True, slots=True)
class SourcesMeans:
    """What the sources are opened with."""

    root: Path
    """Of the vault."""
    index: Index
    reader: VaultReader
    state_dir: Path
    config_folder: Path | None
    open_index: OpenIndex
    open_structure: OpenStructure = lambda name, database, index, reader: None
    home: Path = Path("~")


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

    def __init__(self, means: SourcesMeans) -> None:
        self._means = means
        self._links_file = links_file(means.state_dir, means.config_folder)
        self._lock = threading.RLock()
        self._linked: dict[str, Source] = {}
        self._running: set[str] = set()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._vault: Source | None = None

    # --- finding -------------------------------------------------------------------------

    @property
    def vault(self) -> Source:
        """Return the vault as a source."""
        with self._lock:
            if self._vault is None:
                means = self._means
                name = means.root.name or VAULT
                file = means.state_dir / STRUCTURE
                structure = means.open_structure(name, file, means.index, means.reader)
                self._vault = Source(
                    name, means.root, "vault", means.index, means.reader, structure
                )
                if structure is not None and self._thread is not None:
                    structure.start()
            return self._vault

    def find(self, name_or_root: str) -> Source:
        """Return a source by its name, or the innermost that a path lies in; empty: the vault.

        Raises NotFound naming those there are; never links by itself.
        """
        wanted, root = name_or_root.strip(), self._means.root
        if wanted.casefold() in ("", VAULT, root.name.casefold()) or _is_path_of(wanted, root):
            return self.vault
        links = self.links()
        for link in links:
            if wanted.casefold() == link.name or _is_path_of(wanted, link.root):
                return self._opened(link)
        if _is_path(wanted) and (held := self.holding(Path(wanted).expanduser())) is not None:
            return held
        known = ", ".join([root.name or VAULT, *(link.name for link in links)])
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
            return self._opened(max(inside, key=lambda link: len(link.root.parts)))
        return self.vault if real.is_relative_to(self._means.root) else None

    def all(self) -> tuple[Source, ...]:
        """Return every source that can be opened, the vault first."""
        found = [self.vault]
        for link in self._known():
            try:
                found.append(self._opened(link))
            except VaultMindError as error:
                log.warning("the linked folder %s cannot be opened: %s", link.name, error)
        return tuple(found)

    def links(self) -> tuple[Link, ...]:
        """Return what is linked, by name. Raises ConfigError where that cannot be read."""
        return read_links(self._links_file)

    def states(self) -> tuple[SourceState, ...]:
        """Return how each source is, the vault first. Opens none."""
        means = self._means
        vault = SourceState(
            means.root.name or VAULT, str(means.root), "vault", means.root.is_dir(),
            means.index.state(),
        )  # fmt: skip
        try:
            return (vault, *map(self._state, self.links()))
        except ConfigError as error:
            return (vault, SourceState("?", "", "linked", there=False, note=str(error)))

    # --- linking -------------------------------------------------------------------------

    def link(self, path: str, name: str = "") -> Source:
        """Link a folder under a name and begin to index it. The person's alone: callers see to it.

        Raises BadArgument for a folder or name that cannot be, NotFound for no folder.
        """
        means = self._means
        ours = [
            ("the vault", means.root),
            ("VaultMind's state", means.state_dir),
        ]
        if means.config_folder is not None:
            ours.append(("VaultMind's configuration", means.config_folder))
        root = linkable(path, home=means.home.expanduser(), ours=ours)
        with self._lock:
            links = self.links()
            chosen = self._free_name(link_name(name) if name else name_for(root), root, links)
            for link in links:
                if link.root == root:
                    said = f"{root} is linked already, as {link.name}."
                    raise BadArgument("path", path, "a folder that is not linked", said=said)
            new = Link(chosen, root)
            shutil.rmtree(self._folder(new), ignore_errors=True)
            write_links(self._links_file, means.root, (*links, new))
            return self._opened(new)

    def unlink(self, name: str) -> Link:
        """Unlink a folder and drop its index; the folder itself is not touched.

        Raises NotFound naming what is linked.
        """
        with self._lock:
            links = self.links()
            wanted = name.strip()
            found = [
                link
                for link in links
                if wanted.casefold() == link.name or _is_path_of(wanted, link.root)
            ]
            if not found:
                known = ", ".join(link.name for link in links) or "nothing"
                raise NotFound(f"There is no linked folder {name[:200]!r}; linked: {known}.")
            kept = tuple(link for link in links if link != found[0])
            write_links(self._links_file, self._means.root, kept)
            self._close_one(found[0].name)
            shutil.rmtree(self._folder(found[0]), ignore_errors=True)
            return found[0]

    # --- life ----------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to follow the linked folders, once the vault's index is ready; returns at once."""
        self._thread = threading.Thread(target=self._run, name="sources", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let go of every source but the vault's index, which is the app's."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            for name in list(self._linked):
                self._close_one(name)
            if self._vault is not None and self._vault.structure is not None:
                self._vault.structure.close()
            self._vault = None

    def _run(self) -> None:
        """Open what is linked, after the vault, and drop the indexes of what no longer is."""
        try:
            waited = 0.0
            while waited < _FIRST_SECONDS and not self._closing.is_set():
                state = self._means.index.state()
                if state.phase == "failed" or (state.phase == "ready" and not state.loading):
                    break
                self._closing.wait(_LOOK_SECONDS)
                waited += _LOOK_SECONDS
            if not self._closing.is_set():
                self._sweep()
                _ = self.vault
            for link in self._known():
                if self._closing.is_set():
                    return
                try:
                    self._opened(link)
                except VaultMindError as error:
                    log.warning("the linked folder %s cannot be opened: %s", link.name, error)
        except Exception:  # the thread's last word; the vault goes on without them
            log.exception("the linked folders are not followed")

    def _known(self) -> tuple[Link, ...]:
        try:
            return self.links()
        except ConfigError as error:
            log.warning("%s", error)
            return ()

    def _opened(self, link: Link) -> Source:
        """Return a linked source, opened and started now if it was not."""
        with self._lock:
            held = self._linked.get(link.name)
            if held is None:
                folder = self._folder(link)
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                index, reader = self._means.open_index(link.root, folder)
                structure = self._means.open_structure(link.name, folder / STRUCTURE, index, reader)
                held = Source(link.name, link.root, "linked", index, reader, structure)
                self._linked[link.name] = held
            if self._thread is not None and link.name not in self._running:
                self._running.add(link.name)
                held.index.start()
                if held.structure is not None:
                    held.structure.start()
            return held

    def _close_one(self, name: str) -> None:
        held = self._linked.pop(name, None)
        self._running.discard(name)
        if held is not None:
            if held.structure is not None:
                held.structure.close()
            held.index.close()

    def _folder(self, link: Link) -> Path:
        """Return a linked source's state folder: another root under a name is another folder."""
        digest = hashlib.sha256(os.fsencode(link.root)).hexdigest()[:8]
        return self._means.state_dir / FOLDER / f"{link.name}-{digest}"

    def _sweep(self) -> None:
        """Remove the state folders of what was unlinked when the machine went down."""
        try:
            known = {self._folder(link).name for link in self.links()}
        except ConfigError:  # nothing is thrown away for a file that cannot be read
            return
        folder = self._means.state_dir / FOLDER
        if folder.is_dir():
            for one in folder.iterdir():
                if one.name not in known:
                    shutil.rmtree(one, ignore_errors=True)

    def _state(self, link: Link) -> SourceState:
        held = self._linked.get(link.name)
        there = link.root.is_dir()
        note = "" if there else f"The folder {link.root} is not there: its index is kept."
        if there and link.root.resolve() != link.root:
            there, note = False, f"{link.root} is a symbolic link now: its index is kept."
        state = held.index.state() if held is not None else None
        return SourceState(link.name, str(link.root), "linked", there, state, note)

    def _free_name(self, name: str, root: Path, links: tuple[Link, ...]) -> str:
        taken = {link.name: link.root for link in links}
        own = (VAULT, self._means.root.name.casefold())
        if name in own or taken.get(name, root) != root:
            said = f"The name {name!r} is taken; give another with --as."
            raise BadArgument("name", name, "a name that is not taken", said=said)
        return name


def _is_path(wanted: str) -> bool:
    return wanted.startswith(("/", "~")) or Path(wanted).is_absolute()


def _is_path_of(wanted: str, root: Path) -> bool:
    """Tell whether a text names a folder by its path."""
    if not _is_path(wanted):
        return False
    try:
        named = Path(wanted).expanduser()
        return named == root or named.resolve() == root
    except (OSError, RuntimeError, ValueError):
        return False


def open_sources(
    config: Config,
    index: Index,
    reader: VaultReader,
    withheld: Withheld,
    *,
    lend: Callable[[], Embedder | None],
    clock: Clock,
) -> Sources:
    """Return the vault, by its index and reader, and the folders linked to it, not yet started.

    `lend` gives the vault's embedder to their indexes.
    """
    means = SourcesMeans(
        config.vault,
        index,
        reader,
        config.state_dir,
        config.config_folder,
        folder_indexes(config, withheld, lend, clock),
        structures(clock),
    )
    return Sources(means)


def folder_indexes(
    config: Config, withheld: Withheld, lend: Callable[[], Embedder | None], clock: Clock
) -> OpenIndex:
    """Return what opens the index of a linked folder, with an embedder that is lent to it."""
    megabytes = min(config.index.max_file_mb, MAX_BYTES / 1_000_000)
    settings = replace(config.index, max_file_mb=megabytes)

    def opens(root: Path, state_dir: Path) -> tuple[Index, VaultReader]:
        own = replace(config, vault=root, state_dir=state_dir, index=settings)
        ground = FolderGround(root, config.index.exclude, cut_by_definitions, _cutter_format())
        index = Index(own, ground, withheld, clock=clock, embedder=lend)
        return index, index.outlet.reader

    return opens


def structures(clock: Clock) -> OpenStructure:
    """Return what opens the structure of a source; nothing is read before it is asked for."""

    def opens(name: str, database: Path, index: Index, reader: VaultReader) -> Structure:
        from vaultmind.planner.structure import Structure

        return Structure(name, database, index, reader, clock=clock)

    return opens


def cut_by_definitions(path: str, text: str) -> Sequence[NamedLines]:
    """Return where code is cut: whole definitions where the language's grammar is installed."""
    from vaultmind.planner.spans import code_spans

    return code_spans(path, text)


def _cutter_format() -> str:
    """Return which grammars there are: with others, code is cut elsewhere."""
    from vaultmind.planner.code import grammars

    return ",".join(grammars())


SETTLE_SECONDS = 60.0


class SourcesErasing:
    """Takes erased texts out of the vault's index, and out of the records made of its files."""

    def __init__(self, index: IndexErasing, sources: Sources) -> None:
        self._index = index
        self._sources = sources

    def begin(self) -> None:
        """Note that files are about to change."""
        self._index.begin()

    def scrub(self, paths: Iterable[str]) -> Scrubbed:
        """Index the paths as they stand, and clean all that was made of what they said."""
        scrubbed = self._index.scrub(paths)
        for source in self._sources.all():
            if source.kind == "vault" and source.structure is not None:
                try:
                    source.structure.settle(SETTLE_SECONDS)
                except VaultMindError as error:
                    fault = f"what planning keeps could not be cleaned ({error})"
                    return Scrubbed(scrubbed.traces, (*scrubbed.faults, fault))
        return scrubbed

    def saying(self, text: str, limit: int) -> list[Chunk]:
        """Return the chunks that hold words of a text, likeliest first."""
        return self._index.saying(text, limit)

    def nearest_to(self, texts: Sequence[str], limit: int) -> list[tuple[Chunk, float]] | None:
        """Return the chunks that mean nearly the same as a text."""
        return self._index.nearest_to(texts, limit)
