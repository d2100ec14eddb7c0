"""The runs of scheduled sub-agents, which their host writes: read, and parts of them hidden."""
