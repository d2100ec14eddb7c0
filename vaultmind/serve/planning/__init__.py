"""What to read for a task: plans, linked sources, layers, and what they learn from."""
