"""The screen laid out once as a tree of nodes, from which both the picture and the element dump are made."""
