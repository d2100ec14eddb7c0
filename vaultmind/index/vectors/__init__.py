"""What is found by meaning: the vectors of chunks, cached, filled in, kept, asked."""
