"""The command line: `opengui`."""
