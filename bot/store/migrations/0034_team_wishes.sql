-- Who of the team is to do a task alone, and how it is to be planned.
ALTER TABLE tasks ADD COLUMN member TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN deep INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN search INTEGER NOT NULL DEFAULT 0;
