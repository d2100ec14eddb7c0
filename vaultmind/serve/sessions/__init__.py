"""Conversations: written down, given context, consolidated."""
