"""Connects to the MCP servers that the operator lists in `mcp.json`, and offers their tools to the agent."""
