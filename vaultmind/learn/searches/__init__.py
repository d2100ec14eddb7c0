"""Learning from searches: what hits turned out to be worth, and lessons made of it."""
