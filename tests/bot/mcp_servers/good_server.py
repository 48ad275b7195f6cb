"""A server made with the SDK: over stdio, or over HTTP on the port in its argument."""

import sys

from mcp.server import MCPServer

server = MCPServer("Notes")


@server.tool()
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
