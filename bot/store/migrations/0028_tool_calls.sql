-- Calls of tools that need no phone, each written before it runs; arguments and result are JSON without secrets.
CREATE TABLE tool_calls (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL,
    member TEXT NOT NULL,
    number INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    part INTEGER NOT NULL,
    name TEXT NOT NULL,
    arguments TEXT NOT NULL,
    repeatable INTEGER NOT NULL,
    same TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('begun', 'done', 'failed', 'skipped', 'stopped', 'uncertain')),
    result TEXT NOT NULL DEFAULT '{}',
    cached INTEGER NOT NULL DEFAULT 0,
    begun REAL NOT NULL,
    seconds REAL NOT NULL DEFAULT 0,
    UNIQUE (task, member, number, turn, part)
) STRICT;
-- Equal calls of a task.
CREATE INDEX tool_calls_same ON tool_calls (task, same) WHERE state = 'done' AND same <> '';
