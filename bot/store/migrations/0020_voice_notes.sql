-- Voice notes that an endpoint has written down, for what they cost. What was said is not kept.
CREATE TABLE voice_notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    person_name TEXT NOT NULL,
    model TEXT NOT NULL,
    seconds REAL NOT NULL,
    -- In the currency of the prices; NULL where there was none.
    cost REAL,
    created REAL NOT NULL
) STRICT;
CREATE INDEX voice_notes_created ON voice_notes (created);
