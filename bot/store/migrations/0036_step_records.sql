-- What a step touched, and on what screen, as JSON: what a skill can be made of. '' for steps of before.
ALTER TABLE steps ADD COLUMN record TEXT NOT NULL DEFAULT '';
