"""Commands on what to read for a task: linked folders, their layers, plans, models."""
