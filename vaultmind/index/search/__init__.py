"""A search from its filters to its answer: candidates, places, scores, passages; and fetch."""
