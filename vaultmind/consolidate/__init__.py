"""Falling asleep: what a conversation leaves behind in memory."""
