"""The pilot's strategies, one module for each kind of clause: from clause and screen to the next move."""
