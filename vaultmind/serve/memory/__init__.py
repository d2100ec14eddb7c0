"""Notes and facts: search, remember, approve, undo, erase, and the words for it."""
