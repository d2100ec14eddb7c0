"""Episodes: what agents did for a task, what came of it and why, as notes and as tables."""
