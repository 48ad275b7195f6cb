"""Servers of the Model Context Protocol that the operator named in `mcp.json`: kept connected, their tools for runs."""
