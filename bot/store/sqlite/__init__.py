"""The store in SQLite files, which is the default."""
