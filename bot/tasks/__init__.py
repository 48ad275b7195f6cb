"""Tasks from acceptance to their end: states, queue, leases, questions, and the work itself."""
