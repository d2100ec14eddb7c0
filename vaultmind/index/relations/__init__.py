"""What is related to what was found: links, tags, and one step of attention."""
