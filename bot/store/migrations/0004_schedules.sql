-- Tasks that are given again at set times, and what the totals of the use need.

-- The acting model that was set when the task was accepted; '' for tasks from before this was kept.
ALTER TABLE tasks ADD COLUMN model TEXT NOT NULL DEFAULT '';
-- When the person was first told that the task waits for a phone.
ALTER TABLE tasks ADD COLUMN waiting REAL;
CREATE INDEX tasks_created ON tasks (created);

CREATE TABLE schedules (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    person_name TEXT NOT NULL,
    person_language TEXT NOT NULL,
    origin TEXT NOT NULL,
    private INTEGER NOT NULL,
    -- The command that made it: the same one makes no second.
    event TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('at', 'every', 'cron')),
    rule TEXT NOT NULL,
    zone TEXT NOT NULL,
    -- As it was written.
    words TEXT NOT NULL,
    -- The options of `do`, as JSON text, and the task.
    options TEXT NOT NULL,
    text TEXT NOT NULL,
    created REAL NOT NULL,
    due REAL NOT NULL,
    paused INTEGER NOT NULL DEFAULT 0,
    -- The run that was begun last, and how many were left out since because it still worked.
    task INTEGER REFERENCES tasks (id),
    skipped INTEGER NOT NULL DEFAULT 0,
    UNIQUE (origin, event)
) STRICT;
CREATE INDEX schedules_due ON schedules (due) WHERE paused = 0;
