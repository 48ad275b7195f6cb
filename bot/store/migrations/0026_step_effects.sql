-- What came of a step, as facts in JSON; '' for steps of before, whose column `effect` holds a sentence.
ALTER TABLE steps ADD COLUMN effects TEXT NOT NULL DEFAULT '';
