"""Recall from lasting memory: notes and facts, and what comes to mind through them."""
