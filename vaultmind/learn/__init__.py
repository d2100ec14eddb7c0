"""Learning: rankers that get better at what this person works on, and the way back."""
