-- Who is signed in to the console. `digest` is made with the session's id as key; the id itself is in the browser alone.

CREATE TABLE console_sessions (
    digest TEXT PRIMARY KEY,
    -- How it was opened: 'token' or 'password'.
    way TEXT NOT NULL,
    -- From which network address.
    address TEXT NOT NULL,
    begun REAL NOT NULL,
    used REAL NOT NULL
) STRICT, WITHOUT ROWID;
