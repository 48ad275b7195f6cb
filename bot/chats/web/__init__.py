"""The web console: a page on loopback that is a chat like the others, and the door for the command line."""
