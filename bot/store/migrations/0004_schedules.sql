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
    origin TEXT NOT NULL,
    private INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('at', 'every', 'cron')),
    rule TEXT NOT NULL,
    zone TEXT NOT NULL,
    -- The call of `do`, as JSON text: its options, and the task in words.
    options TEXT NOT NULL,
    text TEXT NOT NULL,
    created REAL NOT NULL,
    -- The next time; none when the last one is over.
    due REAL,
    paused INTEGER NOT NULL DEFAULT 0,
    -- The run that was begun last, and how many were left out since because it still worked.
    task INTEGER REFERENCES tasks (id),
    skipped INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX schedules_due ON schedules (due) WHERE due IS NOT NULL AND paused = 0;
