"""MCP and HTTP, made from the table of operations, and who may come in."""
