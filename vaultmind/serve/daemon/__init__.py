"""The process: one owner a vault, its socket, its connections, its log."""
