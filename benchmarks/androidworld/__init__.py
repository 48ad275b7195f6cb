"""AndroidWorld with a running service as its agent. What needs its package stands in `run.py` alone."""
