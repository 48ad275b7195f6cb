-- Who has saved a recorded skill, and of which task.
CREATE TABLE saved_skills (
    name TEXT PRIMARY KEY,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    task INTEGER NOT NULL,
    saved REAL NOT NULL
) STRICT;
-- What would be saved, as it was shown to the person who is to confirm it.
CREATE TABLE skill_drafts (
    id TEXT PRIMARY KEY,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    name TEXT NOT NULL,
    task INTEGER NOT NULL,
    skill TEXT NOT NULL,
    made REAL NOT NULL
) STRICT;
CREATE INDEX tasks_of_skills ON tasks (skill) WHERE skill <> '';
