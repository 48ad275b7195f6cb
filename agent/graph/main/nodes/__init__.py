"""One module for each node of the main graph."""
