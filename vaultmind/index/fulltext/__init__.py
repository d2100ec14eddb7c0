"""What is found by words: BM25, and what stands in for a word that nobody wrote."""
