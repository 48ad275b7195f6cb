"""The record in a file of SQLite, which is the default."""
