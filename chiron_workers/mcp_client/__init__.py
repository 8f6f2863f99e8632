"""MCP servers that people name in a file: each supervised alone, its tools offered like our own."""
