"""Facts from a conversation: found, checked against what was said, compared with what is known."""
