-- Rights that admins have given, and what people did with theirs.

CREATE TABLE grants (
    platform TEXT NOT NULL,
    -- The server whose role it is; '' for a person.
    guild TEXT NOT NULL,
    subject TEXT NOT NULL,
    -- '' for every phone.
    phone TEXT NOT NULL,
    may TEXT NOT NULL CHECK (may IN ('use', 'approve', 'admin')),
    PRIMARY KEY (platform, guild, subject, phone)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    person_name TEXT NOT NULL,
    task INTEGER REFERENCES tasks (id),
    detail TEXT NOT NULL
) STRICT;
