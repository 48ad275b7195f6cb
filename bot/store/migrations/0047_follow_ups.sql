-- The task that this one follows up, whose result it begins with; NULL for none. That one may be forgotten before.
ALTER TABLE tasks ADD COLUMN follows INTEGER;
