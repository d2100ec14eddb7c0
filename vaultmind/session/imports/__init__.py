"""The histories of other programs, taken in: each conversation becomes a session."""
