"""What is kept: a database of SQLite or PostgreSQL, and pictures as files beside it. The only place with SQL."""
