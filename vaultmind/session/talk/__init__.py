"""The conversation in memory: what stands in a session's file, ready to be asked."""
