-- How the tasks of a conversation are to be thought about; '' for what is set. A task keeps what held when it was given.
ALTER TABLE conversations ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE conversations ADD COLUMN system_prompt TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN guide TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN instructions TEXT NOT NULL DEFAULT '';
