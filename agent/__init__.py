"""The agent: the graphs, the dialects (how models write actions), the models and the safety guards. It does not depend
on any chat platform or database.
"""
