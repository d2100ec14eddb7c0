"""Secrets, private passages and what else must not be stored, taken out of a text."""

from vaultmind.redact.marks import KINDS, MARK, Masked
from vaultmind.redact.own import BadPattern, checked, use_patterns
from vaultmind.redact.private import blank_private
from vaultmind.redact.secrets import mask

__all__ = [
    "KINDS",
    "MARK",
    "BadPattern",
    "Masked",
    "blank_private",
    "checked",
    "mask",
    "use_patterns",
]
