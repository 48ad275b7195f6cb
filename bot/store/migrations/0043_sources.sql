-- The pages that were read for a task, as a list of their titles and addresses.
ALTER TABLE tasks ADD COLUMN sources TEXT NOT NULL DEFAULT '[]';
