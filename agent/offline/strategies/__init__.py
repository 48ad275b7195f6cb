"""One module for each kind of clause: the clause and what is seen in, the next move out."""
