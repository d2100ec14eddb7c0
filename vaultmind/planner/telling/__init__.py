"""What is said of a plan: reasons, notes, its trace, and the note that keeps it."""
