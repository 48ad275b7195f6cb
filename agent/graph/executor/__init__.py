"""The executor graph: look, think, act, for one sub-task on one phone."""
