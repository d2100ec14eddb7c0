"""Auto-RAG: what was said earlier in this conversation and matters now."""
