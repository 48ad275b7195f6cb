"""The dialects: parsing from a table and from random texts, prompts from snapshots."""
