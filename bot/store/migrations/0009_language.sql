-- In which language the task's messages are written; '' is English.
ALTER TABLE tasks ADD COLUMN person_language TEXT NOT NULL DEFAULT '';
