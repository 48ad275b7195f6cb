"""The schema, step by step: one numbered SQL file for each version, applied in order and never changed later."""
