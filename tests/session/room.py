"""A vault with one conversation in it, as the tests of the conversation in memory use it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fakes import HashEmbedder
from tests.session.samples import Files
from vaultmind.config import Config
from vaultmind.errors import WriteFailed
from vaultmind.memory.forget.tombstones import Tombstones, render_tombstones
from vaultmind.session.conversation import Conversation, Conversations, View
from vaultmind.session.summary import Window
from vaultmind.types import Caller, Message, MessageRef
from vaultmind.vault.files import Change, VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

SESSION = "2026-03-01_001"
WINDOW = Window()


class RecordGate(Files):
    """The gate's record side over real files: which were saved and why, and what is refused."""

    def __init__(self, paths: VaultPaths) -> None:
        super().__init__(paths)
        self.readonly: set[str] = set()
        """Agents of autonomy 0."""
        self.full = False
        self.reasons: list[str] = []

    def keeps_records(self, agent: str) -> bool:
        return agent not in self.readonly

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> object:
        assert caller.agent not in self.readonly
        if self.full:
            raise WriteFailed(f"{relative} could not be written: no space left on device.")
        self.reasons.append(reason)
        return super().save(relative, change, caller, reason)


class NoVectors:
    """Implements ports.MessageVectors: there is no embedder."""

    embedder_id = ""
    vector_state: object = 0

    def message_vectors(self, path: str, wanted: Collection[str]) -> dict[str, Matrix]:
        return {}


class SomeVectors:
    """Implements ports.MessageVectors over texts: those of `late` blocks come when let go."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._embedder = HashEmbedder(256)
        self.texts, self.late = texts, set[str]()
        self.asked: list[set[str]] = []
        self.embedder_id = self._embedder.id
        self.vector_state: object = 0

    def use(self, embedder: HashEmbedder) -> None:
        """Have the vectors of another embedder from now on."""
        self._embedder, self.embedder_id = embedder, embedder.id

    def message_vectors(self, path: str, wanted: Collection[str]) -> dict[str, Matrix]:
        self.asked.append(set(wanted))
        there = [one for one in wanted if one in self.texts and one not in self.late]
        return {one: self._embedder.embed_query(self.texts[one]) for one in there}


class Room:
    """One session's file, the gate over it, and the conversations in memory."""

    def __init__(self, paths: VaultPaths, vectors: NoVectors | SomeVectors | None = None) -> None:
        self.paths, self.reader = paths, VaultReader(paths, 8_000_000)
        self.gate = RecordGate(paths)
        self.tombstones = Tombstones(paths)
        self.vectors = vectors or NoVectors()
        self.talks = self.again()

    def again(self) -> Conversations:
        """Return the conversations as another process has them."""
        config = Config(self.paths.root, self.paths.root / ".state")
        return Conversations(self.reader, self.gate, self.tombstones.hidden, self.vectors, config)

    @property
    def file(self) -> Path:
        return self.paths.root / self.paths.session("main", SESSION)

    def rolling(self, segment: int = 1) -> Path:
        return self.paths.root / self.paths.rolling("main", SESSION, segment)

    def write(self, messages: Iterable[Message], meta: SessionMeta | None = None) -> None:
        """Write the session anew."""
        meta = meta or SessionMeta(SESSION, "main", started="2026-03-01T00:00:00+01:00")
        text = render_header(meta) + "".join(render_message(one) for one in messages)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(text.encode())

    def add(self, *messages: Message) -> None:
        """Append messages."""
        self.gate.append(
            self.paths.session("main", SESSION), "".join(render_message(one) for one in messages)
        )

    def edit(self, old: str, new: str, path: Path | None = None) -> None:
        """Edit a file as a person would."""
        path = path or self.file
        text = path.read_bytes().decode()
        assert old in text
        path.write_bytes(text.replace(old, new, 1).encode())

    def forget(self, *blocks: str, lifted: bool = False) -> None:
        """Hide messages, or show them again."""
        refs = [MessageRef("main", SESSION, block) for block in blocks]
        time = "2026-03-02T00:00:00+01:00"
        self.gate.append(
            self.paths.tombstones("main", "here"), render_tombstones(refs, time, lifted=lifted)
        )

    def view(self, talks: Conversations | None = None) -> View:
        view = (talks or self.talks).view("main", SESSION)
        assert view is not None
        return view

    def fold(self, talks: Conversations | None = None, window: Window = WINDOW) -> View:
        """Fold all that is due, however long that takes."""
        talks = talks or self.talks
        while (view := talks.fold(self.view(talks), window)).behind:
            assert talks.settle(60)
        return view

    def talk(self, talks: Conversations | None = None) -> Conversation:
        return (talks or self.talks)._conversation("main", SESSION)


def texts(view: View) -> list[str]:
    """Return what may be recalled of the running segment."""
    return [one.text for one in view.messages]
