"""How answers look: words, colours, tables and bars."""
