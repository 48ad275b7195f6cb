-- What the web console has shown. A deleted message stays as an empty row, so that a page that was away hears of it.

CREATE TABLE console_messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    revision INTEGER NOT NULL UNIQUE,
    thread TEXT NOT NULL,
    author TEXT NOT NULL CHECK (author IN ('bot', 'operator')),
    content TEXT NOT NULL,
    nonce TEXT NOT NULL UNIQUE,
    sent REAL NOT NULL,
    edited REAL,
    deleted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX console_messages_thread ON console_messages (thread, id);
