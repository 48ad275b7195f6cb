"""The team members: folders with an AGENTS.md, those that ship in this package and those of the operator."""
