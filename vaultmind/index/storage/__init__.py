"""The database of an index: its schema, its rows, what was written of them, its damage."""
