"""The application layer: typed calls for everything people and programs can do with the service. Every surface (chat,
console, API, command line) uses these calls, and each call checks the caller's rights.
"""
