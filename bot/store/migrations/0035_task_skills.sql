-- The skill that a task follows, and what it is done with, as a JSON object of texts by the names of its parameters.
ALTER TABLE tasks ADD COLUMN skill TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN arguments TEXT NOT NULL DEFAULT '{}';
