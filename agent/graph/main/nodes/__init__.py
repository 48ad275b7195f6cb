"""The nodes of the main graph, one module each."""
