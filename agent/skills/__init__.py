"""Skills: instructions in folders with a SKILL.md. Some ship with the program, others are the operator's."""
