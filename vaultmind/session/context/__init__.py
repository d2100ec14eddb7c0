"""What an agent is given: at the start of a conversation, and before each answer."""
