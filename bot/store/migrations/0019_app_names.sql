-- What people call the app of a step, as the phone told it then; '' for steps of before.
ALTER TABLE steps ADD COLUMN app_name TEXT NOT NULL DEFAULT '';
