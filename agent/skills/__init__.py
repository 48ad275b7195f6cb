"""Skills: instructions as folders with a SKILL.md, shipped ones and those of the operator."""
