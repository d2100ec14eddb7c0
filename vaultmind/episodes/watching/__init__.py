"""Episodes from what a host's hooks tell: when one begins, what belongs to it, when it ends."""
