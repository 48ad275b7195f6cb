"""The pilot's strategies, with one module for each kind of clause: each decides the next move from the clause and the
screen.
"""
