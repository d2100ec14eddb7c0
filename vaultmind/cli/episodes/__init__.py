"""Commands on what was done for a task: kept, judged, purged, and what it saved."""
