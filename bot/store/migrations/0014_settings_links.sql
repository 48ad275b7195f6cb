-- Settings that admins have changed while the service ran, which win over the environment, and accounts of one person.

CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    -- As it was typed.
    value TEXT NOT NULL,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    person_name TEXT NOT NULL,
    at REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- Accounts on several platforms that belong to one person: the same number is the same person.
CREATE TABLE links (
    platform TEXT NOT NULL,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    person INTEGER NOT NULL,
    PRIMARY KEY (platform, account),
    UNIQUE (person, platform)
) STRICT, WITHOUT ROWID;
