"""The disposable side: chunks, full text, vectors, search, and staying in step."""
