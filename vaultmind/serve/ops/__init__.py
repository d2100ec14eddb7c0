"""The operations: one typed function each, with the words of its answer beside it."""
