"""Secrets, private passages and what else must not be stored, taken out of a text."""

from vaultmind.redact.credentials import announces, has_household_code, is_name
from vaultmind.redact.passages import blank_passages, blank_private, private_spans, without_private
from vaultmind.redact.secrets import BadPattern, Masked, checked, mask, use_patterns
from vaultmind.redact.spans import KINDS, MARK, PRIVATE, unmarked

__all__ = ["KINDS", "MARK", "PRIVATE", "BadPattern", "Masked", "announces", "blank_passages",
           "blank_private", "checked", "has_household_code", "is_name", "mask", "private_spans",
           "unmarked", "use_patterns", "without_private"]  # fmt: skip
