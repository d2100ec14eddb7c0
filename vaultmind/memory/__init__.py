"""What agents know: brains, the gate every change goes through, audit, forgetting."""
