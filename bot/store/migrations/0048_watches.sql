-- What a schedule watches, and what it remembers of its readings, as JSON; '' for a schedule that watches nothing.
ALTER TABLE schedules ADD COLUMN watch TEXT NOT NULL DEFAULT '';
ALTER TABLE schedules ADD COLUMN readings TEXT NOT NULL DEFAULT '';
-- The reading that a task is, and what came of it, as JSON; '' for a task that is none.
ALTER TABLE tasks ADD COLUMN watch TEXT NOT NULL DEFAULT '';
