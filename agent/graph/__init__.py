"""The LangGraph graphs: the main graph of a task, the executor graph of a run, and the graph of a team member."""

import os

# Tracing would send people's screens and words to a third party; a variable left in the environment must not turn it
# on. Both are read when LangGraph runs.
os.environ["LANGSMITH_TRACING"] = "false"
os.environ["LANGCHAIN_TRACING_V2"] = "false"
# Checkpoints hold plain data. Anything else is refused when it is read, instead of being rebuilt. This one counts only
# where LangGraph has not been imported before; the store's saver is strict in any case.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
