-- What phones are called that nobody gave a name: their model, and a number behind it when another phone has that.
-- Kept, so that a name means the same phone after a restart, whichever is attached first.

CREATE TABLE usual_phone_names (
    phone TEXT PRIMARY KEY,
    name TEXT NOT NULL
) STRICT, WITHOUT ROWID;
