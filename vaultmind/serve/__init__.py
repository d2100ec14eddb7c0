"""Processes and surfaces: daemon, pipe, MCP, HTTP. No logic of their own."""
