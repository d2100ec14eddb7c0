"""The language models at work on what has been said; each answer is checked before it counts."""
