"""The table of presses: forms of windows, filled with the words of each language."""
