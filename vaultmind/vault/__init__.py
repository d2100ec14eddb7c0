"""The vault on disk: paths, reading, the session format, and the only code that writes."""
