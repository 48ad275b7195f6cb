"""The service's storage: one database (SQLite or PostgreSQL), and pictures as files next to it. Only this package
contains SQL.
"""
