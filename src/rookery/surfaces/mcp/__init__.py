"""MCP: the tools that agents have."""
