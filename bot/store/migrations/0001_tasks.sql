-- Times are Unix seconds. Addresses, messages, usage and actions are JSON text; booleans are 0 and 1.

CREATE TABLE tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    text TEXT NOT NULL,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    person_name TEXT NOT NULL,
    origin TEXT NOT NULL,
    anchor TEXT NOT NULL,
    place TEXT,
    state TEXT NOT NULL CHECK (state IN ('queued', 'working', 'waiting', 'paused', 'interrupted', 'ended')),
    outcome TEXT,
    summary TEXT NOT NULL DEFAULT '',
    data TEXT,
    phone TEXT NOT NULL,
    quick INTEGER NOT NULL,
    steps INTEGER NOT NULL DEFAULT 0,
    max_steps INTEGER NOT NULL,
    usage TEXT NOT NULL,
    created REAL NOT NULL,
    changed REAL NOT NULL,
    started REAL,
    ended REAL,
    frame TEXT,
    CHECK ((state = 'ended') = (outcome IS NOT NULL)),
    CHECK ((state = 'ended') = (ended IS NOT NULL))
) STRICT;
CREATE INDEX tasks_live ON tasks (state) WHERE state <> 'ended';
CREATE INDEX tasks_place ON tasks (place);
CREATE INDEX tasks_person ON tasks (person_platform, person_id);

CREATE TABLE events (
    source TEXT NOT NULL,
    event TEXT NOT NULL,
    task INTEGER NOT NULL REFERENCES tasks (id),
    seen REAL NOT NULL,
    PRIMARY KEY (source, event)
) STRICT, WITHOUT ROWID;

CREATE TABLE steps (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    task INTEGER NOT NULL REFERENCES tasks (id),
    run TEXT NOT NULL,
    subtask INTEGER NOT NULL,
    step INTEGER NOT NULL,
    max_steps INTEGER NOT NULL,
    summary TEXT NOT NULL,
    thought TEXT NOT NULL,
    action TEXT NOT NULL,
    effect TEXT NOT NULL,
    app TEXT NOT NULL,
    frame TEXT,
    mark_x INTEGER,
    mark_y INTEGER,
    usage TEXT NOT NULL,
    seconds REAL NOT NULL,
    at REAL NOT NULL,
    UNIQUE (task, run, subtask, step)
) STRICT;

CREATE TABLE leases (
    phone TEXT NOT NULL,
    fence INTEGER NOT NULL,
    run TEXT NOT NULL,
    taken REAL NOT NULL,
    expires REAL NOT NULL,
    released REAL,
    PRIMARY KEY (phone, fence)
) STRICT, WITHOUT ROWID;
-- Two runs can never hold one phone, whatever the program does.
CREATE UNIQUE INDEX leases_one_run_per_phone ON leases (phone) WHERE released IS NULL;
CREATE UNIQUE INDEX leases_one_phone_per_run ON leases (run) WHERE released IS NULL;

CREATE TABLE tickets (
    run TEXT PRIMARY KEY,
    rank INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE actions (
    run TEXT NOT NULL,
    subtask INTEGER NOT NULL,
    step INTEGER NOT NULL,
    part INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    action TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('begun', 'done', 'rejected', 'uncertain')),
    effect TEXT NOT NULL DEFAULT '',
    begun REAL NOT NULL,
    finished REAL,
    PRIMARY KEY (run, subtask, step, part)
) STRICT, WITHOUT ROWID;

CREATE TABLE questions (
    id TEXT PRIMARY KEY,
    task INTEGER NOT NULL REFERENCES tasks (id),
    question TEXT NOT NULL,
    asked REAL NOT NULL,
    expires REAL NOT NULL,
    message TEXT,
    answer TEXT,
    answered_by TEXT NOT NULL DEFAULT '',
    expired INTEGER NOT NULL DEFAULT 0,
    CHECK (expired = 0 OR answer IS NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX questions_task ON questions (task);
CREATE INDEX questions_message ON questions (message);
CREATE INDEX questions_open ON questions (expires) WHERE answer IS NULL AND expired = 0;

CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task INTEGER NOT NULL REFERENCES tasks (id),
    kind TEXT NOT NULL CHECK (kind IN ('final', 'question', 'notice', 'file')),
    subject TEXT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sending', 'sent', 'dead')),
    uncertain INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    not_before REAL NOT NULL DEFAULT 0,
    created REAL NOT NULL,
    message TEXT,
    why TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX outbox_one_final_per_task ON outbox (task) WHERE kind = 'final';
CREATE UNIQUE INDEX outbox_one_message_per_question ON outbox (subject) WHERE kind = 'question';
CREATE INDEX outbox_open ON outbox (task, id) WHERE state IN ('pending', 'sending');

CREATE TABLE cards (
    task INTEGER PRIMARY KEY REFERENCES tasks (id),
    message TEXT NOT NULL,
    made REAL NOT NULL
) STRICT;

-- Counts only: nothing is kept about strangers.
CREATE TABLE refusals (
    platform TEXT NOT NULL,
    kind TEXT NOT NULL,
    day TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (platform, kind, day)
) STRICT, WITHOUT ROWID;
