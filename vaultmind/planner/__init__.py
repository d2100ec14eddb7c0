"""What to read for a task: sources, their structure, and the plan of a context."""
