"""Episodes as notes: rendered, read back, appended to, ended, shrunk."""
