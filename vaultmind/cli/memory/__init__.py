"""Commands on notes and facts: search, show, remember, forget, approve, undo, agents."""
