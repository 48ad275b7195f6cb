-- What came with a task, in order: a JSON list of names and references to stored bytes.

ALTER TABLE tasks ADD COLUMN files TEXT NOT NULL DEFAULT '[]';
