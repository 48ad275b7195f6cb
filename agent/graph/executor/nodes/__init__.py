"""The larger nodes of the executor graph."""
