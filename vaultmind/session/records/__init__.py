"""A session's file: where it stands, its head, what is added to it, how a model reads it."""
