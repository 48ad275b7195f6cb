"""The web console (a page that works like a chat), and the HTTP API for the command line and other programs."""
