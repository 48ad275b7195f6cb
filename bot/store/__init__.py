"""What is kept: one SQLite file with numbered migrations, and frames as files beside it. The only place with SQL."""
