"""Names that moved to `vaultmind.language`."""

from vaultmind.language.reader import INTENTS, NONE, Intent, IntentName, Reader, recogniser

__all__ = ["INTENTS", "NONE", "Intent", "IntentName", "Reader", "recogniser"]
