"""What a person asked in so many words not to keep is hidden as soon as it is written down."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from vaultmind.errors import VaultMindError
from vaultmind.session.files import read_session
from vaultmind.session.unkept import BEYOND_DOUBT, surely_keeps_out, unkept
from vaultmind.types import Caller, Message, MessageRef
from vaultmind.vault.files import VaultReader

log = logging.getLogger(__name__)


class Unkept:
    """Hides what a person asked in so many words not to keep, once it is written down."""

    def __init__(self, reader: VaultReader, hide: Callable[[MessageRef, Caller], object]) -> None:
        """`hide` hides a message from every recall."""
        self._reader = reader
        self._hide = hide
        self._asked: set[tuple[str, str]] = set()
        """Sessions in which something was asked not to be kept: what follows may repeat it."""

    def look(self, agent: str, session: str, messages: Sequence[Message]) -> None:
        """Hide what the new messages of a session ask not to keep, and what repeats it.

        Only a wish that is beyond doubt counts here.
        """
        own = [one.text.strip() for one in messages if one.role == "user" and not one.asked]
        if surely_keeps_out(own):
            self._asked.add((agent, session))
        if (agent, session) not in self._asked:
            return
        try:
            transcript = read_session(self._reader, self._reader.paths, agent, session)[1]
            said = [placed.message for placed in transcript.messages]
            for at in unkept(said, least=BEYOND_DOUBT):
                if not said[at].asked:
                    ref = MessageRef(agent, session, said[at].block, said[at].id)
                    self._hide(ref, Caller("agent", agent))
        except VaultMindError as error:  # what was said is written down; it stays out of facts
            log.warning("what %s asks not to keep was not hidden: %s", session, error)
