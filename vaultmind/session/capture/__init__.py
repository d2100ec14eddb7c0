"""What a host's own transcript says of a conversation, taken down as it grows."""
