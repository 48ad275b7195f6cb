"""Adapters for the chat platforms. Each one translates between its platform and the service; the rules are
elsewhere.
"""
