"""One module for each node of the executor graph."""
