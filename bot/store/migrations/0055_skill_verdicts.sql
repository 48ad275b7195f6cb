-- What the gate's reader said of the presses that a skill was recorded with, as JSON. It stands here and not in the
-- skill's folder: a folder from elsewhere could say that its presses are harmless.
ALTER TABLE saved_skills ADD COLUMN verdicts TEXT NOT NULL DEFAULT '[]';
