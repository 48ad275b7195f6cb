-- How much of an ended task was removed because of its age: 0 nothing, 1 its checkpoints, 2 its steps and messages too.
ALTER TABLE tasks ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0;
CREATE INDEX tasks_prunable ON tasks (ended) WHERE state = 'ended' AND pruned < 2;
CREATE INDEX outbox_task ON outbox (task);
