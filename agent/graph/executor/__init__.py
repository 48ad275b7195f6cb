"""The executor graph: look, think and act, for one sub-task on one phone."""
