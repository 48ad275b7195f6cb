"""Skills: ways of doing things as folders with a SKILL.md, shipped ones and those of the operator."""
