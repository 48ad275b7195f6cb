"""Connects to the Model Context Protocol servers that the operator lists in `mcp.json`, and offers their tools to
runs.
"""
