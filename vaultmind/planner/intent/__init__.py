"""What a task is about: its kind, its risk, what it names, and a fingerprint that lasts."""

from vaultmind.planner.intent.risk import risk_of_path
from vaultmind.planner.intent.similarity import similarity
from vaultmind.planner.intent.understand import names_nothing, understand

__all__ = ["names_nothing", "risk_of_path", "similarity", "understand"]
