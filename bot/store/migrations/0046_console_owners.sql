-- Whose page shows a message; '' is the operator's.
ALTER TABLE console_messages ADD COLUMN owner TEXT NOT NULL DEFAULT '';
DROP INDEX console_messages_thread;
CREATE INDEX console_messages_thread ON console_messages (owner, thread, id);
CREATE INDEX console_messages_owner ON console_messages (owner, revision);
