"""Summaries of conversations: of one, of several (L1), of several summaries (L2)."""
