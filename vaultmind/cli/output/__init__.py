"""How answers look: words, colours, tables, bars, and a page with plots."""
