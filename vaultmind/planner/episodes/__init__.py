"""What an episode keeps for planning: its task, how its source changed, what was offered."""
