-- Settings that admins have changed while the service ran; they win over the environment.

CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    -- As it was typed.
    value TEXT NOT NULL,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    person_name TEXT NOT NULL,
    at REAL NOT NULL
) STRICT, WITHOUT ROWID;
