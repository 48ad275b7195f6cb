"""Members of the team: folders with an AGENTS.md, those beside this file and those of the operator."""
