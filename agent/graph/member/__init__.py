"""The graph of a team member, which works without a phone: its model and its tools take turns. Each assignment has its
own thread.
"""
