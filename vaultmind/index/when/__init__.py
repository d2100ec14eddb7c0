"""Time in questions and in messages: which stretch of the calendar a piece of text speaks of."""

from vaultmind.index.when.finding import mentioned, spans
from vaultmind.index.when.span import Span, closeness, covers

__all__ = ["Span", "closeness", "covers", "mentioned", "spans"]
