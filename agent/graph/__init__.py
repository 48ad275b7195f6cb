"""The two LangGraph graphs: the main graph of a task and the executor graph of a run."""
