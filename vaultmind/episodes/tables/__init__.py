"""Episodes as tables: what their notes say, to be counted; thrown away when in doubt."""
