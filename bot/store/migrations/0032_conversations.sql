-- Conversations of programs: places where tasks are given, with what was said there and what happened.

CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    -- Whose it is, as platform:id.
    owner TEXT NOT NULL,
    title TEXT NOT NULL,
    made REAL NOT NULL
) STRICT;
CREATE INDEX conversations_of ON conversations (owner, made);

CREATE TABLE conversation_messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    text TEXT NOT NULL,
    -- The task that it is about, and the question that it asks; NULL and '' for none.
    task INTEGER,
    question TEXT NOT NULL,
    -- The same one is kept once.
    key TEXT NOT NULL,
    sent REAL NOT NULL,
    UNIQUE (conversation, key)
) STRICT;

CREATE TABLE conversation_events (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- Counted up from 1 without a gap.
    number INTEGER NOT NULL,
    -- The same one happens once.
    key TEXT NOT NULL,
    event TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (conversation, number),
    UNIQUE (conversation, key)
) STRICT, WITHOUT ROWID;

-- Requests that carried an Idempotency-Key, by whose token: what was answered is answered again.
CREATE TABLE api_requests (
    person TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    -- 0 while it is worked on.
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (person, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX api_requests_by_age ON api_requests (at);
