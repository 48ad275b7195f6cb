"""The nodes of the executor graph, one module each."""
