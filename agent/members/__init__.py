"""The team members: folders with an AGENTS.md. Some ship in this package, others are the operator's."""
