"""The daemon and what it answers: rooms by subject, one table of operations, the surfaces."""
