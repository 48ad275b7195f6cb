"""Tasks from acceptance to their end: states, the queue, leases of phones, questions, and the work itself."""
