"""What the daemon does when a host's hook tells of a conversation."""
