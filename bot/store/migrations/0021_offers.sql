-- Texts in private chats that are a task only once their writer has pressed for it, with the files that came along.
CREATE TABLE offers (
    id TEXT PRIMARY KEY,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    person_name TEXT NOT NULL,
    person_language TEXT NOT NULL,
    place TEXT NOT NULL,
    private INTEGER NOT NULL,
    event TEXT NOT NULL,
    -- The id of the message there; '' when it is not known.
    message TEXT NOT NULL,
    text TEXT NOT NULL,
    files TEXT NOT NULL,
    made REAL NOT NULL
) STRICT;

-- When a question was closed; NULL while it is open, and for those that closed before this was kept.
ALTER TABLE questions ADD COLUMN closed REAL;
-- Why one was closed that nobody answered: 'expired', 'cancelled', 'ended', 'went_on' or 'given_up'; '' else.
ALTER TABLE questions ADD COLUMN closing TEXT NOT NULL DEFAULT '';
