"""Safety rules in code, independent of any model: which actions need a person's approval, which are refused, and what
must stay hidden from models.
"""
