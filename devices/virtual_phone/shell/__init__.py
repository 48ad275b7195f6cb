"""The phone's shell: a line parser, an interpreter and the commands by family."""
