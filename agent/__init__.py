"""The agent: the two graphs, the dialects models speak, the models and the guards. Knows no chat and no database."""
