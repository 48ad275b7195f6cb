-- Tasks on several phones: what one phone does is a task of its own, a part of the one that was asked for.

ALTER TABLE tasks ADD COLUMN parent INTEGER REFERENCES tasks (id);
CREATE INDEX tasks_parent ON tasks (parent) WHERE parent IS NOT NULL;
-- How many parts it has; 0 for a task that works on a phone itself.
ALTER TABLE tasks ADD COLUMN parts INTEGER NOT NULL DEFAULT 0;
-- What its phone is called; '' before it has one.
ALTER TABLE tasks ADD COLUMN phone_name TEXT NOT NULL DEFAULT '';

-- Which phones its person might use when it was asked, and how, as JSON text: it is looked at again before a phone is
-- given. '' for what is not looked at.
ALTER TABLE tasks ADD COLUMN entitled TEXT NOT NULL DEFAULT '';

-- The todo list as last planned, as JSON text.
ALTER TABLE tasks ADD COLUMN todos TEXT NOT NULL DEFAULT '[]';
-- How many of its steps were shown as messages.
ALTER TABLE tasks ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
UPDATE tasks SET told = (SELECT COUNT(*) FROM steps WHERE steps.task = tasks.id);
