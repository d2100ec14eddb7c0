"""Secrets, private passages and what else must not be stored, taken out of a text."""

from vaultmind.redact.credentials import has_household_code
from vaultmind.redact.keys import blank_keys
from vaultmind.redact.marks import KINDS, MARK, Masked, unmarked
from vaultmind.redact.own import BadPattern, checked, use_patterns
from vaultmind.redact.private import blank_private, without_private
from vaultmind.redact.secrets import mask

__all__ = [
    "KINDS",
    "MARK",
    "BadPattern",
    "Masked",
    "blank_passages",
    "blank_private",
    "checked",
    "has_household_code",
    "mask",
    "unmarked",
    "use_patterns",
    "without_private",
]


def blank_passages(text: str) -> str:
    """Return the text with what reaches over lines blanked: private passages and private keys.

    Every offset and line stays. To be done before a text is cut: a piece does not say that it is
    of a key.
    """
    return blank_keys(blank_private(text))
