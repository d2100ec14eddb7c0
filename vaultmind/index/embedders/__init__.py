"""What makes a vector of a text: bundled models, files, servers; and what a cosine means."""
