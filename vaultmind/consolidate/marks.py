"""The marks in a session's front matter: what was taken from it, and when."""

from __future__ import annotations

import logging
from datetime import datetime

from vaultmind.errors import BadArgument
from vaultmind.session.files import iso
from vaultmind.vault.edits import remove_property, set_property
from vaultmind.vault.files import Change, FileText
from vaultmind.vault.session_meta import parse_meta

log = logging.getLogger(__name__)


def settled(when: datetime) -> Change:
    """Return the change that says a session was consolidated, in its front matter alone.

    One that a person has opened again, or whose properties are broken, is left as it is.
    """

    def change(file: FileText | None) -> str | None:
        if file is None or parse_meta(file.text).state != "ended":
            return None
        try:
            return remove_property(set_property(file.text, "consolidated", iso(when)), "pending")
        except BadArgument as error:
            log.warning("%s could not be marked: %s", file.path, error)
            return None

    return change
