"""Conversations: their life, what is asked of memory in them, the context they start with."""
