"""What of a message may be kept: its beginning without half a secret in it, an id that is none."""

from __future__ import annotations

import hashlib

from vaultmind.redact import mask
from vaultmind.vault.nesting import safe

SECRET_CHARS = 20_000
"""No secret is longer: so far past the cut is looked, so that none is cut in two."""


def beginning(text: str, most: int) -> str:
    """Return the first characters of a text; what is secret is taken out before it is cut.

    Half a token or an unclosed private passage would be recognised by nobody later.
    """
    head = text.strip()[: most + SECRET_CHARS]
    return mask(head).text[:most].strip() if len(head) > most else head


def keepable_id(given: str) -> str:
    """Return a message's id as it may stand in a file; one that holds a secret becomes a hash."""
    own = safe(given)
    if mask(own).text == own:
        return own
    return f"h{hashlib.sha256(given.encode('utf-8', 'replace')).hexdigest()[:12]}"
