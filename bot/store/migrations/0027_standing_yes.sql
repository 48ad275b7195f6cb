-- What a person has allowed ahead, as JSON (agent.standing_yes.StandingYes); '' for nothing.
ALTER TABLE schedules ADD COLUMN standing TEXT NOT NULL DEFAULT '';
-- What the task has of it from its schedule: a list of the same, '' for none.
ALTER TABLE tasks ADD COLUMN standing TEXT NOT NULL DEFAULT '';
