"""The web console: a page on loopback that is a chat like the others, and what the command line uses."""
