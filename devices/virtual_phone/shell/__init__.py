"""The phone's shell: a parser for lines, an interpreter, and the programs."""
