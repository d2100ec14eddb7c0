"""Messages that stand in sessions of a talk that have ended, so that none is written twice.

A host may hand over its transcript once more, from the start; its ids are its own, and count in
every session of the talk. Where no host names the talk, an id is only as good as its words: the
next chat may count from 1 again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from vaultmind.errors import NotFound, UnreadableNote
from vaultmind.session.records.adding import Said, Talk
from vaultmind.session.records.opened import Known, Opened, known_by
from vaultmind.session.records.shelf import Head, Shelf
from vaultmind.types import Message, MessageRef
from vaultmind.vault.files import FileStat, VaultReader
from vaultmind.vault.session_meta import is_hosts
from vaultmind.vault.transcript import parse_session

KEPT = 16
"""Talks of which the ids are held."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message stands."""

    ref: MessageRef
    known: Known


_Stamp = tuple[str, FileStat | None]
"""The running session, and the stamp of the sessions' folder."""


@dataclass(frozen=True, slots=True)
class _Held:
    """The messages of a talk's other sessions, as long as the folder and the files stay."""

    stamp: _Stamp
    files: tuple[tuple[str, FileStat], ...]
    places: Mapping[str, Place]


class Earlier:
    """The messages of talks' earlier sessions, by their own ids. Used under an agent's lock."""

    def __init__(self, reader: VaultReader, shelf: Shelf) -> None:
        self._reader = reader
        self._shelf = shelf
        self._held: OrderedDict[tuple[str, str], _Held] = OrderedDict()

    def placed(
        self, talk: Talk, current: Opened | None, said: Said, batch: dict[str, Known]
    ) -> tuple[Said, MessageRef | None]:
        """Return a message and where it stands already, if it does.

        One that has the id of another is given one of its own: `1:2`. `batch`: what is told with
        it and new.
        """
        number, given = 1, said.message.id
        while given:
            own = given if number == 1 else f"{given}:{number}"
            message = replace(said.message, id=own)
            place = self._place(talk, current, message)
            there = place.known if place else batch.get(own)
            if there is None:
                batch[own] = known_by(message, talk.conversation)
            if there is None or there.is_of(message):
                return replace(said, message=message), place.ref if place else None
            number += 1
        return said, None

    def _place(self, talk: Talk, current: Opened | None, message: Message) -> Place | None:
        """Return where a message of this id stands."""
        if current is not None and (there := current.known.get(message.id)):
            return Place(MessageRef(talk.agent, current.id, there.block, message.id), there)
        if message.asked:
            return None
        running = current.id if current else ""
        return self.places(talk.agent, talk.conversation, running).get(message.id)

    def places(self, agent: str, conversation: str, running: str) -> Mapping[str, Place]:
        """Return the messages of a talk's sessions other than the running one.

        Where no host names the talk: of the last of them.
        """
        key, stamp = (agent, conversation), (running, self._shelf.stamp(agent))
        held = self._held.pop(key, None)
        if held is None or held.stamp != stamp or stamp[1] is None:
            held = self._looked(agent, conversation, stamp, held)
        self._held[key] = held
        if len(self._held) > KEPT:
            self._held.popitem(last=False)
        return held.places

    def _looked(self, agent: str, conversation: str, stamp: _Stamp, held: _Held | None) -> _Held:
        """Return the messages as they stand in the files now, which are read if they changed."""
        heads = [
            head
            for head in self._shelf.heads(agent)
            if head.id != stamp[0] and not head.is_open and head.is_of(conversation)
        ]
        hosts = is_hosts(conversation)
        heads = heads if hosts else heads[-1:]
        files = tuple((head.id, head.stat) for head in heads)
        if held is not None and held.files == files:
            return replace(held, stamp=stamp)
        return _Held(stamp, files, self._read(agent, heads))

    def _read(self, agent: str, heads: list[Head]) -> Mapping[str, Place]:
        found: dict[str, Place] = {}
        for head in heads:
            try:
                file = self._reader.read(self._reader.paths.session(agent, head.id))
            except (NotFound, UnreadableNote):
                continue
            for placed in parse_session(file.text).messages:
                message = placed.message
                if message.id:
                    ref = MessageRef(agent, head.id, message.block, message.id)
                    place = Place(ref, known_by(message, head.meta.conversation))
                    found[message.id] = place
                    given, _, number = message.id.rpartition(":")
                    if place.known.text and given and number.isdigit():  # it was given as that
                        found.setdefault(given, place)
        return found
