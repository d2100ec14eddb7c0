"""The folder that an index is of: what of it is taken, and how it is followed."""
