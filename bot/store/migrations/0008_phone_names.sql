-- What people call the phones. Names differ, in whatever case they are written.

CREATE TABLE phone_names (
    phone TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    changed REAL NOT NULL
) STRICT;
