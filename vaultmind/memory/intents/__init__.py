"""What a person asks of the memory in plain words."""

from vaultmind.memory.intents.ears import Ears
from vaultmind.memory.intents.recogniser import Recogniser, recogniser
from vaultmind.memory.intents.types import INTENTS, NONE, Intent, IntentName

__all__ = ["INTENTS", "NONE", "Ears", "Intent", "IntentName", "Recogniser", "recogniser"]
